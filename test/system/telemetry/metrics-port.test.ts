import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { isError } from '../../fixtures/app.ts'
import { duration, samples } from '../../fixtures/exposition.ts'
import { exchangeOne, requestText } from '../../fixtures/raw.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { observed, startService } from '../../fixtures/service.ts'
import { statuses } from '../../fixtures/statuses.ts'

t.test('METRICS_PORT serves the metrics of all threads without a token', async t => {
  const folder = t.testdir()
  const env = {
    ACCESS_TOKENS: testToken, METRICS_PORT: '0', THREADS: '2', BASE_URL: 'https://x.example/api'
  }
  const { origin, child, ended, output, waitForOutput } = await startService(t, folder, env, [], observed)
  await waitForOutput(/2 threads listen/)
  const [, address = ''] = /metrics at ([^"]+)"/.exec(output()) ?? []
  const found = await statuses(`${origin}/api`, 40)
  t.strictSame(new Set(found), new Set([200]))
  const text = await (await fetch(address)).text()
  t.match(samples(text), {
    [duration('POST', 200, '/api/plants')]: 40,
    plant_store_batch_plants_sum: 40,
    plant_store_queue_plants: 0
  })
  t.equal((await fetch(`${origin}/metrics`)).status, 404)
  const errors: Array<[number, string]> = [
    [404, requestText('GET /', ['Host: x', 'Connection: close', '', ''])],
    [405, requestText('POST /metrics', ['Host: x', 'Connection: close', '', ''])],
    [400, 'nonsense\r\n\r\n'],
    [405, requestText('CONNECT x:1', ['Host: x', '', ''])]
  ]
  const metricsPort = Number(new URL(address).port)
  for (const [status, bytes] of errors) {
    const response = await exchangeOne(metricsPort, bytes)
    isError(t, response, status, /./, bytes)
    const id = response.headers['x-request-id'] ?? ''
    await waitForOutput(new RegExp(`"id":"${id}"`))
  }
  const idle = Array.from(
    { length: 30 }, () => connect(metricsPort, '127.0.0.1').on('error', () => {})
  )
  t.teardown(() => idle.forEach(socket => socket.destroy()))
  const closed = () => idle.filter(socket => socket.destroyed).length
  while (closed() < 14) await sleep(10)
  await sleep(100)
  t.ok(closed() < 18, `${closed()} of 30 are closed: it takes 16, with those that fetch() keeps`)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('startup fails when METRICS_PORT is in use', async t => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => { taken.close() })
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const env = { ACCESS_TOKENS: testToken, METRICS_PORT: String(port) }
  const { ended, output } = await startService(t, t.testdir(), env, [], observed)
  t.not(await ended, 0)
  t.match(output(), `Cannot listen on 127.0.0.1, port ${port}`)
  t.match(output(), 'Set HOST and METRICS_PORT to listen elsewhere.')
})
