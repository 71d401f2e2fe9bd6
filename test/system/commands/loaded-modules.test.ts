// What a start loads: the time of a start is that of its modules, and each thread has a copy.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService } from '../../fixtures/service.ts'

/** Prints the packages that a thread has loaded, and whether Node has loaded its own fetch. */
const hook = `
import { writeSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { isMainThread } from 'node:worker_threads'
const packages = new Set()
registerHooks({
  load (url, context, next) {
    const [, name] = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
    if (name) packages.add(name)
    return next(url, context)
  }
})
process.on('exit', () => {
  const hasFetch = process.moduleLoadList.some(name => name.includes('undici'))
  writeSync(2, JSON.stringify({ isMainThread, hasFetch, packages: [...packages] }) + '\\n')
})`

interface Loaded { isMainThread: boolean, hasFetch: boolean, packages: string[] }

/** Starts and ends the service, with requests in between, and returns what its threads loaded. */
async function loadedBy (t: Test, THREADS: string, paths: string[] = []): Promise<Loaded[]> {
  const folder = t.testdir({ 'hook.mjs': hook })
  const settings = { ACCESS_TOKENS: testToken, THREADS }
  const args = ['--import', join(folder, 'hook.mjs')]
  const service = await startService(t, folder, settings, args)
  const { origin, child, ended, output, waitForOutput } = service
  if (THREADS !== '1') await waitForOutput(/threads listen/)
  t.equal((await postPlant(origin, testToken, '{"id":1,"name":"x"}')).status, 200)
  t.equal((await postPlant(origin, testToken, '{"id":1}')).status, 400)
  for (const path of paths) t.equal((await fetch(origin + path)).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  return [...output().matchAll(/^\{"isMainThread".*$/gm)].map(([line]) => JSON.parse(line))
}

t.test('no thread loads a part that it may never need', async t => {
  for (const threads of ['1', '2']) {
    const loaded = await loadedBy(t, threads)
    t.ok(loaded.some(({ packages }) => packages.includes('fastify')))
    for (const { hasFetch, packages } of loaded) {
      t.notOk(hasFetch)
      for (const name of ['@fastify/swagger', '@fastify/swagger-ui', 'yaml', 'jose', 'pg', 'prom-client', 'pino-pretty']) {
        t.notOk(packages.includes(name), name)
      }
    }
  }
})

t.test('beside other threads the main thread loads no part of HTTP', async t => {
  const [main] = (await loadedBy(t, '2')).filter(({ isMainThread }) => isMainThread)
  t.ok(main?.packages.includes('pino'))
  for (const name of ['fastify', 'ajv', '@fastify/busboy']) t.notOk(main?.packages.includes(name), name)
})

t.test('the first request for the page loads it', async t => {
  const [main] = (await loadedBy(t, '1', ['/docs'])).filter(({ isMainThread }) => isMainThread)
  t.ok(main?.packages.includes('@fastify/swagger-ui'))
})
