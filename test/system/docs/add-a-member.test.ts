// docs/build/add-a-member.md against the compiler: a copy of the project gets a member that no code
// knows.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { compile } from '../../fixtures/compiler.ts'
import { tableRows } from '../../fixtures/contract.ts'

t.setTimeout(120_000)
t.test('the compiler reports an optional member in each file that the guide lists, and no other', async t => {
  const folder = t.testdir()
  for (const part of ['src', 'generated', 'package.json']) {
    cpSync(part, join(folder, part), { recursive: true })
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const config = { extends: resolve('tsconfig.json'), include: ['src'], exclude: ['src/contract'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))

  const types = join(folder, 'generated/types.ts')
  const parts = readFileSync(types, 'utf8').split(/(?<=^ +Plant: \{\n)/m)
  t.equal(parts.length, 2, 'the types have one Plant')
  writeFileSync(types, parts.join('unknownMember?: number;\n'))

  const errors = await compile(folder)
  const files = new Set(errors.map(error => error.split('(', 1)[0]))
  const rows = tableRows('docs/build/add-a-member.md', 'What the compiler reports')
  const listed = rows.map(([file]) => file?.replaceAll('`', ''))
  t.strictSame([...files].sort(), listed.sort(), { errors })
  t.strictSame(errors.filter(error => !error.includes('unknownMember')), [], 'each names the member')
})
