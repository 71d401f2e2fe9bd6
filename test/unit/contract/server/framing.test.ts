// No byte of a refused request is ever read as the next request. Clients here send what has tricked
// proxies.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { allPlants, type PlantStore } from '../../../../src/plants/plant-store.ts'
import {
  authorization, isError, json, listen, logLines, startApp
} from '../../../fixtures/app.ts'
import { startLoopClock } from '../../../fixtures/clock.ts'
import { exchange, exchangeOne, request, requestText } from '../../../fixtures/raw.ts'

const fern = '{"id":1,"name":"fern"}'
const fields = ['Host: x', `Authorization: ${authorization}`, `Content-Type: ${json}`]
const stored = async (store: PlantStore) => (await Array.fromAsync(allPlants(store))).length

/** Sends a header and, after a response, a body that is a valid request. Returns all responses. */
async function continueAfterResponse (port: number, header: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1').on('error', () => {})
  let received = ''
  socket.on('data', text => { received += text })
  socket.write(header)
  await once(socket, 'data')
  socket.write(request(fern))
  await once(socket, 'close')
  return received
}

t.test('an error before the body means no 100, and the body is not read as a request', async t => {
  const { app, store } = await startApp(t, { bodyLimit: 1000 })
  const { port } = await listen(app)
  const expecting = ['Expect: 100-continue', `Content-Length: ${request(fern).length}`]
  const cases: Array<[number, string, string[]]> = [
    [401, 'POST /plants', ['Host: x', ...expecting]],
    [401, 'POST /plants', [
      'Host: x', 'Authorization: Bearer another', `Content-Type: ${json}`, ...expecting
    ]],
    [415, 'POST /plants', [...fields.slice(0, 2), 'Content-Type: text/plain', ...expecting]],
    [413, 'POST /plants', [...fields, 'Expect: 100-continue', 'Content-Length: 1001']],
    [404, 'POST /nothing', [...fields, ...expecting]],
    [405, 'PUT /plants', [...fields, ...expecting]],
    [400, 'POST /%zz', [...fields, ...expecting]],
    [400, 'POST /plants', ['Host: a b', ...fields.slice(1), ...expecting]],
    [417, 'POST /plants', [...fields, 'Expect: 100-continue, foo', 'Content-Length: 22']],
    [417, 'POST /plants', [...fields, 'Expect: the-unexpected', 'Content-Length: 22']]
  ]
  for (const [status, target, header] of cases) {
    const name = `${status} to ${target}, ${header.at(-2)}`
    const text = requestText(target, header)
    const [response, ...more] = await exchange(port, text + request(fern))
    isError(t, response as NonNullable<typeof response>, status, /./, name)
    t.equal(response?.headers.connection, 'close', name)
    t.strictSame(more, [], `${name}, with its body`)
    const received = await continueAfterResponse(port, text)
    const statusLines = received.match(/HTTP\/1\.1 \d+/g)?.join()
    t.equal(statusLines, `HTTP/1.1 ${status}`, `${name}, with a body after the response`)
  }
  t.equal(await stored(store), 0)
})

t.test('a body may wait for 100 Continue, and a request without a body gets none', async t => {
  const { port } = await listen((await startApp(t)).app)
  for (const expectation of ['100-continue', '100-CONTINUE']) {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    const header = [...fields, `Expect: ${expectation}`, 'Content-Length: 22', 'Connection: close']
    socket.write(requestText('POST /plants', header))
    t.equal((await once(socket, 'data'))[0], 'HTTP/1.1 100 Continue\r\n\r\n')
    socket.write(fern)
    t.match((await once(socket, 'data'))[0], /^HTTP\/1\.1 200 OK[^]*"fern"/)
    await once(socket, 'close')
  }
  const ready = await exchange(port, requestText('GET /livez', ['Host: x', 'Expect: 100-continue']))
  t.strictSame(ready.map(({ statusCode }) => statusCode), [200])
  const old = request(fern, ['Expect: 100-continue']).replace('HTTP/1.1', 'HTTP/1.0')
  t.strictSame(
    (await exchange(port, old)).map(({ statusCode }) => statusCode), [200], 'HTTP/1.0 has no 100'
  )
})

t.test('a body whose end is uncertain is refused, and the connection is closed', async t => {
  const { app, store } = await startApp(t)
  const { port } = await listen(app)
  const chunked = `16\r\n${fern}\r\n0\r\n\r\n`
  const cases: Array<[number, string[]]> = [
    [501, ['Transfer-Encoding: gzip, chunked']],
    [501, ['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked']],
    [501, ['Transfer-Encoding: identity']],
    [501, ['Transfer-Encoding: chunked;q=1']],
    [400, ['Transfer-Encoding: chunked, chunked']],
    [400, ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    [400, ['Transfer-Encoding: chunked, gzip']],
    [400, ['Transfer-Encoding:', 'Content-Length: 22']],
    [400, ['Transfer-Encoding: chunked', 'Content-Length: 22']],
    [400, ['Content-Length: 22', 'Transfer-Encoding: chunked']],
    [400, ['Content-Length: 22', 'Content-Length: 23']],
    [400, ['Content-Length: 22, 22']],
    [400, ['Content-Length: +22']],
    [400, ['Transfer-Encoding : chunked']]
  ]
  for (const [status, framing] of cases) {
    for (const path of ['/plants', '/%zz']) {
      const name = `${framing.join(' and ')} for ${path}`
      const text = requestText(`POST ${path}`, [...fields, ...framing], chunked)
      const [response, ...more] = await exchange(port, text + request(fern))
      isError(t, response as NonNullable<typeof response>, status, /./, name)
      t.equal(response?.headers.connection, 'close', name)
      t.strictSame(more, [], name)
    }
  }
  const old = requestText('POST /plants', [...fields, 'Transfer-Encoding: chunked'], chunked)
  const toOld = await exchangeOne(port, old.replace('HTTP/1.1', 'HTTP/1.0'))
  isError(t, toOld, 400, 'HTTP/1.0 has no Transfer-Encoding.', 'HTTP/1.0')
  t.equal(await stored(store), 0)
  for (const coding of ['chunked', 'Chunked']) {
    const header = [...fields, `Transfer-Encoding: ${coding}`, 'Connection: close']
    const { statusCode } = await exchangeOne(port, requestText('POST /plants', header, chunked))
    t.equal(statusCode, 200, coding)
  }
})

t.test('other versions than HTTP/1.0 and 1.1 get 505, and no later byte is a request', async t => {
  const { app, store } = await startApp(t)
  const { port } = await listen(app)
  for (const version of ['0.9', '2.0']) {
    for (const path of ['/plants', '/livez', '/%zz']) {
      const text = request(fern).replace('/plants HTTP/1.1', `${path} HTTP/${version}`)
      const [response, ...more] = await exchange(port, text + request(fern))
      const sent = response as NonNullable<typeof response>
      isError(t, sent, 505, 'The service supports HTTP/1.1 and HTTP/1.0.', version)
      t.strictSame(more, [])
    }
  }
  // The preface of HTTP/2 with an empty SETTINGS frame.
  const preface = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04${'\0'.repeat(5)}`
  const sent = await exchangeOne(port, preface)
  isError(t, sent, 505, 'The service supports HTTP/1.1 and HTTP/1.0.', 'HTTP/2')
  t.equal(sent.headers.connection, 'close')
  t.equal(await stored(store), 0)
})

t.test('a request after a response with Connection: close is not processed', async t => {
  const { app, store } = await startApp(t)
  const { port } = await listen(app)
  const refused = requestText(
    'POST /plants', [...fields, 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'
  )
  t.equal((await exchange(port, refused + request(fern).repeat(3))).length, 1)
  // The second request arrives after the first response.
  const elapsed = startLoopClock(t)
  t.equal((await continueAfterResponse(port, refused)).match(/HTTP/g)?.length, 1)
  t.ok(elapsed() < 1000, 'it ends the connection')
  t.equal(await stored(store), 0)
})

t.test('a client that goes on after its last response is ignored, and disconnected', async t => {
  const { app, store } = await startApp(t)
  const { port } = await listen(app)
  for (const close of ['Connection: close', 'Upgrade: h2c']) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {}).resume()
    t.teardown(() => socket.destroy())
    const [accepted] = await once(app.server, 'connection') as [Socket]
    socket.write(requestText('GET /nothing', ['Host: x', close, '', '']))
    await once(socket, 'end')
    socket.write(request(fern).repeat(20_000))
    await once(accepted, 'close')
    t.equal(await stored(store), 0)
  }
})

t.test('Upgrade is ignored and ends the connection, because Node drops bytes after it', async t => {
  const { app, store } = await startApp(t)
  const { port } = await listen(app)
  for (const protocol of ['websocket', 'h2c']) {
    const upgrade = requestText(
      'GET /livez', ['Host: x', 'Connection: Upgrade', `Upgrade: ${protocol}`, '', '']
    )
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    let received = ''
    socket.on('data', text => { received += text }).on('error', () => {})
    const smuggled = request(fern)
    socket.write(upgrade + requestText(
      'POST /plants', [...fields, `Content-Length: ${smuggled.length}`, '', '']
    ))
    await once(socket, 'data')
    socket.write(smuggled)
    await once(socket, 'close')
    t.equal(received.match(/HTTP\/1\.1/g)?.length, 1, protocol)
    t.match(received, /^HTTP\/1\.1 200 .*connection: close\r\n/is)
    t.equal(await stored(store), 0)
  }
})

t.test('a client that sends the whole of a refused body first still gets the response', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  for (const expectation of [[], ['Expect: 100-continue']]) {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1').pause()
    const length = 8_000_000
    socket.write(
      requestText('POST /plants', [...fields, ...expectation, `Content-Length: ${length}`])
    )
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject).write('x'.repeat(length), () => resolve())
    })
    let received = ''
    socket.on('data', text => { received += text }).resume()
    await once(socket, 'close')
    t.match(received, /^HTTP\/1\.1 413 [^]*connection: close[^]*"error":413/)
  }
})

t.test('a client that stops in the middle of a refused body is disconnected', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const accepted = once(app.server, 'connection')
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => {}).resume()
  const [served] = await accepted
  const elapsed = startLoopClock(t)
  const began = performance.now()
  socket.write(requestText('POST /plants', [...fields, 'Content-Length: 100000']))
  await once(served, 'close')
  t.ok(performance.now() - began > 1900, 'it had time to read the response')
  t.ok(elapsed() < 4000, `after ${elapsed()} ms`)
  socket.destroy()
})

t.test('Host is a name or an address with an optional port; anything else gets 400', async t => {
  const { port } = await listen((await startApp(t)).app)
  const statusOf = async (target: string, host: string) => {
    return exchangeOne(port, requestText(target, [`Host:${host}`, 'Connection: close']))
  }
  const valid = [
    '', ' ', 'plants.example', 'plants.example:3000', 'plants.example:', ':80', 'PLANTS_1',
    '127.0.0.1:80', '[::1]',
    '[::1]:3000', '[2001:db8::192.0.2.1]', '[v1.fe:a]', 'pl%61nts', "a!$&'()*+,;=~"
  ]
  for (const host of valid) t.equal((await statusOf('GET /livez', host)).statusCode, 200, host)
  const invalid = [
    'a@b', 'a@b/c d', 'a b', 'a/b', 'a?b', 'a#b', 'a\\b', '[::1', '::1', '[]', '[::1]x',
    '[1.2.3.4]', '[::1%25lo]',
    '[::1%lo]', '[v.a]', 'a:b', 'a:80:80', 'a%zz', 'a%', 'http://a', '<a>', 'a\xe9', '"a"', 'a\tb'
  ]
  const message = 'The Host header field is not a host name or address with an optional port.'
  for (const host of invalid) isError(t, await statusOf('GET /livez', host), 400, message, host)
})

t.test('an address in absolute form names a host without a user', async t => {
  const { log, lines } = logLines()
  const { port } = await listen((await startApp(t, { log })).app)
  const ask = (target: string) => exchangeOne(
    port, requestText(`GET ${target}`, ['Host: x', 'Connection: close'])
  )
  for (const target of ['http://a/livez', 'HTTPS://[::1]:80/livez']) {
    t.equal((await ask(target)).statusCode, 200, target)
  }
  for (const authority of ['a@b', '', ':80', '[::1', 'a%']) {
    const target = `http://${authority}/livez`
    isError(t, await ask(target), 400, 'The address of the request has no valid host.', target)
  }
  for (const target of ['http://a', 'http://a?x=/livez']) {
    t.equal((await ask(target)).statusCode, 302, `${target} has the path /`)
  }
  const other = 'The address of the request is neither a path nor one of HTTP.'
  isError(t, await ask('ftp://user:secret@a/livez'), 400, other, 'another scheme')
  t.notMatch(lines.join('\n'), 'secret')
})

t.test('an error for HEAD has no body, also before routing', async t => {
  const { port } = await listen((await startApp(t)).app)
  for (const target of ['HEAD /%zz', 'HEAD /\x01', 'HEAD /nothing', 'HEAD /plants']) {
    const response = await exchangeOne(port, requestText(target, ['Host: x', 'Connection: close']))
    t.ok(Number(response.headers['content-length']) > 0, target)
    t.equal(response.body, '', target)
  }
  const inTarget = await exchangeOne(port, requestText('GET /\x01', ['Host: x']))
  isError(t, inTarget, 400, /./, 'GET')
  const known = requestText('OPTIONS /plants', ['Host: x'])
  const [, afterHead] = await exchange(port, `${known}${requestText('HEAD /\x01', ['Host: x'])}`)
  t.ok(Number(afterHead?.headers['content-length']) > 0)
  t.equal(afterHead?.body, '', 'the second request of a packet')
})

t.test('bytes that are not HTTP behind HEAD get an error with its body', async t => {
  const { port } = await listen((await startApp(t)).app)
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let received = ''
  socket.on('data', text => { received += text })
  socket.write(`${requestText('HEAD /livez', ['Host: x'])}garbage\r\n\r\n`)
  await once(socket, 'end')
  t.match(received, /^HTTP\/1\.1 200 .*\r\nHTTP\/1\.1 400 .*\r\n\r\n\{"error":400,.*\}$/s)
})
