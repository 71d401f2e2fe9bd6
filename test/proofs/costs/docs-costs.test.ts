// A file of /docs costs little more than what bare node:http takes for the same bytes from memory:
// 1.5 to 1.8 times as much on a quiet machine, 20 times when each response reads the file.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { buildTestApp, listen, logLines } from '../../fixtures/app.ts'
import { measureCost } from '../../fixtures/cost.ts'
import { testStore } from '../../fixtures/store.ts'

/** Sends requests in another thread: the cost is that of the server alone. */
const client = `
const { Agent, get } = require('node:http')
const { parentPort } = require('node:worker_threads')
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const path = '/docs/static/swagger-ui-bundle.js'
parentPort.on('message', async port => {
  for (let nth = 0; nth < 5; nth++) {
    await new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port, agent, path }, response => {
        response.resume().once('end', resolve)
      }).once('error', reject)
    })
  }
  parentPort.postMessage('done')
})`

t.test('a file of /docs costs at most four times that of bare node:http', async t => {
  const store = testStore()
  const verifyToken = () => undefined
  const app = await buildTestApp({ store, verifyToken, log: logLines().log })
  t.teardown(() => app.close())
  const { port } = await listen(app)
  // The turns of large files would take most of the time.
  t.intercept(globalThis, 'setTimeout', { value: (startTurn: () => void) => setImmediate(startTurn) })
  const worker = new Worker(client, { eval: true })
  t.teardown(() => worker.terminate())
  const fetchAll = async (from: number) => {
    worker.postMessage(from)
    await once(worker, 'message')
  }
  const path = '/docs/static/swagger-ui-bundle.js'
  const { rawPayload } = await app.inject(path)
  const bare = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Length': rawPayload.length }).end(rawPayload)
  }).listen(0, '127.0.0.1')
  t.teardown(() => bare.close())
  await once(bare, 'listening')
  const barePort = (bare.address() as AddressInfo).port
  // V8 compiles the code of both.
  for (let nth = 0; nth < 8; nth++) for (const at of [port, barePort]) await fetchAll(at)
  const least = await measureCost(() => fetchAll(barePort))
  const cost = await measureCost(() => fetchAll(port))
  t.ok(cost <= 4 * least, `${cost / 5} ms, bare ${least / 5} ms`)
})
