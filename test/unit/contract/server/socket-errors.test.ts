import { EventEmitter, once } from 'node:events'
import { connect, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { answerClientError } from '../../../../src/contract/server/socket-errors.ts'
import { allPlants } from '../../../../src/plants/plant-store.ts'
import {
  authorization, isError, json, listen, logLines, startApp
} from '../../../fixtures/app.ts'
import { stopClock } from '../../../fixtures/clock.ts'
import { exchange, exchangeOne, request, requestText } from '../../../fixtures/raw.ts'
import { testToken } from '../../../fixtures/secrets.ts'
import { testStore } from '../../../fixtures/store.ts'

const unknownMethod = ' with a known method in capitals'
const fern = '{"id":1,"name":"fern"}'

/** An app whose requests have a minute to arrive, until endRequests() makes it no time at all. */
async function startPatientApp (t: Test) {
  const { app } = await startApp(t, { requestTimeoutMs: { header: 1000, whole: 60_000 } })
  app.server.headersTimeout = 60_000
  const endRequests = () => { Object.assign(app.server, { headersTimeout: 1, requestTimeout: 1 }) }
  return { app, endRequests }
}

t.test('bytes that are not HTTP are answered 400', async t => {
  const { port } = await listen((await startApp(t)).app)
  const post = (...fields: string[]) => requestText('POST /plants', ['Host: x', ...fields], '')
  const first = ': its first line is not "METHOD /path HTTP/1.1" with CRLF'
  const length = ': its Content-Length is no number below 2^64, or is beside a Transfer-Encoding'
  const coding = ': its Transfer-Encoding is not chunked, or not alone'
  const field = ': a header field has an invalid name or value'
  const ending = ': a header field has a CR or LF before the CRLF that ends it'
  const address = ': its address does not begin with /'
  const encoding = ': its address has a character that must be percent-encoded, ' +
    'as those beyond ASCII'
  const malformed: Array<[bytes: string, fault: string]> = [
    ['nonsense\r\n\r\n', unknownMethod],
    ['FETCH /plants HTTP/1.1\r\nHost: x\r\n\r\n', unknownMethod],
    ['POST plants HTTP/1.1\r\nHost: x\r\n\r\n', address],
    ['POST http:/plants HTTP/1.1\r\nHost: x\r\n\r\n', address],
    ['POST /pl\xe4nts HTTP/1.1\r\nHost: x\r\n\r\n', encoding],
    ['POST /plants?\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n', encoding],
    ['POST /plants#\x01 HTTP/1.1\r\nHost: x\r\n\r\n', encoding],
    ['POST http://\xe4/plants HTTP/1.1\r\nHost: x\r\n\r\n', encoding],
    ['POST /a plant HTTP/1.1\r\nHost: x\r\n\r\n', first],
    ['POST /plants HTTP/1.1\nHost: x\n\n', first],
    [post('Content-Length: x'), length],
    [post('Content-Length: 18446744073709551616'), length],
    [post('Transfer-Encoding: chunked', 'Content-Length: 1'), length],
    [post('Content-Length: 1', 'Content-Length: 2'), ': its Content-Length is sent more than once'],
    [post('Content-Length: 1', 'Transfer-Encoding: chunked'), coding],
    [post('secret'), field],
    [post('X: a\0b'), field],
    [post('Authorization: Bearer x\r'), ending],
    [post('X: a\nb'), ending],
    ['POST /plants HTTP/1.1\r\nHost: x\r\n\rX', ending],
    ['POST /plants HTTP/1.1\rHost: x\r\n\r\n', first],
    ['PRI /plants\r\nHost: x\r\n\r\n', '']
  ]
  for (const [bytes, fault] of malformed) {
    const response = await exchangeOne(port, bytes)
    isError(t, response, 400, `This is not an HTTP/1.1 request${fault}.`, bytes)
    t.equal(response.headers.connection, 'close')
  }
})

t.test('a body whose chunks are malformed is answered 400', async t => {
  const { port } = await listen((await startApp(t)).app)
  const fields = [
    'Host: x', `Authorization: ${authorization}`, `Content-Type: ${json}`,
    'Transfer-Encoding: chunked'
  ]
  for (const [chunk, fault] of [
    ['zz\r\n', /: a chunk of its body has an invalid size\.$/],
    ['5\n{"id"', /: a chunk of its body has an invalid size\.$/],
    ['5\r\n{"id":1}\r\n', /: a chunk of its body has another length than its size says\.$/]
  ] as const) {
    isError(t, await exchangeOne(port, requestText('POST /plants', fields, chunk)), 400, fault, chunk)
  }
})

t.test('malformed bytes after valid requests are answered last', async t => {
  const { port } = await listen((await startApp(t)).app)
  const responses = await exchange(
    port, request(fern) + request('{"id":2,"name":"ivy"}') + 'nonsense\r\n\r\n'
  )
  t.strictSame(responses.map(({ statusCode, body }) => [statusCode, body]), [
    [200, '{"name":"fern"}'],
    [200, '{"name":"ivy"}'],
    [400, `{"error":400,"message":"This is not an HTTP/1.1 request${unknownMethod}."}`]
  ])
})

t.test('malformed bytes in many pieces add one error to a pending response', async t => {
  const added = Promise.withResolvers<'added'>()
  const { app } = await startApp(t, { store: testStore({ add: () => added.promise }) })
  const { port } = await listen(app)
  const warnings: string[] = []
  const onWarning = ({ message }: Error) => warnings.push(message)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  const socket = connect(port, '127.0.0.1').setEncoding('latin1').setNoDelay()
  let received = ''
  socket.on('data', text => { received += text }).write(request(fern))
  for (let piece = 0; piece < 20; piece++) {
    await sleep(5)
    socket.write('nonsense\r\n\r\n')
  }
  await sleep(50)
  added.resolve('added')
  await once(socket, 'close')
  t.match(received, /^HTTP\/1\.1 200 OK[^]*\{"name":"fern"\}HTTP\/1\.1 400 Bad Request/)
  t.match(received, /request with a known method in capitals\."\}$/)
  t.strictSame(warnings, [], 'no piece adds a listener')
})

t.test('a client that closes its side after the request gets the response', async t => {
  const { port } = await listen((await startApp(t)).app)
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1')
  let received = ''
  socket.on('data', text => { received += text })
  socket.end(request(fern) + request('{"id":2,"name":"ivy"}'))
  await once(socket, 'end')
  t.match(received, /"name":"fern"[^]*"name":"ivy"/)
  socket.destroy()
})

t.test('a client that resets its connection after CONNECT does not end the service', async t => {
  const { port } = await listen((await startApp(t)).app)
  const connected = requestText('CONNECT plants:80', ['Host: plants']) + 'x'.repeat(100_000)
  for (let attempt = 0; attempt < 50; attempt++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.write(connected)
    await new Promise(setImmediate)
    socket.resetAndDestroy()
  }
  const [response] = await exchange(port, request(fern, ['Connection: close']))
  t.equal(response?.statusCode, 200)
})

t.test('after a reset the client gets no response, and the server closes its socket', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const accepted = once(app.server, 'connection')
  const socket = connect(port, '127.0.0.1')
  const [served] = await accepted
  socket.write('POST /plants HTTP/1.1\r\n', () => socket.resetAndDestroy())
  await new Promise(resolve => served.once('close', resolve))
  t.equal(served.destroyed, true)
})

t.test('a request that is answered before it has arrived gets no second response', async t => {
  const { app, endRequests } = await startPatientApp(t)
  let answered = 0
  app.addHook('onResponse', async () => { if (++answered === cases.length) endRequests() })
  const { port } = await listen(app)
  const partial = ['Host: x', 'Content-Length: 30']
  const cases: Array<[string, number]> = [
    [requestText('POST /plants', ['Host: x', 'Transfer-Encoding: chunked'], 'zz\r\n'), 401],
    [requestText('POST /plants', partial, '{"id"'), 401],
    [requestText('POST /x', partial, '{"id"'), 404],
    [requestText(
      'POST /plants', ['Host: x', 'Expect: nothing', 'Content-Length: 30'], '{"id"'
    ), 417]
  ]
  const exchanges = await Promise.all(cases.map(([bytes]) => exchange(port, bytes)))
  for (const [index, [bytes, status]] of cases.entries()) {
    const responses = exchanges[index] ?? []
    t.strictSame(responses.map(({ statusCode }) => statusCode), [status], bytes)
  }
})

/** Bodies that end badly after the header of a request. */
const badEndings: Array<{ name: string, fields: string[], body: string, ends?: true }> = [
  { name: 'a malformed chunk', fields: ['Transfer-Encoding: chunked'], body: 'ZZ\r\n' },
  { name: 'a malformed trailer', fields: ['Transfer-Encoding: chunked'], body: '0\r\na b\r\n\r\n' },
  {
    name: 'a trailer of 20 KB',
    fields: ['Transfer-Encoding: chunked'],
    body: `0\r\na: ${'x'.repeat(20_000)}\r\n\r\n`
  },
  { name: 'a short body and FIN', fields: ['Content-Length: 10'], body: '{"id"', ends: true },
  { name: 'one byte of ten', fields: ['Content-Length: 10'], body: '{' }
]

t.test('a request whose body ends badly gets one response, and then the end', async t => {
  // On a busy machine a request could wait too long for its turn, and get 503.
  stopClock(t)
  const { app, endRequests } = await startPatientApp(t)
  const { port } = await listen(app)
  const targets: Array<[string, number]> = [
    ['GET /livez', 200], ['HEAD /livez', 200], ['GET /', 302], ['OPTIONS /plants', 204],
    ['GET /docs/json', 200], ['GET /docs/static/swagger-ui.css', 200], ['GET /x', 404]
  ]
  const answering: Array<Promise<unknown>> = []
  const send = async (target: string, { fields, body, ends }: typeof badEndings[0], waits: boolean) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setNoDelay()
    let received = ''
    socket.setEncoding('latin1').on('data', text => { received += text }).on('error', () => {})
    const header = requestText(target, ['Host: x', ...fields])
    answering.push(once(socket, 'data'))
    socket.write(waits ? header : header + body)
    if (waits) {
      await once(socket, 'data')
      socket.write(body)
    }
    if (ends) socket.end()
    await once(socket, 'end')
    socket.destroy()
    return received.match(/HTTP\/1\.1 \d+/g)?.join() ?? ''
  }
  const sending: Array<Promise<void>> = []
  for (const [target, status] of targets) {
    for (const ending of badEndings) {
      for (const waits of [false, true]) {
        const name = `${target}, ${ending.name}${waits ? ' after the response' : ''}`
        const sent = send(target, ending, waits)
        const statuses = waits ? `${status}` : `(${status}|400|431)`
        sending.push(sent.then(found => {
          t.match(found, RegExp(`^HTTP/1.1 ${statuses}$`), name)
        }))
      }
    }
  }
  await Promise.all(answering)
  endRequests()
  await Promise.all(sending)
})

t.test('of what follows the last response a little more than 8 MiB are read', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const header = (target: string, field: string) => requestText(target, ['Host: x', field], '')
  const length = 'Content-Length: 999999999'
  const chunked = 'Transfer-Encoding: chunked'
  const cases: Array<[bytes: string, status: number]> = [
    ['nonsense\r\n\r\n', 400],
    [header('GET /', `X-Long: ${'x'.repeat(17_000)}`), 431],
    [request(fern).replace('Content-Length: 22', length), 413],
    [header('POST /plants', length), 401],
    [header('POST /plants', chunked), 401],
    [header('GET /livez', length), 200],
    [header('GET /livez', 'Upgrade: h2c'), 200],
    [header('GET /livez', chunked) + '0\r\nConnection: close\r\n\r\n', 200]
  ]
  const piece = Buffer.alloc(2 ** 20, 'x')
  const sending = []
  for (const [bytes, status] of cases) {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
    const [served] = await once(app.server, 'connection') as [Socket]
    const closed = once(served, 'close')
    const send = () => { if (socket.writable) socket.write(piece, send) }
    socket.write(bytes, send)
    const [answer] = await once(socket.setEncoding('latin1'), 'data')
    t.match(answer, RegExp(`^HTTP/1.1 ${status} `), bytes.slice(0, 80))
    sending.push(closed.then(() => {
      socket.destroy()
      const { bytesRead } = served
      t.ok(bytesRead > 8e6 && bytesRead < 9e6, `${bytesRead} bytes of ${bytes.slice(0, 80)}`)
    }))
  }
  await Promise.all(sending)
})

t.test('a response breaks off when the body of its request ends badly', async t => {
  const { app } = await startApp(t)
  app.get('/half', (request, reply) => {
    reply.hijack()
    request.raw.resume()
    reply.raw.writeHead(200, { 'content-length': '10' }).write('half')
  })
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1').setEncoding('latin1').on('error', () => {})
  socket.write(requestText('GET /half', ['Host: x', 'Transfer-Encoding: chunked'], '1\r\nx\r\n'))
  let received = ''
  socket.on('data', text => { received += text })
  while (!received.endsWith('half')) await once(socket, 'data')
  socket.write('ZZ\r\n')
  await once(socket, 'close')
  t.match(received, /^HTTP\/1\.1 200 [^]*\r\n\r\nhalf$/)
})

t.test('a connection goes on after a body that nobody reads', async t => {
  const { port } = await listen((await startApp(t)).app)
  const get = requestText('GET /livez', ['Host: x', 'Content-Length: 5'], '12345')
  const responses = await exchange(port, get, get, 'nonsense\r\n\r\n')
  t.strictSame(responses.map(({ statusCode }) => statusCode), [200, 200, 400])
})

t.test('more than 100 header fields, or more than 16 KiB of them, are answered 431', async t => {
  const { port } = await listen((await startApp(t)).app)
  const response = await exchangeOne(port, request(fern, [`X-Long: ${'x'.repeat(17_000)}`]))
  const message = 'There are more than 100 header fields, or they and the address are larger than ' +
    '16384 bytes.'
  isError(t, response, 431, message, 'long header')
  const address = await exchangeOne(port, requestText(`GET /${'x'.repeat(17_000)}`, ['Host: x']))
  isError(t, address, 431, message, 'long address')
  const many = await exchangeOne(port, request(fern, Array(97).fill('a:')))
  isError(t, many, 431, message, 'many fields')
  const most = await exchangeOne(
    port, request(fern, [...Array(95).fill('a:'), 'Connection: close'])
  )
  t.equal(most.statusCode, 200)
})

t.test('an address of more than 2,048 characters is answered 414, with a line in the log', async t => {
  const { log, lines } = logLines()
  const { port } = await listen((await startApp(t, { log })).app)
  const get = (length: number, fields = ['Host: x'], host = '') => {
    return requestText(`GET ${host}/?${'a'.repeat(length - 2)}`, [...fields, 'Connection: close'])
  }
  const long = await exchangeOne(port, get(2049))
  isError(t, long, 414, 'The address of the request is longer than 2048 characters.', 'long')
  t.match(lines.map(line => JSON.parse(line)), [
    { status: 414, id: long.headers['x-request-id'], method: 'GET', path: '/' }
  ])
  for (const host of ['', 'http://x']) {
    t.equal((await exchangeOne(port, get(2048, ['Host: x'], host))).statusCode, 302, host)
  }
  t.equal((await exchangeOne(port, get(2049, []))).statusCode, 400, 'no Host')
  t.equal(lines.length, 2)
})

t.test('a request that does not arrive in time is answered 408', async t => {
  const { app, store } = await startApp(t, { requestTimeoutMs: { header: 200, whole: 400 } })
  const { port } = await listen(app)
  const header = await exchangeOne(port, 'POST /plants HTTP/1.1\r\nHost: x\r\n')
  isError(t, header, 408, 'The header did not arrive within 0.2 s.', 'half a header')
  const body = await exchangeOne(port, request(fern).slice(0, -3))
  const late = 'The request did not arrive within 0.4 s, or its Content-Length is too large.'
  isError(t, body, 408, late, 'half a body')
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

t.test('an HTTP/1.1 request without Host gets 400, an HTTP/1.0 request needs no Host', async t => {
  const { port } = await listen((await startApp(t)).app)
  const withoutHost = (fields: string[] = []) => request(fern, fields).replace(
    'Host: plants\r\n', ''
  )
  const response = await exchangeOne(port, withoutHost(['Connection: close']))
  isError(t, response, 400, 'The request has no Host header field.', 'no Host')
  const { statusCode } = await exchangeOne(port, withoutHost().replace('HTTP/1.1', 'HTTP/1.0'))
  t.equal(statusCode, 200)
})

t.test('an Expect other than 100-continue is answered 417', async t => {
  const { port } = await listen((await startApp(t)).app)
  const response = await exchangeOne(
    port, request(fern, ['Expect: the-unexpected', 'Connection: close'])
  )
  isError(t, response, 417, /100-continue/, 'Expect')
})

t.test('Expect: 100-continue is answered 100, then the request is answered', async t => {
  const { port } = await listen((await startApp(t)).app)
  const responses = await exchange(
    port, request(fern, ['Expect: 100-continue', 'Connection: close'])
  )
  t.strictSame(responses.map(({ statusCode }) => statusCode), [100, 200])
})

t.test('CONNECT is answered 405 with an empty Allow', async t => {
  const { port } = await listen((await startApp(t)).app)
  const response = await exchangeOne(
    port, requestText('CONNECT example.com:443', ['Host: example.com'])
  )
  isError(t, response, 405, /is not a proxy/, 'CONNECT')
  t.equal(response.headers.allow, '')
})

t.test('CONNECT behind a large response is answered after it', async t => {
  const { port } = await listen((await startApp(t)).app)
  const page = requestText('GET /docs/static/swagger-ui-bundle.js', ['Host: x'], '')
  const [file, refusal] = await exchange(port, page + requestText('CONNECT x:1', ['Host: x'], ''))
  t.equal(file?.body.length, Number(file?.headers['content-length']))
  t.equal(refusal?.statusCode, 405)
})

t.test('CONNECT behind an unread response: the connection and the shutdown end', async t => {
  const requestTimeoutMs = { header: 300, whole: 300 }
  const { app } = await startApp(t, { requestTimeoutMs, responseTimeoutMs: 200 })
  const { port } = await listen(app)
  const open = async () => {
    const accepted = once(app.server, 'connection')
    const socket = connect(port, '127.0.0.1').on('error', () => {}).pause()
    t.teardown(() => socket.destroy())
    const page = requestText('GET /docs/static/swagger-ui-bundle.js', ['Host: x'], '')
    socket.write(page.repeat(4) + requestText('CONNECT x:1', ['Host: x'], ''))
    return (await accepted)[0]
  }
  const served = await open()
  await new Promise(resolve => served.once('close', resolve))
  t.equal(served.destroyed, true)
  await open()
  await sleep(100)
  await app.close()
})

t.test('a body shorter than its Content-Length is 400 at level info, and not stored', async t => {
  const { log, lines } = logLines()
  const { app, store, post } = await startApp(t, { log })
  const response = await post(fern, { 'content-length': '23' })
  isError(
    t, response, 400, 'The length of the body does not match Content-Length.', '22 bytes of 23'
  )
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1')
  socket.end(request(fern).replace('Content-Length: 22', 'Content-Length: 23'))
  socket.resume()
  await once(socket, 'close')
  while (lines.length < 2) await new Promise(setImmediate)
  t.match(
    lines.map(line => JSON.parse(line)), [{ level: 30, status: 400 }, { level: 30, status: 400 }]
  )
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

t.test('HEAD gets no body and others do, whatever the bytes of a body look like', async t => {
  const { port } = await listen((await startApp(t)).app)
  const chunked = ['Host: x', 'Transfer-Encoding: chunked']
  const credentials = [`Authorization: ${authorization}`, `Content-Type: ${json}`]
  const misleading = '9\r\n\r\n\r\nHEAD \r\nzz\r\n'
  const get = requestText('GET /livez', ['Host: x', 'Content-Length: 4'], '\r\n\r\n')
  const ask = (target: string, fields = ['Host: x'], body = '') => requestText(target, fields, body)
  const cases: Array<[name: string, bytes: string, body: RegExp]> = [
    ['HEAD', ask('HEAD /x', chunked, 'zz\r\n'), /^$/],
    ['a body like HEAD', ask('POST /plants', [...chunked, ...credentials], misleading), /^\{.*\}$/],
    ['after a body like HEAD', `${get}HEAD x y\r\n\r\n`, /^\{.*\}$/],
    ['after GET', `${ask('GET /livez')}HEAD x y\r\n\r\n`, /^$/]
  ]
  for (const [name, bytes, body] of cases) {
    const socket = connect(port, '127.0.0.1').end(bytes)
    let received = ''
    for await (const piece of socket) received += piece
    const last = received.slice(received.lastIndexOf('HTTP/1.1 4'))
    t.match(last, /^HTTP\/1\.1 40[04] /, name)
    t.match(last.slice(last.indexOf('\r\n\r\n') + 4), body, name)
  }
})

t.test('malformed bytes that get no response have one line in the log', async t => {
  const added = Promise.withResolvers<'added'>()
  const adding = Promise.withResolvers<void>()
  const add = () => {
    adding.resolve()
    return added.promise
  }
  const { log, lines } = logLines()
  const { app } = await startApp(t, { log, store: testStore({ add }) })
  const { port } = await listen(app)
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1')
  let received = ''
  socket.on('data', text => { received += text })
  socket.end(`${request(fern)}nonsense\r\n\r\n`)
  await adding.promise
  await sleep(50)
  added.resolve('added')
  await once(socket, 'end')
  socket.destroy()
  t.match(received, /^HTTP\/1\.1 200 [^]*"fern"\}$/)
  t.match(lines.map(line => JSON.parse(line)), [{ status: 400, msg: /a known method/ }])
  t.equal(lines.length, 1)
})

t.test('a client that leaves has no line in the log, nor have bytes after its last request', async t => {
  const added = Promise.withResolvers<'added'>()
  const { log, lines } = logLines()
  const { app } = await startApp(t, { log, store: testStore({ add: () => added.promise }) })
  const { port } = await listen(app)
  const served: Socket[] = []
  app.server.on('connection', socket => served.push(socket))
  const leaves = connect(port, '127.0.0.1')
  leaves.write(request(fern), () => setTimeout(() => leaves.resetAndDestroy(), 50))
  const idle = connect(port, '127.0.0.1')
  idle.write('POST /plants HTTP/1.1\r\n', () => setTimeout(() => idle.resetAndDestroy(), 50))
  const last = exchange(port, request(fern, ['Connection: close']), 'nonsense\r\n\r\n')
  await sleep(150)
  added.resolve('added')
  t.equal((await last).length, 1)
  while (served.some(({ destroyed }) => !destroyed)) await sleep(5)
  t.equal(served.length, 3)
  t.strictSame(lines, [])
})

t.test('Connection: close in a trailer ends the connection after the response', async t => {
  const { log, lines } = logLines()
  const { app } = await startApp(t, { log })
  const { port } = await listen(app)
  const next = requestText('GET /livez', ['Host: x'])
  const chunk = `${fern.length.toString(16)}\r\n${fern}\r\n0\r\nConnection: close\r\n\r\n`
  const credentials = [`Authorization: Bearer ${testToken}`, 'Content-Type: application/json']
  for (const [target, fields] of [['GET /livez', []], ['POST /plants', credentials]] as const) {
    const first = requestText(target, ['Host: x', 'Transfer-Encoding: chunked', ...fields], chunk)
    const responses = await exchange(port, first, next)
    t.strictSame(responses.map(({ statusCode }) => statusCode), [200])
  }
  t.strictSame(lines, [])
})

t.test('pieces after the request that closes the connection add one listener to its response', async t => {
  const response = new EventEmitter()
  const socket = Object.assign(new Socket(), { _httpMessage: response })
  const error = Object.assign(new Error(), { code: 'HPE_CLOSED_CONNECTION' })
  for (let piece = 0; piece < 20; piece++) answerClientError(null as never, error, socket as never)
  t.equal(response.listenerCount('finish'), 1)
  socket.destroy()
})

t.test('a request that waits gets the error of its framing, also when its body is malformed', async t => {
  const { port } = await listen((await startApp(t)).app)
  const first = requestText('GET /docs/json', ['Host: x'])
  const fields = ['Host: x', 'Transfer-Encoding: gzip', 'X-Request-Id: second']
  const [, second] = await exchange(port, first + requestText('POST /plants', fields))
  isError(t, second as never, 501, 'The only Transfer-Encoding that the service supports is chunked.', 'second')
  t.equal(second?.headers['x-request-id'], 'second')
})

t.test('a large response before Upgrade arrives whole, although more bytes follow', async t => {
  const { port } = await listen((await startApp(t)).app)
  const large = requestText('GET /docs/static/swagger-ui-bundle.js', ['Host: x'])
  const upgrade = requestText('GET /livez', ['Host: x', 'Connection: Upgrade', 'Upgrade: x'])
  const socket = connect(port, '127.0.0.1')
  socket.write(large + upgrade)
  await sleep(50)
  socket.write(requestText('GET /livez', ['Host: x']))
  await sleep(50)
  let received = 0
  for await (const piece of socket) received += piece.length
  const { headers } = await exchangeOne(port, requestText('HEAD /docs/static/swagger-ui-bundle.js', ['Host: x', 'Connection: close']))
  t.ok(received > Number(headers['content-length']), `${received} bytes`)
})

t.test('the log has the address of a caller who has closed the connection', async t => {
  const { log, lines } = logLines('debug')
  const { app } = await startApp(t, { log })
  app.addHook('onSend', async ({ raw: { socket } }, reply) => {
    reply.raw.prependListener('finish', () => socket.destroy())
  })
  const { port } = await listen(app)
  connect(port, '127.0.0.1').write(requestText('GET /livez', ['Host: x']))
  const find = () => lines.find(line => line.includes('response sent'))
  while (find() === undefined) await sleep(1)
  t.match(find(), '"address":"127.0.0.1"')
})

t.test('a connection that ended before its address was read has none in the log', t => {
  const ips: string[] = []
  const socket = new Socket()
  t.teardown(() => socket.destroy())
  const errorBody = (error: number, message: string) => ({ error, message })
  answerClientError({ errorBody, log: (_error, { ip }) => ips.push(ip) }, new Error('reset'), socket)
  t.strictSame(ips, [''])
  t.end()
})
