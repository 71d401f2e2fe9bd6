import type { FastifyInstance } from 'fastify'
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { operations } from '../../../generated/operations.ts'
import { type Outcome, type PlantStore, StoreUnavailable } from '../../../src/plants/plant-store.ts'
import { createSharedMemory, type SharedMemory } from '../../../src/service/shared-memory.ts'
import { groupCommit } from '../../../src/stores/group-commit.ts'
import { memoryEngine } from '../../../src/stores/memory.ts'
import { Overload } from '../../../src/contract/server/overload.ts'
import { counters, Recorder } from '../../../src/telemetry/metrics-recorder.ts'
import type { AppOptions } from '../../../src/service/app.ts'
import { authorization, isError, json, listen, logLines, startApp } from '../../fixtures/app.ts'
import { startLoopClock } from '../../fixtures/clock.ts'
import { exchangeOne, request } from '../../fixtures/raw.ts'
import { testStore } from '../../fixtures/store.ts'

const plant = { id: 1, name: 'fern' }

/** A store whose add() waits until the test completes it. `called` resolves at the first call. */
function pendingStore () {
  const called = Promise.withResolvers<void>()
  const outcome = Promise.withResolvers<Outcome>()
  const store = testStore({
    add () {
      called.resolve()
      return outcome.promise
    }
  })
  return { store, called: called.promise, complete: outcome.resolve }
}

t.test('without a rate limit the application accepts any number of requests', async t => {
  const { post } = await startApp(t)
  for (let request = 0; request < 20; request++) t.equal((await post(plant)).statusCode, 200)
})

t.test('a token past its rate limit gets 429 with Retry-After, other tokens do not', async t => {
  const verifyToken = (token: string) => {
    return token === 'bad' ? undefined : { name: `${token.length} characters` }
  }
  const { post } = await startApp(t, { rateLimit: 2, verifyToken })
  for (const nth of [1, 2]) t.equal((await post(plant)).statusCode, 200, `request ${nth}`)
  const response = await post(plant)
  const message = 'This token may make 2 requests per minute. ' +
    'Retry-After gives the seconds to wait.'
  isError(t, response, 429, message, 'request 3')
  t.match(Number(response.headers['retry-after']), 60)
  t.equal((await post(plant, { authorization: 'Bearer another' })).statusCode, 200)
  for (const nth of [1, 2, 3]) {
    const { statusCode } = await post(plant, { authorization: 'Bearer bad' })
    t.equal(statusCode, 401, `request ${nth} with an unknown token is not counted`)
  }
})

t.test('a request that waits too long counts as shed, and a line of the log names the limit', async t => {
  const large = { ...plant, tag: 'x'.repeat(60_000) }
  const isRefused: AppOptions['verifyToken'] = () => { throw new Overload('the check of its token') }
  const cases: Array<[wanted: string, verifyToken?: AppOptions['verifyToken']]> = [
    ['the check of its token', isRefused], ['the parsing of its body']
  ]
  let now = 0
  const tick = () => {
    now += 501
    return now
  }
  for (const [wanted, verifyToken = () => ({ name: 'test' })] of cases) {
    const { log, lines } = logLines()
    const shared = createSharedMemory(1)
    const recorder = new Recorder(shared.metrics, 0)
    const { post } = await startApp(t, { log, shared, recorder, verifyToken })
    const { restore } = t.intercept(performance, 'now', { value: tick })
    const responses = await Promise.all(Array.from({ length: 5 }, () => post(large)))
    restore()
    const refused = responses.filter(({ statusCode }) => statusCode !== 200)
    t.not(refused.length, 0)
    const reason = `waited more than 500 ms for ${wanted}.`
    for (const response of refused) isError(t, response, 503, reason, wanted)
    t.match(JSON.parse(lines[0] ?? '{}').msg, `overload: 1. The last one ${reason}`)
    t.notMatch(lines.join(''), '"status"', 'none has a line of its own')
    t.equal(shared.metrics.counters[counters.indexOf('overload')], refused.length)
  }
})

t.test('requests that find a full queue of the store have one line together, with the reason', async t => {
  const { log, lines } = logLines()
  const shared = createSharedMemory(1)
  const recorder = new Recorder(shared.metrics, 0)
  const store = groupCommit(memoryEngine(), { maxQueue: 0, observer: recorder })
  const { app, post } = await startApp(t, { log, shared, recorder, store })
  for (let nth = 0; nth < 3; nth++) {
    const response = await post(plant)
    isError(t, response, 503, 'The service is overloaded. Try again in a moment.', 'a full queue')
    t.ok(response.headers['retry-after'])
  }
  await app.close()
  const counts = [1, 2].map(count => `Requests refused because of overload: ${count}. The last one ` +
    'found 0 plants waiting for the store, the share of a thread in MAX_QUEUE.')
  t.strictSame(lines.map(line => JSON.parse(line).msg), counts)
  t.strictSame([...shared.metrics.counters.slice(0, 2)], [0, 3], 'overload and queue')
})

t.test('the contract declares exactly the statuses that the operation answers, and their fields', async t => {
  const declared: Record<string, { content: object, headers?: object }> = operations.createPlant.responses
  const requestTimeoutMs = { header: 200, whole: 400 }
  const { app, post } = await startApp(t, { bodyLimit: 50, rateLimit: 7, requestTimeoutMs })
  const postTo = async (add: PlantStore['add']) => {
    return (await startApp(t, { rateLimit: 7, store: testStore({ add }) })).post(plant)
  }
  const responses = [
    await post(plant),
    await post('{'),
    await post(plant, { authorization: '' }),
    await post(plant, { authorization: 'Bearer one two' }),
    await exchangeOne((await listen(app)).port, 'POST /plants HTTP/1.1\r\nHost: x\r\n'),
    await post({ id: 1, name: 'x' }),
    await post('x'.repeat(51)),
    await post(plant, { 'content-type': 'text/plain' }),
    // The last of these is past the rate limit.
    await post(plant),
    await post(plant),
    await post(plant),
    await postTo(() => Promise.reject(new Error())),
    await postTo(() => Promise.reject(new StoreUnavailable('Not now.')))
  ]
  const statuses = [...new Set(responses.map(({ statusCode }) => statusCode))].sort()
  t.strictSame(statuses, Object.keys(declared).map(Number))
  const names = [
    'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'www-authenticate', 'retry-after'
  ]
  for (const status of statuses) {
    const alike = responses.filter(({ statusCode }) => statusCode === status)
    const sent = names.filter(name => alike.some(({ headers }) => name in headers))
    const fields = Object.keys(declared[status]?.headers ?? {}).map(name => name.toLowerCase())
    t.strictSame(sent.toSorted(), fields.toSorted(), `the fields of ${status}`)
  }
  const temporary = responses.filter(({ statusCode }) => statusCode === 503 || statusCode === 429)
  for (const { headers } of temporary) t.match(headers['retry-after'], /^\d+$/)
})

t.test('a request pending at shutdown is answered, and its connection ends', async t => {
  const { store, called, complete } = pendingStore()
  const { app } = await startApp(t, { store })
  const { origin } = await listen(app)
  const response = fetch(`${origin}/plants`, {
    method: 'POST',
    headers: { authorization, 'content-type': json },
    body: JSON.stringify(plant)
  })
  await called
  const elapsed = startLoopClock(t)
  const closed = app.close()
  complete('added')
  t.equal((await response).status, 200)
  await closed
  t.ok(elapsed() < 5000, 'an idle connection does not delay the shutdown')
  await t.rejects(fetch(origin), 'the port is closed')
})

t.test('a connection without any request does not delay the shutdown', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const accepted = once(app.server, 'connection')
  connect(port, '127.0.0.1').on('error', () => {}).resume()
  await accepted
  const elapsed = startLoopClock(t)
  await app.close()
  t.ok(elapsed() < 2000)
})

t.test('shutdown does not wait long for silent, idle or stuck connections', async t => {
  const { app } = await startApp(
    t, { requestTimeoutMs: { header: 500, whole: 500 }, responseTimeoutMs: 30_000 }
  )
  const { port } = await listen(app)
  const whole = request('{"id":1,"name":"x"}')
  const sockets = await Promise.all(['', 'POST /pla', whole, whole.slice(0, -3)].map(async text => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(text)
    return socket.on('error', () => {}).resume()
  }))
  const closed = sockets.map(socket => new Promise(resolve => socket.once('close', resolve)))
  const elapsed = startLoopClock(t)
  await app.close()
  await Promise.all(closed)
  t.ok(elapsed() < 3000)
})

t.test('/livez and /readyz need no token; /readyz is 503 while the store cannot write', async t => {
  const { app } = await startApp(t)
  t.match(await app.inject('/livez'), { statusCode: 200, body: '{"status":"alive"}' })
  t.match(await app.inject('/readyz'), { statusCode: 200, body: '{"status":"ready"}' })

  const { log, lines } = logLines()
  const store = testStore({ check: () => Promise.reject(new Error('the disk is gone')) })
  const broken = await startApp(t, { store, log })
  const response = await broken.app.inject('/readyz')
  isError(t, response, 503, 'The store cannot write plants durably at the moment.', 'broken store')
  t.equal(response.headers['retry-after'], '1')
  t.match(JSON.parse(lines[0] as string), { path: '/readyz', err: { message: 'the disk is gone' } })
  t.equal((await broken.app.inject('/livez')).statusCode, 200)
})

t.test('callers of /readyz share a check, and one that hangs is 503 within 2 seconds', async t => {
  let checks = 0
  const store = testStore({
    async check () {
      checks++
      // The second check hangs.
      if (checks === 2) await new Promise(() => {})
    }
  })
  const { app } = await startApp(t, { store })
  const statuses = async () => {
    const responses = await Promise.all(Array.from({ length: 10 }, () => app.inject('/readyz')))
    return new Set(responses.map(({ statusCode }) => statusCode))
  }
  t.strictSame([await statuses(), await statuses(), checks], [new Set([200]), new Set([200]), 1])
  await new Promise(resolve => setTimeout(resolve, 1100))
  const elapsed = startLoopClock(t)
  t.strictSame([await statuses(), checks], [new Set([503]), 2])
  t.ok(elapsed() < 2500)
})

/** Lets the last line about a store that is not ready be so many seconds old. */
function lastLineWas (seconds: number, { failing }: SharedMemory): void {
  failing[0] = process.hrtime()[0] + 1 - seconds
}

t.test('all threads log once that the store fails, again each minute, and its end', async t => {
  const { log, lines } = logLines()
  const shared = createSharedMemory(1)
  let failure: Error | undefined = new Error('the disk is gone')
  const store = testStore({ check: async () => { if (failure !== undefined) throw failure } })
  const apps: FastifyInstance[] = []
  const ask = async () => {
    // A check serves its app for a second.
    const { app } = await startApp(t, { log, shared, store, failedAuthLimit: 1 })
    apps.push(app)
    await Promise.all(Array.from({ length: 3 }, () => app.inject('/readyz')))
    return lines.splice(0).map(line => JSON.parse(line))
  }
  const notReady = {
    level: 50,
    path: '/readyz',
    msg: 'The store is not ready: it cannot write plants durably.',
    err: { message: 'the disk is gone' }
  }
  const linesOf = async () => {
    const found = await ask()
    t.ok(found.length < 2)
    return found[0]
  }
  t.match(await linesOf(), notReady)
  lastLineWas(58, shared)
  t.equal(await linesOf(), undefined, 'another thread in the same minute')
  lastLineWas(60, shared)
  t.match(await linesOf(), notReady, 'a minute later')
  failure = undefined
  t.match(await linesOf(), {
    level: 30, path: '/readyz', msg: 'The store is ready again: it writes plants durably.'
  })
  t.equal(await linesOf(), undefined)
  for (const app of apps) await app.close()
  t.strictSame(lines, [], 'no request counts for the limits of the log')
})

t.test('the log of a check that hangs has the reason why the last one failed', async t => {
  const { log, lines } = logLines()
  let checks = 0
  const check = () => {
    if (++checks === 1) return Promise.reject(new Error('the database is gone'))
    return new Promise<void>(() => {})
  }
  const shared = createSharedMemory(1)
  const { app } = await startApp(t, { log, shared, store: testStore({ check }) })
  await app.inject('/readyz')
  lastLineWas(60, shared)
  await new Promise(resolve => setTimeout(resolve, 1100))
  await app.inject('/readyz')
  t.match(
    JSON.parse(lines[1] as string).err.message, 'the store gave no result within 2000 ms: the database is gone'
  )
})

t.test('the log of a first check that hangs says where to look', async t => {
  const { log, lines } = logLines()
  const { app } = await startApp(t, { log, store: testStore({ check: () => new Promise<void>(() => {}) }) })
  await app.inject('/readyz')
  const message = 'the store gave no result within 2000 ms; see whether its disk or its server responds, or a process locks its file'
  t.match(JSON.parse(lines[0] as string).err.message, message)
})

t.test('during shutdown the service is not ready, and answers its pending requests', async t => {
  const { store, called, complete } = pendingStore()
  const { app } = await startApp(t, { store })
  const { port } = await listen(app)
  // A connection that was opened before the shutdown and has a pending request.
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let received = ''
  socket.on('data', text => { received += text }).write(request('{"id":1,"name":"x"}'))
  await called
  const closed = app.close()
  while (app.server.listening) await new Promise(setImmediate)
  socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise(resolve => setTimeout(resolve, 50))
  complete('added')
  await Promise.all([closed, once(socket, 'close')])
  const bothResponses = new RegExp([
    '200 OK', '"name":"x"', '503 Service Unavailable', 'Connection: close',
    'The service is shutting down\\.'
  ].join('[^]*'), 'i')
  t.match(received, bothResponses)
})

t.test('shutdown completes although a handler never resolves', async t => {
  const { store, called } = pendingStore()
  const { app } = await startApp(
    t, { store, requestTimeoutMs: { header: 200, whole: 200 }, responseTimeoutMs: 400 }
  )
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1').on('error', () => {}).resume()
  socket.write(request('{"id":1,"name":"x"}'))
  await called
  await app.close()
  t.pass('closed')
})

t.test('the served contract has the paths and schemas of the original specification', async t => {
  const { app } = await startApp(t)
  const contract = (await app.inject('/docs/json')).json()
  const content = (name: string) => ({
    [json]: { schema: { $ref: `#/components/schemas/${name}` } }
  })
  t.match(contract, {
    openapi: '3.1.0',
    info: { title: 'Plant Store', version: /^1\.\d+\.\d+$/, license: { name: 'MIT' } },
    servers: [{ url: '{base_url}' }],
    security: [{ bearerAuth: [] }],
    components: {
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Plant: {
          required: ['name'], properties: { name: { type: 'string' }, tag: { type: 'string' } }
        },
        NewPlant: {
          allOf: [
            { $ref: '#/components/schemas/Plant' },
            { required: ['id'], properties: { id: { type: 'integer', format: 'int64' } } }
          ]
        },
        Error: {
          required: ['error', 'message'],
          properties: { error: { type: 'integer', format: 'int32' }, message: { type: 'string' } }
        }
      }
    }
  })
  const { requestBody, responses } = contract.paths['/plants'].post
  t.match(requestBody, { required: true, content: content('NewPlant') })
  t.match(responses['200'], { content: content('Plant') })
  t.match(responses['400'], { description: 'unexpected error', content: content('Error') })
})

t.test('the first X-Forwarded-For of an address that TRUST_PROXY does not name has a warning', async t => {
  for (const trustProxy of [undefined, ['192.0.2.1', '::1']]) {
    const { log, lines } = logLines()
    const shared = createSharedMemory(2)
    const startListening = async (options: Partial<AppOptions>) => {
      const { app } = await startApp(t, { log, shared, ...options })
      return (await listen(app)).origin
    }
    const ask = (origin: string, headers = {}) => fetch(`${origin}/livez`, { headers })
    const proxy = { 'x-forwarded-for': '192.0.2.1' }
    const right = await startListening({ trustProxy: ['127.0.0.1'] })
    for (const headers of [proxy, {}, proxy]) await ask(right, headers)
    const origins = [await startListening({ trustProxy }), await startListening({ trustProxy })]
    for (const origin of origins) await ask(origin)
    t.strictSame(lines, [])
    for (const origin of [...origins, ...origins]) await ask(origin, proxy)
    const address = 'requests come with X-Forwarded-For from (\\S+)'
    const sentence = new RegExp(`^${address}, which TRUST_PROXY does not .* TRUST_PROXY=${trustProxy === undefined ? '' : '192.0.2.1,::1,'}\\1$`)
    t.equal(lines.length, 1)
    t.match(JSON.parse(String(lines[0])), { level: 40, msg: sentence })
  }
})

t.test('each request is a sign of life, before it waits for its turn', async t => {
  const shared = createSharedMemory(1)
  const { app } = await startApp(t, { shared })
  const { origin } = await listen(app)
  for (const expected of [1, 2]) {
    await (await fetch(`${origin}/livez`)).text()
    t.equal(shared.beats[0], expected)
  }
})
