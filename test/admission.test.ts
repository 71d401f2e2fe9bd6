import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { connect, Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { admitRequests } from '../src/admission.ts'
import type { AdmissionOptions } from '../src/admission.ts'

const refuse: RequestListener = (_request, response) => { response.writeHead(503).end() }
const urgentPaths = new Set(['/livez'])

/** A request and its response, as Node gives them to a listener. */
function exchange (url = '/plants'): [IncomingMessage, ServerResponse & { req: IncomingMessage }] {
  const request = new IncomingMessage(new Socket())
  request.url = url
  const response = new ServerResponse(request)
  response.assignSocket(request.socket)
  return [request, response]
}

t.test('256 requests are admitted in a turn of the event loop, and the others in the next turns in order', async t => {
  t.intercept(performance, 'now', { value: () => 0 })
  const admitted: string[] = []
  const admit = admitRequests(({ url }) => admitted.push(url as string), { refuse, urgentPaths })
  const urls = Array.from({ length: 600 }, (_, index) => `/${index}`)
  for (const url of urls) admit(...exchange(url))
  const counts = [admitted.length]
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(setImmediate)
    counts.push(admitted.length)
  }
  t.strictSame(counts, [256, 512, 600, 600])
  t.strictSame(admitted, urls)
  admit(...exchange('/last'))
  t.equal(admitted.at(-1), '/last', 'later requests are admitted at once')
})

t.test('a turn admits no more requests after 5 ms, but at least one', async t => {
  const clock = { now: 0 }
  t.intercept(performance, 'now', { value: () => clock.now })
  const costs = [2, 2, 2, 1, 20, 20, 1]
  let admitted = 0
  const admit = admitRequests(() => { clock.now += costs[admitted++] as number }, { refuse, urgentPaths })
  for (let request = 0; request < costs.length; request++) admit(...exchange())
  const counts = [admitted]
  for (let turn = 0; turn < 3; turn++) {
    await new Promise(setImmediate)
    counts.push(admitted)
  }
  t.strictSame(counts, [3, 5, 6, 7])
})

t.test('a request that has waited longer than maxWaitMs is refused', async t => {
  let admitted = 0
  const refused: string[] = []
  const options = { refuse: ({ url }: IncomingMessage) => refused.push(url as string), urgentPaths, maxWaitMs: 20 }
  const admit = admitRequests(() => admitted++, options)
  for (let index = 0; index < 256; index++) admit(...exchange())
  admit(...exchange('/old'))
  const end = performance.now() + 30
  while (performance.now() < end);
  admit(...exchange('/new'))
  await new Promise(setImmediate)
  t.strictSame(refused, ['/old'])
  t.equal(admitted, 257)
})

t.test('health checks and other requests that wait are begun in turns', async t => {
  t.intercept(performance, 'now', { value: () => 0 })
  const admitted: string[] = []
  const admit = admitRequests(({ url }) => admitted.push(url as string), { refuse, urgentPaths })
  for (let index = 0; index < 1000; index++) admit(...exchange())
  for (let index = 0; index < 1000; index++) admit(...exchange('/livez'))
  t.equal(admitted.includes('/livez'), false, 'the first turn is full')
  await new Promise(setImmediate)
  const turn = admitted.slice(256)
  t.strictSame([turn.length, turn.filter(url => url === '/livez').length, turn[0]], [256, 128, '/livez'])
  while (admitted.length < 2000) await new Promise(setImmediate)
  t.equal(admitted.filter(url => url === '/livez').length, 1000)
})

/** A server that holds each response until the test calls `release`. */
async function startHolding (t: Test, options: Partial<AdmissionOptions> = {}) {
  const held: Array<() => void> = []
  const handle: RequestListener = (request, response) => {
    request.resume().on('end', () => {
      held.push(() => response.writeHead(200, { 'Content-Length': '1' }).end('x'))
    })
  }
  const server = createServer(admitRequests(handle, { refuse, urgentPaths, ...options })).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const waitForHeld = async () => { while (held.length === 0) await new Promise(setImmediate) }
  return { server, held, waitForHeld, open: () => openClient(t, server) }
}

async function openClient (t: Test, server: Server) {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  let received = ''
  socket.setEncoding('latin1').on('data', text => { received += text })
  const [accepted] = await Promise.all([once(server, 'connection') as Promise<[Socket]>, once(socket, 'connect')])
  return { socket, accepted: accepted[0], responses: () => received.split('HTTP/1.1 200').length - 1 }
}

const pipelined = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n${'x'.repeat(100)}`

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
  const limit = 8 * 65_536
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

t.test('one connection may pipeline at will; while its requests wait, others may pipeline only a few', async t => {
  const { held, waitForHeld, open } = await startHolding(t, { maxPipelined: 20 })
  const first = await open()
  first.socket.write(pipelined.repeat(30))
  await waitForHeld()
  const greedy = await open()
  greedy.socket.write(pipelined.repeat(30))
  await once(greedy.socket, 'close')
  const modest = await open()
  modest.socket.write(pipelined.repeat(17))
  while (first.responses() < 30 || modest.responses() < 17) {
    await waitForHeld()
    held.shift()?.()
    await sleep(1)
  }
  const later = await open()
  later.socket.write(pipelined.repeat(30))
  while (later.responses() < 30) {
    await waitForHeld()
    held.shift()?.()
    await sleep(1)
  }
  t.equal(later.responses(), 30, 'the requests of the closed connection wait no longer')
})

t.test('a pipelined health check waits as other requests do', async t => {
  const admitted: string[] = []
  const handle: RequestListener = ({ url }, response) => {
    admitted.push(url as string)
    response.end()
  }
  const server = createServer(admitRequests(handle, { refuse, urgentPaths })).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = await openClient(t, server)
  client.socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000))
  let most = 0
  for (let before = 0; admitted.length < 1000; before = admitted.length) {
    await new Promise(setImmediate)
    most = Math.max(most, admitted.length - before)
  }
  t.ok(most <= 512, `${most} in a turn`)
})

t.test('requests wait no longer on a connection that becomes a tunnel', async t => {
  const { held, waitForHeld, open } = await startHolding(t, { maxPipelined: 30 })
  const gone = await open()
  const closed = once(gone.accepted, 'close')
  gone.socket.write(`${pipelined.repeat(18)}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
  await closed
  const client = await open()
  client.socket.write(pipelined.repeat(19))
  while (client.responses() < 19) {
    await waitForHeld()
    held.shift()?.()
    await sleep(1)
  }
  t.equal(client.responses(), 19)
})
