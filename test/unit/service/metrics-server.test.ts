import { once } from 'node:events'
import fs from 'node:fs'
import { connect } from 'node:net'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { listenForMetrics } from '../../../src/service/metrics-server.ts'
import { createSharedMemory } from '../../../src/service/shared-memory.ts'
import { logLines } from '../../fixtures/app.ts'
import { replaceExports } from '../../fixtures/builtins.ts'
import { exchange, exchangeOne, requestText } from '../../fixtures/raw.ts'

async function startMetrics (t: Test) {
  const { log, lines } = logLines()
  const config = { host: '127.0.0.1', baseUrl: '/', failedAuthLimit: 60 }
  const { address, close } = await listenForMetrics(config, 0, createSharedMemory(1), log)
  t.teardown(close)
  const messages = () => lines.map(line => JSON.parse(line).msg)
  return { port: Number(new URL(address).port), close, messages }
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

t.test('a flood of refused requests leaves 60 lines for its address, and their number', async t => {
  const { port, close, messages } = await startMetrics(t)
  const bytes = requestText('GET /x', ['Host: x', '', '']).repeat(499) +
    requestText('GET /x', ['Host: x', 'Connection: close', '', ''])
  const socket = connect(port, '127.0.0.1').resume()
  socket.end(bytes)
  await once(socket, 'close')
  await close()
  const there = 'There is nothing at /x.'
  t.strictSame(messages().slice(0, 60), Array(60).fill(there))
  t.match(messages().slice(60), [/^127\.0\.0\.1: 440 refused requests have no line in this log/])
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

t.test('all scrapes of a second share one text', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { port } = await startMetrics(t)
  let made = 0
  onEachText(t, () => { made++ })
  const bytes = scrape.repeat(20) + lastScrape
  await Promise.all([exchange(port, bytes), exchange(port, bytes)])
  t.equal(made, 1)
  mock.timers.tick(1000)
  await exchange(port, bytes)
  t.equal(made, 2)
})
