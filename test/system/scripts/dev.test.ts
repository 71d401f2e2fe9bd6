import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { holdProcess } from '../../fixtures/leash.ts'
import { inParallel } from '../../fixtures/parallel.ts'
import { testToken } from '../../fixtures/secrets.ts'

const test = inParallel(t, 2)

/**
 * Runs `npm run dev` in a copy of the project, with these texts as overlays; `printed` waits until the output after its last
 * match matches.
 */
async function develop (t: Test, ...overlays: string[]) {
  const folder = t.testdir()
  const copied = ['src', 'generated', 'tsconfig.json', 'package.json', 'openapi.yaml']
  for (const name of copied) cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const args = [resolve('scripts/dev.ts')]
  for (const [index, text] of overlays.entries()) {
    writeFileSync(join(folder, `${index}.yaml`), text)
    args.push('--overlay', `${index}.yaml`)
  }

  const config = { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: testToken, LOG_LEVEL: 'info' }
  const env = { ...process.env, ...config }
  const dev = holdProcess(spawn(process.execPath, args, {
    cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe']
  }))
  t.teardown(() => dev.kill('SIGKILL'))

  let unread = ''
  for (const stream of [dev.stdout, dev.stderr]) stream.setEncoding('utf8').on('data', text => { unread += text })
  const printed = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (const until = Date.now() + 200_000; Date.now() < until; await sleep(20)) {
      const found = pattern.exec(unread)
      if (found === null) continue
      unread = unread.slice(found.index + found[0].length)
      return found
    }
    throw new Error(`no output matches ${pattern}: ${unread}`)
  }
  const change = (name: string, from: string, to: string) => {
    const path = join(folder, name)
    const text = readFileSync(path, 'utf8')
    t.ok(text.includes(from), `${name} has ${from}`)
    writeFileSync(path, text.replace(from, to))
  }
  return { folder, dev, printed, change }
}

const listening = /listening at (http:[^"]+)/
const status = async (origin = '') => (await fetch(`${origin}/livez`).catch(() => ({ status: 0 }))).status

test('dev serves each change, and keeps the last service while there is an error', async t => {
  const { folder, dev, printed, change } = await develop(t)
  // A type error in a test must not matter.
  mkdirSync(join(folder, 'test'))
  writeFileSync(join(folder, 'test/wrong.test.ts'), "export const wrong: number = 'text'\n")
  const [, first] = await printed(listening)
  change('openapi.yaml', 'operationId: createPlant', 'operationId: [createPlant')
  await printed(/^openapi\.yaml:\d+:\d+ .*\nThe last working service keeps running\./m)
  t.equal(await status(first), 200)
  change('openapi.yaml', 'operationId: [createPlant', 'operationId: addPlant')
  const [report] = await printed(/[^]*src\/service\/app\.ts\(\d+,\d+\): error TS\d+: .*'createPlant'[^]*The last working service keeps running/)
  t.notMatch(report, /src\/stores/, 'a plant is known without the operation')
  t.equal(await status(first), 200)
  change('openapi.yaml', 'operationId: addPlant', 'operationId: createPlant')
  const [, second] = await printed(listening)
  t.equal(await status(second), 200)
  t.equal(await status(first), 0, 'the old service has ended')
  change('src/service/health.ts', "status: 'alive'", "status: 'well'")
  const [, third] = await printed(listening)
  t.strictSame(await (await fetch(`${third}/livez`)).json(), { status: 'well' })
  dev.kill('SIGTERM')
  t.strictSame(await once(dev, 'exit'), [0, null])
  t.equal(await status(third), 0, 'the service ends with dev')
})

test('dev waits for a change while a contract or overlay has an error and no service runs', async t => {
  const { dev, printed, change } = await develop(t, `overlay: 1.0.0
info: { title: A, version: 1.0.0 }
actions: [{ target: $, update: { openapi: 4.0.0 } }]
`)
  await printed(/Not supported: an OpenAPI version other than 3\.0\.x, 3\.1\.x and 3\.2\.x \(4\.0\.0\)[^]*Waiting for a change\./)
  change('0.yaml', '4.0.0', '4.1.0')
  await printed(/\(4\.1\.0\)[^]*Waiting for a change\./)
  const end = "console.log('THREADS', process.env.THREADS)\nprocess.exit(3)\n"
  change('src/main.ts', 'if (args.length > 0)', `if (args.length === 0) {\n${end}}\nif (args.length > 0)`)
  await printed(/Waiting for a change\./)
  change('0.yaml', '4.1.0', '3.1.0')
  await printed(/THREADS 1\n[^]*Waiting for a change\./)
  change('0.yaml', '3.1.0', '4.2.0')
  await printed(/\(4\.2\.0\)[^]*Waiting for a change\./)
  dev.kill('SIGINT')
  t.strictSame(await once(dev, 'exit'), [0, null])
})
