import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'

/** A copy of the project, and `npm run dev` in it; `says` waits for its next words of a kind. */
async function develop (t: Test, contract: (text: string) => string = text => text) {
  const folder = t.testdir()
  for (const name of ['src', 'generated', 'tsconfig.json', 'package.json', 'openapi.yaml']) cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'openapi.yaml'), contract(readFileSync('openapi.yaml', 'utf8')))
  const env = { ...process.env, PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: 'a-good-token', LOG_LEVEL: 'info' }
  const dev = spawn(process.execPath, [resolve('scripts/dev.ts')], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => dev.kill('SIGKILL'))
  let unread = ''
  for (const stream of [dev.stdout, dev.stderr]) stream.setEncoding('utf8').on('data', text => { unread += text })
  const says = async (words: RegExp): Promise<RegExpExecArray> => {
    for (const until = Date.now() + 30_000; Date.now() < until; await new Promise(resolve => setTimeout(resolve, 20))) {
      const found = words.exec(unread)
      if (found === null) continue
      unread = unread.slice(found.index + found[0].length)
      return found
    }
    throw new Error(`${words} was not said, but ${unread}`)
  }
  const change = (name: string, from: string, to: string) => {
    const path = join(folder, name)
    const text = readFileSync(path, 'utf8')
    t.ok(text.includes(from), `${name} has ${from}`)
    writeFileSync(path, text.replace(from, to))
  }
  return { folder, dev, says, change }
}

const listening = /listening at (http:[^"]+)/
const status = async (origin = '') => (await fetch(`${origin}/livez`).catch(() => ({ status: 0 }))).status

t.test('a change is generated, type-checked and served; what is broken is told, and the last good service runs on', async t => {
  const { dev, says, change } = await develop(t)
  const [, first] = await says(listening)
  change('openapi.yaml', 'operationId: createPlant', 'operationId: [createPlant')
  await says(/^openapi\.yaml:\d+:\d+ .*\nThe service runs on as it was before the change\./m)
  t.equal(await status(first), 200)
  change('openapi.yaml', 'operationId: [createPlant', 'operationId: addPlant')
  await says(/src\/app\.ts\(\d+,\d+\): error TS\d+: .*'createPlant'[^]*The service runs on as it was/)
  t.equal(await status(first), 200)
  change('openapi.yaml', 'operationId: addPlant', 'operationId: createPlant')
  const [, second] = await says(listening)
  t.equal(await status(second), 200)
  t.equal(await status(first), 0, 'the old service is gone')
  change('src/health.ts', "status: 'alive'", "status: 'well'")
  const [, third] = await says(listening)
  t.strictSame(await (await fetch(`${third}/livez`)).json(), { status: 'well' })
  dev.kill('SIGTERM')
  t.strictSame(await once(dev, 'exit'), [0, null])
  t.equal(await status(third), 0, 'nothing is left behind')
})

t.test('without a service that was good, a change is waited for', async t => {
  const { dev, says } = await develop(t, text => text.replace('openapi: 3.1.0', 'openapi: 3.0.0'))
  await says(/Not supported: an OpenAPI version other than 3\.1 \(3\.0\.0\)[^]*Waiting for a change\./)
  dev.kill('SIGINT')
  t.strictSame(await once(dev, 'exit'), [0, null])
})

t.test('a type error in a test does not hold the service up', async t => {
  const { folder, dev, says, change } = await develop(t)
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'test/wrong.test.ts'), "export const wrong: number = 'text'\n")
  await says(listening)
  change('src/health.ts', "status: 'alive'", "status: 'well'")
  const [, origin] = await says(listening)
  t.strictSame(await (await fetch(`${origin}/livez`)).json(), { status: 'well' })
  dev.kill('SIGTERM')
  t.strictSame(await once(dev, 'exit'), [0, null])
})
