import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { allPlants } from '../../../../src/plants/plant-store.ts'
import { createSharedMemory } from '../../../../src/service/shared-memory.ts'
import { counters, Recorder } from '../../../../src/telemetry/metrics-recorder.ts'
import { listen, logLines, startApp } from '../../../fixtures/app.ts'
import { startLoopClock } from '../../../fixtures/clock.ts'
import { exchangeOne, requestText } from '../../../fixtures/raw.ts'
import { testToken } from '../../../fixtures/secrets.ts'

async function open (t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

function block (ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('a client that never reads is disconnected, and few bytes wait for it', async t => {
  const requestTimeoutMs = { header: 300, whole: 300 }
  const { app } = await startApp(t, { requestTimeoutMs, responseTimeoutMs: 200 })
  const { port } = await listen(app)
  let accepted: Socket | undefined
  app.server.on('connection', socket => { accepted = socket })
  const client = await open(t, port)
  client.pause()
  const elapsed = startLoopClock(t)
  client.write(requestText('GET /docs/json', ['Host: x', '', '']).repeat(10_000))
  let mostUnsent = 0
  const watch = setInterval(
    () => { mostUnsent = Math.max(mostUnsent, accepted?.writableLength ?? 0) }, 5
  )
  t.teardown(() => clearInterval(watch))
  while (accepted?.destroyed !== true) await new Promise(resolve => setTimeout(resolve, 5))
  t.ok(mostUnsent > 0 && mostUnsent < 100_000, `${mostUnsent} bytes were unsent`)
  t.ok(elapsed() < 5000, `disconnected after ${elapsed()} ms`)
})

t.test('empty lines keep no connection open, and requests do', async t => {
  const requestTimeoutMs = { header: 100, whole: 100 }
  const times = { requestTimeoutMs, responseTimeoutMs: 100, keepAliveTimeoutMs: 100 }
  const { port } = await listen((await startApp(t, times)).app)
  const get = requestText('GET /livez', ['Host: x', '', ''])
  const [idle, busy] = [await open(t, port), await open(t, port)]
  idle.resume().write(get)
  busy.resume()
  for (let sent = 0; sent < 100 && !idle.closed; sent++) {
    idle.write('\r\n')
    busy.write(get)
    await sleep(20)
  }
  t.ok(idle.closed)
  t.notOk(busy.closed)
})

t.test('requests that wait too long get 503 before authentication, and one log line', async t => {
  const { log, lines } = logLines()
  const shared = createSharedMemory(1)
  const { app } = await startApp(t, { log, shared, recorder: new Recorder(shared.metrics, 0) })
  const { port } = await listen(app)
  let accepted = 0
  app.server.on('connection', () => accepted++)
  const clients = await Promise.all(Array.from({ length: 300 }, () => open(t, port)))
  while (accepted < clients.length) await new Promise(setImmediate)
  const answers = clients.map(socket => once(socket, 'data') as Promise<[Buffer]>)
  let arrived = 0
  app.server.on('request', () => {
    if (++arrived === clients.length) block(600)
  })
  for (const [index, client] of clients.entries()) {
    // A client that may leave out its body must not go on with another request.
    const expect = index === clients.length - 1 ? ['Expect: 100-continue'] : []
    client.write(requestText('POST /plants', ['Host: x', 'Content-Length: 5', ...expect, '', '']))
  }
  // All requests arrive before the next turn of the event loop.
  block(50)
  const texts = (await Promise.all(answers)).map(([answer]) => answer.toString('latin1'))
  const statuses = texts.map(text => text.slice(9, 12))
  const ids = texts.map(text => /\r\nX-Request-Id: ([-\da-f]{36})\r\n/i.exec(text)?.[1])
  t.equal(new Set(ids).size, 300, 'each request has its own id')
  t.match(texts.at(-1), /^HTTP\/1\.1 503 .*\r\nConnection: close\r\n/s)
  const refused = statuses.filter(status => status === '503').length
  t.equal(statuses.filter(status => status === '401').length, 300 - refused)
  t.ok(refused >= 44 && refused < 300, `${refused} were not admitted in the first turn`)
  const summary = 'Requests refused because of overload: 1. ' +
    'The last one waited more than 500 ms for its turn.'
  const overloads = lines.map(line => JSON.parse(line)).filter(({ status }) => status !== 401)
  t.strictSame(overloads.map(({ msg }) => msg), [summary])
  t.equal(shared.metrics.counters[counters.indexOf('overload')], refused)
})

t.test('under overload faults of framing get their error, too, and end the connection', async t => {
  const { app, store } = await startApp(t)
  const { port } = await listen(app)
  let accepted = 0
  app.server.on('connection', () => accepted++)
  const fill = await Promise.all(Array.from({ length: 300 }, () => open(t, port)))
  const fields = ['Host: x', `Authorization: Bearer ${testToken}`, 'Content-Type: application/json']
  const plant = '{"id":1,"name":"smuggled"}'
  const second = requestText('POST /plants', [...fields, `Content-Length: ${plant.length}`], plant)
  const chunked = requestText(
    'POST /plants', [...fields, 'Connection: keep-alive', 'Transfer-Encoding: chunked'], '0\r\n\r\n'
  )
  const cases: Array<[string, string]> = [
    ['400', chunked.replace('HTTP/1.1', 'HTTP/1.0')],
    ['501', chunked.replace('chunked', 'gzip, chunked')],
    ['505', chunked.replace('HTTP/1.1', 'HTTP/2.0')]
  ]
  const clients = await Promise.all(cases.map(() => open(t, port)))
  const received = clients.map(client => {
    let text = ''
    client.on('data', bytes => { text += bytes })
    return async () => {
      await once(client, 'end')
      return text
    }
  })
  while (accepted < fill.length + clients.length) await new Promise(setImmediate)
  let arrived = 0
  // All requests arrive before the next turn of the event loop, which then comes late.
  app.server.on('request', () => {
    if (++arrived === fill.length + clients.length) block(600)
  })
  for (const client of fill) client.write(requestText('GET /x', ['Host: x', '', '']))
  for (const [index, client] of clients.entries()) {
    client.write((cases[index] as [string, string])[1] + second)
  }
  block(50)
  for (const [index, text] of (await Promise.all(received.map(all => all()))).entries()) {
    t.match(text, new RegExp(`^HTTP/1\\.1 ${cases[index]?.[0]} `))
    t.equal(text.match(/HTTP\/1\.1 \d{3}/g)?.length, 1, 'one response')
  }
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

t.test('a body in pieces of any size arrives whole', async t => {
  const { app, store } = await startApp(t)
  const { port } = await listen(app)
  const fields = ['Host: x', `Authorization: Bearer ${testToken}`, 'Content-Type: application/json']
  const sizes = [[1], [4096], [1, 4095, 4096, 4097, 3], [16_000, 1]]
  for (const [index, pattern] of sizes.entries()) {
    const plant = JSON.stringify({ id: index, name: `${index}`.repeat(30_000) })
    let body = ''
    for (let start = 0, nth = 0; start < plant.length; nth++) {
      const piece = plant.slice(start, start += pattern[nth % pattern.length] as number)
      body += `${piece.length.toString(16)}\r\n${piece}\r\n`
    }
    const head = [...fields, 'Transfer-Encoding: chunked', 'Connection: close']
    const text = requestText('POST /plants', head, `${body}0\r\n\r\n`)
    t.equal((await exchangeOne(port, text)).statusCode, 200)
  }
  const stored = await Array.fromAsync(allPlants(store))
  t.strictSame(
    stored.map(({ name }) => name), sizes.map((_pattern, index) => `${index}`.repeat(30_000))
  )
})
