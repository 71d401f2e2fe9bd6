// docs/build/serve-another-contract.md, followed step by step on a copy of the project.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { compile } from '../../fixtures/compiler.ts'
import { holdProcess } from '../../fixtures/leash.ts'

const exec = promisify(execFile)
// Without the variables by which tap observes its tests.
const env = { PATH: process.env.PATH, SHOP_KEY: 'secret', PORT: '0' }
const run = (cwd: string, ...args: string[]) => exec(process.execPath, args, { cwd, env })
const guide = readFileSync('docs/build/serve-another-contract.md', 'utf8')

function blocks (language: string): string[] {
  return Array.from(guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')), ([, text]) => text as string)
}

/** Starts the guide's service; returns a function that reads an order. */
async function serve (t: Test, cwd: string) {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const service = holdProcess(spawn(process.execPath, ['src/shop/main.ts'], { cwd, env, stdio: [...stdio] }))
  t.teardown(() => service.kill('SIGKILL'))
  const [line] = await once(service.stdout.setEncoding('utf8'), 'data')
  return async (id: string, key: string) => {
    const response = await fetch(`${line.trim()}/orders/${id}`, { headers: { 'x-key': key } })
    return [response.status, await response.text()]
  }
}

t.test('the guide serves a contract of its own, first with examples and then with a handler', async t => {
  const folder = t.testdir()
  for (const part of ['src', 'scripts', 'package.json']) cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const config = { extends: resolve('tsconfig.json'), include: ['src/shop'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  mkdirSync(join(folder, 'src/shop'))
  const write = (name: string, text = '') => writeFileSync(join(folder, 'src/shop', name), text)
  const [main = '', handler] = blocks('ts')
  const [order = ''] = blocks('json')
  write('openapi.yaml', blocks('yaml')[0])
  const [command = ''] = blocks('sh')
  const [, options = ''] = /generate -- (.*)/.exec(command) ?? []
  await run(folder, 'scripts/generate.ts', ...options.trim().split(' '))
  write('main.ts', main)

  const read = await serve(t, folder)
  t.strictSame(await read('9007199254740993', 'secret'), [200, order.trim()])
  t.match(await read('1', 'wrong'), [401, /^{"status":401,"title":/])
  t.match(await read('one', 'secret'), [400, /^{"status":400,"title":/])

  write('read-order.ts', handler)
  const written = "import { readOrder } from './read-order.ts'\n" +
    main.replace('stubs(contract, document)', '{ ...stubs(contract, document), readOrder }')
  write('main.ts', written)
  t.strictSame(await compile(folder), [])
  const readWritten = await serve(t, folder)
  t.strictSame(await readWritten('9007199254740993', 'secret'), [200, '{"id":9007199254740993,"items":["fern"]}'])
  t.strictSame(await readWritten('-1', 'secret'), [404, '{"status":404,"title":"There is no order -1."}'])
})
