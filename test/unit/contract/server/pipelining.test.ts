import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { serveInOrder } from '../../../../src/contract/server/pipelining.ts'

/** A server that holds each response until the test calls `release`. */
async function startHolding (t: Test, maxWaiting = 1000) {
  const held: Array<() => void> = []
  const handle: RequestListener = (request, response) => {
    request.resume().on('end', () => {
      held.push(() => response.writeHead(200, { 'Content-Length': '1' }).end('x'))
    })
  }
  const server = createServer(serveInOrder(maxWaiting, handle)).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const waitForHeld = async () => { while (held.length === 0) await new Promise(setImmediate) }
  const releaseUntil = async (isDone: () => boolean) => {
    while (!isDone()) {
      await waitForHeld()
      held.shift()?.()
      await sleep(1)
    }
  }
  return { server, held, waitForHeld, releaseUntil, open: () => openClient(t, server) }
}

async function openClient (t: Test, server: Server) {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  let received = ''
  socket.setEncoding('latin1').on('data', text => { received += text })
  const connected = once(socket, 'connect')
  const [accepted] = await once(server, 'connection') as [Socket]
  await connected
  return { socket, accepted, responses: () => received.split('HTTP/1.1 200').length - 1 }
}

const pipelined = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n${'x'.repeat(100)}`

t.test('a connection counts as pipelined from its first pipelined request on', async t => {
  const flags: boolean[] = []
  const server = createServer(serveInOrder(1000, (_request, response, isPipelined) => {
    flags.push(isPipelined)
    response.end()
  })).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = await openClient(t, server)
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  for (const [index, count] of [1, 1, 2, 1].entries()) {
    client.socket.write(get.repeat(count))
    while (client.responses() < [1, 2, 4, 5][index]!) await sleep(1)
  }
  t.strictSame(flags, [false, false, false, true, true])
})

t.test('the requests of a connection are served one after another', async t => {
  const { held, waitForHeld, open } = await startHolding(t)
  const client = await open()
  client.socket.write(pipelined.repeat(5))
  for (let request = 1; request <= 5; request++) {
    await waitForHeld()
    await sleep(5)
    t.equal(held.length, 1, `only request ${request} has begun`)
    held.shift()?.()
    while (client.responses() < request) await sleep(1)
  }
})

t.test('a connection is not read while a request waits on it, and no request is lost', async t => {
  const { held, waitForHeld, open } = await startHolding(t)
  const client = await open()
  const sent = 10_000
  client.socket.write(pipelined.repeat(sent))
  await waitForHeld()
  await sleep(100)
  // Each request that is served lets Node read some more, on a busy machine more than on another.
  // Without a pause it reads all of them.
  const limit = sent * pipelined.length / 2
  t.ok(client.accepted.bytesRead <= limit, `${client.accepted.bytesRead} bytes were read`)
  let mostRead = 0
  for (let served = 0; served < sent; served++) {
    await waitForHeld()
    mostRead = Math.max(mostRead, client.accepted.bytesRead - served * pipelined.length)
    held.shift()?.()
  }
  while (client.responses() < sent) await sleep(1)
  t.ok(mostRead <= limit, `at most ${mostRead} bytes were read ahead`)
})

t.test('one connection may pipeline many requests; others may then pipeline a few', async t => {
  const { waitForHeld, releaseUntil, open } = await startHolding(t, 20)
  const first = await open()
  first.socket.write(pipelined.repeat(30))
  await waitForHeld()
  const greedy = await open()
  greedy.socket.write(pipelined.repeat(30))
  await once(greedy.socket, 'close')
  const modest = await open()
  modest.socket.write(pipelined.repeat(17))
  await releaseUntil(() => first.responses() === 30 && modest.responses() === 17)
  const later = await open()
  later.socket.write(pipelined.repeat(30))
  await releaseUntil(() => later.responses() === 30)
  t.equal(later.responses(), 30, 'the requests of the closed connection wait no longer')
})

t.test('requests wait no longer on a connection that becomes a tunnel', async t => {
  const { releaseUntil, open } = await startHolding(t, 30)
  const gone = await open()
  const closed = once(gone.accepted, 'close')
  gone.socket.write(`${pipelined.repeat(18)}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
  await closed
  const client = await open()
  client.socket.write(pipelined.repeat(19))
  await releaseUntil(() => client.responses() === 19)
  t.equal(client.responses(), 19)
})

t.test('a connection begins one of its pipelined requests in a turn of the event loop', async t => {
  let turn = 0
  const turns: number[] = []
  const server = createServer(serveInOrder(1000, (_request, response) => {
    turns.push(turn)
    response.writeHead(200, { 'Content-Length': '1' }).end('x')
  })).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume()
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20))
  while (turns.length < 20) {
    await new Promise(setImmediate)
    turn++
  }
  t.equal(new Set(turns).size, 20)
  socket.destroy()
})
