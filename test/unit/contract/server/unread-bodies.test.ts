import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listen, startApp } from '../../../fixtures/app.ts'
import { exchange, request, requestText } from '../../../fixtures/raw.ts'
import { testToken } from '../../../fixtures/secrets.ts'

const plant = '{"id":1,"name":"fern"}'
const chunked = ['Host: x', 'Content-Type: application/json', 'Transfer-Encoding: chunked']
const tiny = (text: string) => [...text].map(character => `1\r\n${character}\r\n`).join('')

/** Counts the pieces of bodies that Node's parser finds from now on. */
function countPieces (server: Server): () => number {
  let pieces = 0
  server.prependListener('request', (request: IncomingMessage) => {
    const push = request.push.bind(request)
    request.push = piece => {
      if (piece !== null) pieces++
      return push(piece)
    }
  })
  return () => pieces
}

t.test('chunks that arrive after the response are read, but not parsed', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const count = countPieces(app.server)
  for (const [target, status] of [
    ['POST /plants', 401], ['GET /livez', 200], ['GET /docs/json', 200], ['PUT /plants', 405],
    ['GET /nothing', 404]
  ] as const) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1')
    const [accepted] = await once(app.server, 'connection') as [Socket]
    let received = ''
    socket.on('data', text => { received += text })
    socket.write(requestText(target, chunked))
    await once(socket, 'end')
    t.match(received, new RegExp(`^HTTP/1.1 ${status} .*connection: close\r\n`, 'is'), target)
    t.equal(received.split('HTTP/1.1 ').length, 2, 'one response')
    socket.end(`${tiny('x'.repeat(50_000))}0\r\n\r\n${request(plant)}`)
    await once(accepted, 'close')
    t.ok(accepted.bytesRead > 300_000, 'a reset could destroy the response')
  }
  t.equal(count(), 0)
})

t.test('chunks are not parsed while the request waits', async t => {
  const { app } = await startApp(t)
  const arrived = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  app.get('/slow', async () => {
    arrived.resolve()
    await waiting.promise
    return 'done'
  })
  const { port } = await listen(app)
  const count = countPieces(app.server)
  const socket = connect(port, '127.0.0.1')
  socket.write(requestText('GET /slow', chunked, ''))
  await arrived.promise
  socket.write(tiny('x'.repeat(5000)))
  await sleep(50)
  waiting.resolve()
  socket.resume()
  await once(socket, 'close')
  t.equal(count(), 0)
})

t.test('a chunked body that is read may be followed by other requests', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const fields = [...chunked, `Authorization: Bearer ${testToken}`]
  const post = requestText('POST /plants', fields, `${tiny(plant)}0\r\n\r\n`)
  const split = [post.slice(0, 60), post.slice(60, 200), post.slice(200)]
  const last = requestText('GET /livez', ['Host: x', 'Connection: close', '', ''])
  const responses = await exchange(port, post + post, ...split, post + last)
  t.strictSame(responses.map(({ statusCode }) => statusCode), [200, 200, 200, 200, 200])
})

t.test('an unread chunked body that came with its header may be followed by a request', async t => {
  const { app } = await startApp(t)
  app.get('/slow', () => sleep(20, 'done'))
  const { port } = await listen(app)
  const whole = requestText('GET /slow', chunked, `${tiny('x')}0\r\n\r\n`)
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.write(whole)
  t.match(await once(socket, 'data'), /HTTP.1.1 200 .*connection: keep-alive/is)
  socket.write(requestText('GET /livez', ['Host: x', 'Connection: close', '', '']))
  t.match(await once(socket, 'data'), /HTTP.1.1 200 .*connection: close/is)
})
