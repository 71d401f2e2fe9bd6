import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { listenForMetrics } from '../../../src/service/metrics-server.ts'
import { createSharedMemory } from '../../../src/service/shared-memory.ts'
import { logLines } from '../../fixtures/app.ts'
import { exchangeOne, requestText } from '../../fixtures/raw.ts'

async function startMetrics (t: Test) {
  const { log, lines } = logLines()
  const config = { host: '127.0.0.1', baseUrl: '/', failedAuthLimit: 60 }
  const { address, close } = await listenForMetrics(config, 0, createSharedMemory(1), log)
  t.teardown(close)
  const messages = () => lines.map(line => JSON.parse(line).msg)
  return { port: Number(new URL(address).port), close, messages }
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
  const scrape = requestText('GET /metrics', ['Host: x', 'Connection: close', '', ''])
  t.equal((await exchangeOne(port, scrape)).statusCode, 200)
})
