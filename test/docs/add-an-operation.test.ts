// docs/add-an-operation.md, followed step by step on a copy of the project.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { applyPatch, parsePatch } from 'diff'
import t from 'tap'

const guide = readFileSync('docs/add-an-operation.md', 'utf8')
const compiler = resolve('node_modules/typescript/bin/tsc')

/** The code blocks of the guide in a language, in order. */
function blocks (language: string): string[] {
  return Array.from(guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')), ([, text]) => text as string)
}

/** A copy of the project outside of it. */
function copyProject (): { folder: string, run: (...args: string[]) => Promise<string>, path: (file: string) => string } {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-guide-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const name of ['src', 'scripts', 'test', 'generated', 'openapi.yaml', 'tsconfig.json', 'package.json']) {
    cpSync(name, join(folder, name), { recursive: true })
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  // Without the variables by which tap watches its tests.
  const env = { PATH: process.env.PATH }
  return {
    folder,
    path: file => join(folder, file),
    run: (...args) => promisify(execFile)(process.execPath, args, { cwd: folder, env })
      .then(({ stdout }) => stdout, ({ stdout, stderr }) => String(stdout || stderr))
  }
}

t.test('the guide adds an operation that compiles and passes its test', async t => {
  const { path, run } = copyProject()
  const patches = blocks('diff').flatMap(text => parsePatch(text))
  t.strictSame(patches.map(({ oldFileName }) => oldFileName), ['a/openapi.yaml', 'a/src/app.ts', 'a/test/app.test.ts'])
  const apply = ({ newFileName = '' }: typeof patches[number]): void => {
    const file = path(newFileName.replace(/^b\//, ''))
    const patched = applyPatch(readFileSync(file, 'utf8'), patches.find(patch => patch.newFileName === newFileName) as typeof patches[number])
    t.type(patched, 'string', `the diff of ${newFileName} applies`)
    writeFileSync(file, String(patched))
  }
  const [contract, ...others] = patches as [typeof patches[number]]
  apply(contract)
  t.match(await run('scripts/generate.ts'), /wrote generated\/operations\.ts/)
  const [promised = ''] = /^src\/app\.ts: .*$/m.exec(guide) ?? []
  const reported = await run(compiler, '--pretty', 'false')
  t.equal(reported.trim().replace(/\(\d+,\d+\): error TS\d+/, ''), promised, 'the compiler reports what the guide quotes')

  const [handler = '', test = ''] = blocks('ts')
  writeFileSync(path('src/plants/get-plant.ts'), handler)
  writeFileSync(path('test/plants/get-plant.test.ts'), test)
  others.forEach(apply)
  t.equal(await run(compiler, '--pretty', 'false'), '', 'everything compiles')
  t.match(await run('test/plants/get-plant.test.ts'), /# \{ total: \d+, pass: \d+ \}|# pass \d+|^1\.\.2$/m)
  t.notMatch(await run('test/plants/get-plant.test.ts'), /^not ok/m)
  t.notMatch(await run('test/app.test.ts'), /^not ok/m)
})
