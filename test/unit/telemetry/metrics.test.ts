import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { HttpError } from '../../../src/contract/index.ts'
import { metricsMemory, Recorder } from '../../../src/telemetry/metrics-recorder.ts'
import { exposeMetrics } from '../../../src/telemetry/metrics-text.ts'
import { StoreUnavailable } from '../../../src/plants/plant-store.ts'
import { groupCommit } from '../../../src/stores/group-commit.ts'
import { memoryEngine } from '../../../src/stores/memory.ts'
import { authorization, isError, json, listen, startApp } from '../../fixtures/app.ts'
import { replaceExports } from '../../fixtures/builtins.ts'
import { duration, samples } from '../../fixtures/exposition.ts'
import { exchange, exchangeOne, requestText } from '../../fixtures/raw.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant } from '../../fixtures/service.ts'

async function scrape (address: string): Promise<string> {
  const response = await fetch(address, { headers: { authorization } })
  if (response.status !== 200) throw new Error(`${address} answered ${response.status}`)
  return response.text()
}

t.test('/metrics counts every door, and no label has text of a client', async t => {
  const { app } = await startApp(t, { baseUrl: '/api/v1' })
  const { origin, port } = await listen(app)
  const send = (target: string, ...fields: string[]) => {
    return exchange(port, requestText(target, ['Host: x', 'Connection: close', ...fields, '', '']))
  }
  const post = (id: number) => fetch(`${origin}/api/v1/plants`, {
    method: 'POST',
    headers: { authorization, 'content-type': json },
    body: JSON.stringify({ id, name: 'fern' })
  })
  await post(1)
  await post(2)
  await fetch(
    `${origin}/api/v1/plants`, { method: 'POST', body: '{}', headers: { 'content-type': json } }
  )
  await send('GET /livez')
  await send('GET /docs/json')
  await send('GET /invented-1')
  await send('GET /invented-2')
  await send('PURGE /plants')
  await send('QUERY /plants')
  const text = await scrape(`${origin}/metrics`)
  t.match(samples(text), {
    [duration('POST', 200, '/api/v1/plants')]: 2,
    [duration('POST', 401, '/api/v1/plants')]: 1,
    [duration('GET', 200, '/livez')]: 1,
    [duration('GET', 200, '/docs')]: 1,
    [duration('GET', 404)]: 2,
    [duration('_OTHER', 404)]: 1,
    [duration('QUERY', 404)]: 1,
    plant_store_failed_authentications_total: 1,
    'plant_store_shed_requests_total{reason="queue"}': 0,
    plant_store_connections: Number,
    process_resident_memory_bytes: Number,
    process_open_fds: Number
  })
  t.notMatch(text, /invented|PURGE|test-/)
  const cpu = samples(text).process_cpu_seconds_total as number
  t.ok(cpu > 0.1 && cpu < 1000)
  const bucket = /^http_server_request_duration_seconds_bucket\{le="10",.*"POST",.*="200".*\} 2$/m
  t.match(text, bucket)
  t.match(text, new RegExp(bucket.source.replace('10', '\\+Inf'), 'm'))
})

t.test('own paths below an encoded BASE_URL have their routes as labels', async t => {
  const { app } = await startApp(t, { baseUrl: '/caf%C3%A9' })
  const { origin } = await listen(app)
  for (const path of ['/livez', '/docs/json']) await fetch(`${origin}/caf%C3%A9${path}`)
  const counts = samples(await scrape(`${origin}/metrics`))
  t.match(counts, { [duration('GET', 200, '/livez')]: 1, [duration('GET', 200, '/docs')]: 1 })
})

t.test('a request that is refused while its token is verified is counted once', async t => {
  const verified = Promise.withResolvers<undefined>()
  const verifyToken = (given: string) => {
    if (given === testToken) return { name: 'test' }
    return given === 'slow-1' ? verified.promise : new Promise<never>(() => {})
  }
  const { app } = await startApp(t, { verifyToken })
  const { origin, port } = await listen(app)
  for (const name of ['slow-1', 'slow-2']) {
    const fields = ['Host: x', `Authorization: Bearer ${name}`, 'Transfer-Encoding: chunked']
    const bytes = requestText('POST /plants', [...fields, `Content-Type: ${json}`, '', 'ZZ'])
    isError(t, await exchangeOne(port, `${bytes}\r\n`), 400, /./, name)
  }
  verified.resolve(undefined)
  const text = await scrape(`${origin}/metrics`)
  t.match(samples(text), { [duration('POST', 400, '/plants')]: 2 })
  t.notMatch(text, /"401"/)
})

t.test('a verifier that fails is no failed authentication', async t => {
  const verifyToken = (given: string) => {
    if (given === 'outage') throw new HttpError(503, 'The issuer does not respond.')
    if (given === 'bug') throw new Error('broken')
    return given === testToken ? { name: 'test' } : undefined
  }
  const { app, post } = await startApp(t, { verifyToken, failedAuthLimit: 1 })
  const { origin } = await listen(app)
  const statuses: number[] = []
  for (const token of ['outage', 'bug', 'Bearer', 'wrong', 'outage']) {
    const { statusCode } = await post({ id: 1, name: 'fern' }, { authorization: `Bearer ${token}` })
    statuses.push(statusCode)
  }
  t.strictSame(statuses, [503, 500, 401, 429, 503])
  const counts = samples(await scrape(`${origin}/metrics`))
  t.match(counts, { plant_store_failed_authentications_total: 2 })
})

t.test('refused connections are counted', async t => {
  const maxConnections = { limit: 2, reason: 'that is MAX_CONNECTIONS' }
  const { app } = await startApp(t, { maxConnections })
  const { origin, port } = await listen(app)
  const open = () => connect(port, '127.0.0.1').on('error', () => {})
  const first = open()
  t.teardown(() => first.destroy())
  await once(first, 'connect')
  const second = fetch(`${origin}/livez`).then(response => response.text())
  for (let count = 0; count < 3; count++) await once(open(), 'close')
  await second
  t.match(samples(await scrape(`${origin}/metrics`)), { plant_store_refused_connections_total: 3 })
})

t.test('/metrics needs an accepted token', async t => {
  const { app } = await startApp(t)
  isError(t, await app.inject('/metrics'), 401, /needs a bearer token/, 'without a token')
  const wrong = await app.inject({ url: '/metrics', headers: { authorization: 'Bearer x' } })
  isError(t, wrong, 401, /not accepted/, 'wrong')
  const { statusCode, headers } = await app.inject({ url: '/metrics', headers: { authorization } })
  t.equal(statusCode, 200)
  t.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  const { app: other } = await startApp(t, { metricsPort: 9464 })
  const elsewhere = await other.inject({ url: '/metrics', headers: { authorization } })
  isError(t, elsewhere, 404, /nothing/, 'METRICS_PORT is set')
})

t.test('scrapes count for the limit of their token', async t => {
  const { app } = await startApp(t, { rateLimit: 2 })
  const found = []
  for (let count = 0; count < 3; count++) {
    found.push((await app.inject({ url: '/metrics', headers: { authorization } })).statusCode)
  }
  t.strictSame(found, [200, 200, 429])
})

t.test('the metrics count the queue, the batches and the rejected plants of a store', async t => {
  const memory = metricsMemory(1)
  const engine = memoryEngine()
  const added = Promise.withResolvers<void>()
  const slow = {
    ...engine,
    addMany: async (...given: Parameters<typeof engine.addMany>) => {
      await added.promise
      return engine.addMany(...given)
    }
  }
  const store = groupCommit(slow, { maxQueue: 3, observer: new Recorder(memory, 0) })
  const add = (id: bigint) => store.add({ id, name: 'fern' })
  const first = add(1n)
  await sleep(100)
  const rest = [add(2n), add(3n), add(4n)]
  t.equal(memory.queued[0], 3)
  await t.rejects(add(5n), StoreUnavailable)
  added.resolve()
  await Promise.all([first, ...rest])
  t.equal(memory.counters[4], 0)
  t.equal(memory.queued[0], 0)
  t.equal(memory.counters[1], 1)
  t.strictSame(Array.from(memory.batches.rows), [1, 0, 1, ...Array(9).fill(0), 4])
  t.equal(memory.commits.rows.slice(0, -1).reduce((sum, count) => sum + count), 2)
  t.ok(memory.commits.rows.at(-1) as number >= 0.05, 'seconds')
  const failing = { ...engine, addMany: () => Promise.reject(new Error('no disk')) }
  const broken = groupCommit(failing, { maxQueue: 3, observer: new Recorder(memory, 0) })
  await t.rejects(broken.add({ id: 1n, name: 'fern' }), StoreUnavailable)
  t.equal(memory.counters[4], 1, 'a batch that failed')
  await store.close()
})

t.test('a blocked event loop is seen', async t => {
  const memory = metricsMemory(1)
  const stop = new Recorder(memory, 0).watchEventLoop()
  const total = () => memory.delays.rows.slice(0, -1).reduce((sum, count) => sum + count)
  while (total() < 3) await sleep(20)
  const until = performance.now() + 400
  while (performance.now() < until);
  await sleep(100)
  stop()
  const slow = memory.delays.bounds.findIndex(bound => bound >= 0.25)
  t.ok(memory.delays.rows.slice(slow, -1).some(count => count > 0))
  const before = total()
  await sleep(150)
  t.equal(total(), before, 'it has stopped')
})

t.test('a system without /proc has no number of open files', async t => {
  replaceExports(t, fs, { readdirSync () { throw new Error('ENOENT') } })
  const { text } = await exposeMetrics(metricsMemory(1), [], 0)
  t.notMatch(text, 'process_open_fds')
  t.match(text, 'process_cpu_seconds_total')
})

t.test('counts of years are written with all their digits', async t => {
  const memory = metricsMemory(2)
  const years = [2 ** 32, 2 ** 52 + 1]
  const [first, second] = [0, 1].map(thread => new Recorder(memory, thread))
  for (const recorder of [first, second]) {
    recorder?.responded(1, 'POST', 200, 1)
    recorder?.count('overload')
  }
  for (const [thread, count] of years.entries()) {
    const row = memory.requests.rows.length / memory.rows * thread
    const bucket = memory.requests.rows.indexOf(1, row)
    memory.requests.rows[bucket] = count
    memory.counters[memory.counters.length / memory.rows * thread] = count
  }
  const { text } = await exposeMetrics(memory, ['/plants'], 0)
  t.match(samples(text), {
    [duration('POST', 200, '/plants')]: 2 ** 52 + 2 ** 32 + 1,
    'plant_store_shed_requests_total{reason="overload"}': 2 ** 52 + 2 ** 32 + 1
  })
  t.match(text, ' 4503603922337793\n')
})

t.test('promtool finds no fault in the metrics', async t => {
  const hasPromtool = spawnSync('promtool', ['--version']).status === 0
  if (!hasPromtool) return t.comment('promtool is not installed: not tested')
  const { app, post } = await startApp(t)
  const { origin } = await listen(app)
  await post('{}')
  await postPlant(origin, testToken, '{"id":1,"name":"fern"}')
  execFileSync('promtool', ['check', 'metrics'], { input: await scrape(`${origin}/metrics`) })
})
