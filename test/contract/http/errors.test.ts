import { once } from 'node:events'
import { connect } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import { allPlants } from '../../../src/plants/plant-store.ts'
import { answerErrors } from '../../../src/contract/http/errors.ts'
import { isError, listen, logLines, startApp, testReporter } from '../../fixtures/app.ts'
import { exchange, request } from '../../fixtures/raw.ts'
import { testStore } from '../../fixtures/store.ts'

const fern = '{"id":1,"name":"fern"}'

t.test('bytes that are not HTTP are answered 400', async t => {
  const { port } = await listen((await startApp(t)).app)
  for (const bytes of ['nonsense\r\n\r\n', 'FETCH /plants HTTP/1.1\r\nHost: x\r\n\r\n', 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n']) {
    const [answer] = await exchange(port, bytes)
    t.ok(answer, bytes)
    if (answer !== undefined) {
      isError(t, answer, 400, 'This is not an HTTP/1.1 request.', bytes)
      t.equal(answer.headers.connection, 'close')
    }
  }
})

t.test('a body whose chunks are malformed is answered 400', async t => {
  const { port } = await listen((await startApp(t)).app)
  const [answer] = await exchange(port, 'POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a-good-token\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')
  isError(t, answer as never, 400, /./, 'chunks')
})

t.test('bytes after a good request are answered after it', async t => {
  const { port } = await listen((await startApp(t)).app)
  const answers = await exchange(port, request(fern) + request('{"id":2,"name":"ivy"}') + 'nonsense\r\n\r\n')
  t.strictSame(answers.map(({ statusCode, body }) => [statusCode, body]), [
    [200, '{"name":"fern"}'],
    [200, '{"name":"ivy"}'],
    [400, '{"error":400,"message":"This is not an HTTP/1.1 request."}']
  ])
})

t.test('a client that breaks off is not answered, and leaves nothing behind', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const accepted = once(app.server, 'connection')
  const socket = connect(port, '127.0.0.1')
  const [served] = await accepted
  socket.write('POST /plants HTTP/1.1\r\n', () => socket.resetAndDestroy())
  await new Promise(resolve => served.once('close', resolve))
  t.equal(served.destroyed, true)
})

t.test('a request that was answered before it arrived gets no second answer', async t => {
  const { port } = await listen((await startApp(t, { arriveWithinMs: { header: 200, whole: 300 } })).app)
  const stranger = 'POST /plants HTTP/1.1\r\nHost: x\r\n'
  const cases: Array<[string, number]> = [
    [`${stranger}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 401],
    [`${stranger}Content-Length: 30\r\n\r\n{"id"`, 401],
    [`${stranger.replace('plants', 'x')}Content-Length: 30\r\n\r\n{"id"`, 404],
    [`${stranger}Expect: nothing\r\nContent-Length: 30\r\n\r\n{"id"`, 417]
  ]
  for (const [bytes, status] of cases) t.strictSame((await exchange(port, bytes)).map(({ statusCode }) => statusCode), [status], bytes)
})

t.test('header fields over 16 KiB are answered 431', async t => {
  const { port } = await listen((await startApp(t)).app)
  const [answer] = await exchange(port, request(fern, [`X-Long: ${'x'.repeat(17_000)}`]))
  isError(t, answer as never, 431, 'The header fields are larger than 16384 bytes.', 'long header')
})

t.test('a request that does not arrive in time is answered 408', async t => {
  const { app, store } = await startApp(t, { arriveWithinMs: { header: 200, whole: 400 } })
  const { port } = await listen(app)
  const [head] = await exchange(port, 'POST /plants HTTP/1.1\r\nHost: x\r\n')
  isError(t, head as never, 408, 'The request did not arrive in time.', 'half a head')
  const [body] = await exchange(port, request(fern).slice(0, -3))
  isError(t, body as never, 408, 'The request did not arrive in time.', 'half a body')
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

t.test('a request without Host is answered 400, but HTTP/1.0 needs none', async t => {
  const { port } = await listen((await startApp(t)).app)
  const [answer] = await exchange(port, request(fern, ['Connection: close']).replace('Host: plants\r\n', ''))
  isError(t, answer as never, 400, 'The request has no Host header field.', 'no Host')
  const [old] = await exchange(port, request(fern).replace('Host: plants\r\n', '').replace('HTTP/1.1', 'HTTP/1.0'))
  t.equal(old?.statusCode, 200)
})

t.test('an expectation other than 100-continue is answered 417', async t => {
  const { port } = await listen((await startApp(t)).app)
  const [answer] = await exchange(port, request(fern, ['Expect: the-unexpected', 'Connection: close']))
  isError(t, answer as never, 417, /100-continue/, 'Expect')
})

t.test('100-continue is met', async t => {
  const { port } = await listen((await startApp(t)).app)
  const answers = await exchange(port, request(fern, ['Expect: 100-continue', 'Connection: close']))
  t.strictSame(answers.map(({ statusCode }) => statusCode), [100, 200])
})

t.test('CONNECT is answered 405 with Allow', async t => {
  const { port } = await listen((await startApp(t)).app)
  const [answer] = await exchange(port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n')
  isError(t, answer as never, 405, /no proxy/, 'CONNECT')
  t.equal(answer?.headers.allow, '')
})

t.test('an address that cannot be decoded is answered 400', async t => {
  const { app } = await startApp(t)
  for (const url of ['/%zz', '/plants%', '/%ff%fe']) isError(t, await app.inject({ method: 'POST', url }), 400, 'The address of the request cannot be decoded.', url)
})

t.test('a body shorter than Content-Length says is not stored, and no failure of the service', async t => {
  const { log, lines } = logLines()
  const { app, store, post } = await startApp(t, { log })
  isError(t, await post(fern, { 'content-length': '23' }), 400, 'The body is not as long as Content-Length says.', '23 for 22')
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1')
  socket.end(request(fern).replace('Content-Length: 22', 'Content-Length: 23'))
  socket.resume()
  await once(socket, 'close')
  while (lines.length < 2) await new Promise(setImmediate)
  t.match(lines.map(line => JSON.parse(line)), [{ level: 30, status: 400 }, { level: 30, status: 400 }])
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

t.test('a stranger with a large body is answered without the body being kept', async t => {
  const { port } = await listen((await startApp(t)).app)
  const body = `{"id":1,"name":"${'x'.repeat(1e6)}"}`
  const [answer] = await exchange(port, request(body, ['Connection: close']).replace('Bearer a-good-token', 'Bearer bad'))
  t.equal(answer?.statusCode, 401)
})

t.test('a failure is answered 500 without its reason, which is in the log with the request', async t => {
  const { log, lines } = logLines()
  const { app } = await startApp(t, {
    log,
    store: testStore({ add: () => Promise.reject(new Error('the disk told a secret')) })
  })
  const response = await app.inject({ method: 'POST', url: '/plants?access_token=hidden', headers: { authorization: 'Bearer a-good-token', 'content-type': 'application/json' }, payload: fern })
  isError(t, response, 500, /^The service failed; its log says why\.$/, '500')
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] as string), { level: 50, method: 'POST', path: '/plants', status: 500, id: String, err: { message: 'the disk told a secret' } })
  await app.inject({ method: 'POST', url: '/plants' })
  t.match(JSON.parse(lines[1] as string), { level: 30, status: 401 })
  t.notMatch(lines.join(''), /hidden|a-good-token/, 'neither query nor token is in the log')
})

t.test('what goes wrong in Fastify itself is a failure, told in the log alone', async t => {
  const { log, lines } = logLines()
  const app = fastify()
  t.teardown(() => app.close())
  answerErrors(app, testReporter(log))
  app.get('/', () => { throw new Error('a secret') })
  isError(t, await app.inject('/'), 500, 'The service failed; its log says why.', 'failure')
  t.match(JSON.parse(lines[0] as string), { err: { message: 'a secret' } })
})
