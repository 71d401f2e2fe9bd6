import { once } from 'node:events'
import fs from 'node:fs'
import { connect, type Socket } from 'node:net'
import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listenForMetrics } from '../../../src/service/metrics-server.ts'
import { createSharedMemory } from '../../../src/service/shared-memory.ts'
import { Recorder } from '../../../src/telemetry/metrics-recorder.ts'
import { logLines } from '../../fixtures/app.ts'
import { replaceExports } from '../../fixtures/builtins.ts'
import { exchange, exchangeOne, requestText } from '../../fixtures/raw.ts'

async function startMetrics (t: Test, failedAuthLimit = 60) {
  const { log, lines } = logLines()
  const config = { host: '127.0.0.1', baseUrl: '/', failedAuthLimit }
  const shared = createSharedMemory(1)
  const { address, close } = await listenForMetrics(config, 0, shared, log)
  t.teardown(close)
  const messages = () => lines.map(line => JSON.parse(line).msg)
  return { port: Number(new URL(address).port), close, messages, shared }
}

const scrape = requestText('GET /metrics', ['Host: x', '', ''])
const lastScrape = requestText('GET /metrics', ['Host: x', 'Connection: close', '', ''])

/** Each text has the number of open files, which is read with this function. */
function onEachText (t: Test, listener: () => void): void {
  replaceExports(t, fs, {
    readdirSync: (() => {
      listener()
      return []
    }) as unknown as typeof fs.readdirSync
  })
}

/** Waits until a connection closes, while each second of the server's timers takes a moment. */
async function closeSoon (t: Test, socket: Socket): Promise<void> {
  const closed = once(socket, 'close')
  const timer = setInterval(() => mock.timers.tick(1000), 1)
  t.teardown(() => clearInterval(timer))
  await closed
}

t.test('a flood of refused requests leaves a few lines for its address, and their number', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { port, close, messages } = await startMetrics(t, 6)
  const bytes = requestText('GET /x', ['Host: x', '', '']).repeat(19) +
    requestText('GET /x', ['Host: x', 'Connection: close', '', ''])
  const socket = connect(port, '127.0.0.1').resume()
  socket.end(bytes)
  await closeSoon(t, socket)
  await close()
  const there = 'There is nothing at /x.'
  t.strictSame(messages().slice(0, 6), Array(6).fill(there))
  t.match(messages().slice(6), [/^127\.0\.0\.1: 14 refused requests have no line in this log/])
})

t.test('connections with half a request do not keep Prometheus away', async t => {
  const { port } = await startMetrics(t)
  for (let nth = 0; nth < 40; nth++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    t.teardown(() => socket.destroy())
    await once(socket, 'connect')
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\nX-Half')
  }
  t.equal((await exchangeOne(port, lastScrape)).statusCode, 200)
})

t.test('a pipelined request begins after the response before it', async t => {
  const { port, messages } = await startMetrics(t)
  const linesBefore: number[] = []
  onEachText(t, () => linesBefore.push(messages().length))
  const wrong = requestText('GET /x', ['Host: x', 'Connection: close', '', ''])
  const responses = await exchange(port, scrape + wrong)
  t.strictSame(responses.map(({ statusCode }) => statusCode), [200, 404])
  t.strictSame(linesBefore, [0])
})

t.test('a response before the end of a chunked body ends the connection', async t => {
  const { port } = await startMetrics(t)
  const chunked = requestText('GET /metrics', ['Host: x', 'Transfer-Encoding: chunked'], '1\r\nx\r\n')
  const [response, ...others] = await exchange(port, chunked)
  t.match(response, { statusCode: 200, headers: { connection: 'close' } })
  t.strictSame(others, [])
})

t.test('a body is not read, and is no failure of the service', async t => {
  const { port, messages } = await startMetrics(t)
  const json = ['Host: x', 'Content-Type: application/json']
  const responses = await Promise.all([
    exchangeOne(port, requestText('POST /x', [...json, 'Content-Length: 1', 'Connection: close'], '{')),
    exchangeOne(port, requestText('POST /x', [...json, 'Transfer-Encoding: chunked'], '1\r\n{\r\n')),
    exchangeOne(port, requestText('POST /metrics', [...json, 'Content-Length: 1', 'Connection: close'], '{'))
  ])
  t.strictSame(responses.map(({ statusCode }) => statusCode), [404, 404, 405])
  t.strictSame(messages().toSorted(), [
    '/metrics does not support POST, only GET, HEAD, OPTIONS.', 'There is nothing at /x.', 'There is nothing at /x.'
  ])
})

t.test('a refused request waits, so that its client cannot ask all the time', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { port } = await startMetrics(t)
  const refused = exchangeOne(port, requestText('GET /x', ['Host: x', 'Connection: close', '', '']))
  t.equal((await exchangeOne(port, lastScrape)).statusCode, 200)
  const next = new Promise(resolve => setImmediate(resolve, 'waits'))
  t.equal(await Promise.race([refused, next]), 'waits')
  mock.timers.tick(1000)
  t.equal((await refused).statusCode, 404)
})

t.test('a malformed request has an error of the service', async t => {
  const { port } = await startMetrics(t)
  t.match(await exchangeOne(port, requestText('GET /metrics', ['Connection: close', '', ''])), { statusCode: 400, body: /Host/ })
})

t.test('a CONNECT behind scrapes that nobody reads does not delay the end', async t => {
  const { port, close, shared } = await startMetrics(t)
  // The text grows to more than 100 KB.
  const recorder = new Recorder(shared.metrics, 0)
  for (let status = 400; status < 500; status++) recorder.responded(1, 'POST', status, 1)
  const socket = connect(port, '127.0.0.1').pause()
  t.teardown(() => socket.destroy())
  const closed = once(socket.on('error', () => {}), 'close')
  socket.write(scrape.repeat(200) + requestText('CONNECT x:1', ['Host: x', '', '']))
  // By then the server has read all, and waits for the client to read.
  while (await once(socket, 'readable').then(() => socket.readableLength) < 60_000) await sleep(10)
  await sleep(500)
  const hung = sleep(20_000, 'hangs', { ref: false })
  t.equal(await Promise.race([close().then(() => 'ends'), hung]), 'ends')
  socket.resume()
  await closed
})

t.test('all scrapes of a second share one text', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { port } = await startMetrics(t)
  // Before the end of the server, which needs them.
  t.teardown(() => mock.timers.reset())
  let made = 0
  onEachText(t, () => { made++ })
  const bytes = scrape.repeat(20) + lastScrape
  await Promise.all([exchange(port, bytes), exchange(port, bytes)])
  t.equal(made, 1)
  mock.timers.tick(1000)
  await exchange(port, bytes)
  t.equal(made, 2)
})
