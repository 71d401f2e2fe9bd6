import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PausedConnections } from '../../../../src/contract/server/paused-connections.ts'

/** A server and a client. `next` may send bytes to the server, and answers the next request. */
async function startServer (t: Test) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {}).resume()
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  const next = async (bytes = '', answer = (response: ServerResponse) => { response.end('x') }) => {
    client.write(bytes)
    const [request, response] = await once(server, 'request') as [IncomingMessage, ServerResponse]
    request.resume()
    answer(response)
    await once(response, 'finish')
    return request
  }
  return { client, next, requests: countRequests(server) }
}

function countRequests (server: ReturnType<typeof createServer>): () => number {
  let count = 0
  server.on('request', () => count++)
  return () => count
}

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

t.test('a paused connection is read again when it is resumed', async t => {
  const { client, next, requests } = await startServer(t)
  const paused = new PausedConnections()
  paused.pause(await next(get))
  client.write(get)
  await sleep(50)
  t.strictSame([requests(), paused.size], [1, 1])
  paused.resume(0)
  await sleep(50)
  t.strictSame([requests(), paused.size], [1, 1])
  paused.resume(1)
  await next()
  t.strictSame([requests(), paused.size], [2, 0])
})

t.test('connections are resumed in order, and all that were paused for 250 ms', async t => {
  const clock = { now: 0 }
  t.intercept(performance, 'now', { value: () => clock.now })
  const servers = await Promise.all(Array.from({ length: 4 }, () => startServer(t)))
  const requests = await Promise.all(servers.map(({ next }) => next(get)))
  const paused = new PausedConnections()
  for (const [index, request] of requests.entries()) {
    clock.now = 10 * index
    paused.pause(request)
  }
  const arePaused = () => requests.map(({ socket }) => socket.isPaused())
  paused.resume(1)
  t.strictSame(arePaused(), [false, true, true, true])
  clock.now = 269
  paused.resume(-5)
  t.strictSame(arePaused(), [false, false, true, true])
  clock.now = 280
  paused.resume(0)
  t.strictSame(arePaused(), [false, false, false, false])
})

t.test('a connection that is paused, closed or receives a body is not paused', async t => {
  const { client, next } = await startServer(t)
  const paused = new PausedConnections()
  const request = await next(get)
  paused.pause(request)
  paused.pause(request)
  t.equal(paused.size, 1)
  paused.resume(1)

  const early = await next('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n')
  paused.pause(early)
  t.strictSame([paused.size, early.socket.isPaused()], [0, false])
  client.write('x')

  const last = await next(get)
  last.socket.destroy()
  paused.pause(last)
  t.equal(paused.size, 0)
})

t.test('a connection that its client closes meanwhile is forgotten', async t => {
  const { client, next } = await startServer(t)
  const paused = new PausedConnections()
  const request = await next(get)
  paused.pause(request)
  client.destroy()
  await sleep(50)
  paused.resume(1)
  await new Promise(resolve => request.socket.once('close', resolve))
  t.equal(paused.size, 0)
})
