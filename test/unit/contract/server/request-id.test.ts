import t from 'tap'
import { requestId } from '../../../../src/contract/server/request-id.ts'
import { traceIds } from '../../../../src/telemetry/request-log.ts'
import { StoreUnavailable } from '../../../../src/plants/plant-store.ts'
import { authorization, json, listen, logLines, startApp } from '../../../fixtures/app.ts'
import { exchange, request, requestText } from '../../../fixtures/raw.ts'
import { testStore } from '../../../fixtures/store.ts'

const fern = '{"id":1,"name":"fern"}'
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const fields = [
  'Host: x', `Authorization: ${authorization}`, `Content-Type: ${json}`, 'Connection: close'
]

t.test('every response has the id of its request, and a line of the log has the same', async t => {
  const { log, lines } = logLines('debug')
  const store = testStore()
  const outages: Array<() => Promise<never>> = [
    () => Promise.reject(new StoreUnavailable('The plant could not be stored.')),
    () => Promise.reject(new Error('a mistake in the store')),
    () => new Promise(() => {})
  ]
  const { app } = await startApp(t, {
    log,
    bodyLimit: 100,
    rateLimit: 8,
    responseTimeoutMs: 100,
    requestTimeoutMs: { header: 300, whole: 300 },
    store: { ...store, add: plant => outages[Number(plant.id) - 100]?.() ?? store.add(plant) }
  })
  const { port } = await listen(app)
  const post = (body: string) => request(body, ['Connection: close'])
  const typeAgain = 'Content-Type: text/plain'
  const doors: Array<[status: number, bytes: string]> = [
    [200, post(fern)],
    [409, post('{"id":1,"name":"ivy"}')],
    [400, post('{"id":1}')],
    [413, post(`{"id":1,"name":"${'x'.repeat(100)}"}`)],
    [503, post('{"id":100,"name":"a"}')],
    [500, post('{"id":101,"name":"a"}')],
    [503, post('{"id":102,"name":"a"}')],
    [415, requestText('POST /plants', [...fields, 'Content-Length: 2', typeAgain, '', '{}'])],
    [429, post(fern)],
    [401, requestText('POST /plants', ['Host: x', 'Connection: close', '', ''])],
    [204, requestText('OPTIONS /plants', ['Host: x', 'Connection: close', '', ''])],
    [405, requestText('PUT /plants', ['Host: x', 'Connection: close', '', ''])],
    [302, requestText('GET /', ['Host: x', 'Connection: close', '', ''])],
    [404, requestText('GET /nothing', ['Host: x', 'Connection: close', '', ''])],
    [400, requestText('GET /%zz', ['Host: x', 'Connection: close', '', ''])],
    [400, requestText('GET /livez', ['Connection: close', '', ''])],
    [417, requestText('POST /plants', ['Host: x', 'Expect: x', 'Content-Length: 1', '', ''])],
    [200, requestText('GET /livez', ['Host: x', 'Connection: close', '', ''])],
    [200, requestText('GET /readyz', ['Host: x', 'Connection: close', '', ''])],
    [200, requestText('GET /docs', ['Host: x', 'Connection: close', '', ''])],
    [200, requestText('GET /docs/json', ['Host: x', 'Connection: close', '', ''])],
    [405, requestText('CONNECT x:443', ['Host: x', '', ''])],
    [400, 'nonsense\r\n\r\n'],
    [431, requestText('GET /', [`X: ${'x'.repeat(20_000)}`, '', ''])],
    [408, 'POST /plants HTTP/1.1\r\nHost: x\r\n']
  ]
  const ids = new Set<string>()
  for (const [status, bytes] of doors) {
    lines.length = 0
    const [response] = await exchange(port, bytes)
    t.equal(response?.statusCode, status, bytes.slice(0, 60))
    const id = response?.headers['x-request-id'] ?? ''
    t.match(id, uuid)
    ids.add(id)
    t.ok(lines.some(line => JSON.parse(line).id === id), `the log has it: ${bytes.slice(0, 60)}`)
  }
  t.equal(ids.size, doors.length)
})

t.test('a well-formed id is taken over, also by errors before Fastify', async t => {
  const { log, lines } = logLines()
  const { app } = await startApp(t, { log })
  const { port } = await listen(app)
  const longest = `aZ09_.~+/=:@-${'x'.repeat(115)}`
  for (const id of ['1', longest]) {
    const sent = [`X-Request-ID: ${id}`]
    const bytes = [
      request(fern, [...sent, 'Connection: close']),
      requestText('GET /%', ['Host: x', ...sent, 'Connection: close', '', '']),
      requestText('CONNECT x:1', ['Host: x', ...sent, '', ''])
    ]
    for (const text of bytes) t.equal((await exchange(port, text))[0]?.headers['x-request-id'], id)
  }
  t.strictSame(lines.map(line => JSON.parse(line).id), ['1', '1', longest, longest])
})

t.test('an error inside a body has the id of its request, and a line with the caller', async t => {
  const { log, lines } = logLines()
  const { app } = await startApp(t, { log, requestTimeoutMs: { header: 300, whole: 300 } })
  const { origin, port } = await listen(app)
  const start = (...more: string[]) => requestText(
    'POST /plants', [...fields.slice(0, 3), 'X-Request-Id: mine', ...more, '', '']
  )
  const broken: Array<[status: number, bytes: string]> = [
    [408, `${start('Content-Length: 10')}x`],
    [400, `${start('Transfer-Encoding: chunked')}zz\r\n`]
  ]
  for (const [status, bytes] of broken) {
    lines.length = 0
    const [response] = await exchange(port, bytes)
    t.equal(response?.statusCode, status)
    t.equal(response?.headers['x-request-id'], 'mine')
    while (lines.length === 0) await new Promise(setImmediate)
    t.equal(lines.length, 1)
    t.match(JSON.parse(lines[0] as string), { id: 'mine', caller: 'test', path: '/plants', status })
  }
  for (const first of [request(fern), '']) {
    lines.length = 0
    const target = first === '' ? 'GET /docs/json' : 'POST /plants'
    const chunked = [
      'Host: x', `Authorization: ${authorization}`, 'X-Request-Id: second',
      'Transfer-Encoding: chunked'
    ]
    const responses = await exchange(port, first + requestText(target, [...chunked, '', 'zz\r\n']))
    const id = responses.at(-1)?.headers['x-request-id']
    t.equal(id, 'second', 'a request that Fastify has not begun, or has answered')
    const logged = { id: 'second', status: 400, method: target.split(' ')[0] }
    t.match(lines.map(line => JSON.parse(line)), [logged])
  }
  const text = await (await fetch(`${origin}/metrics`, { headers: { authorization } })).text()
  const labels = 'http_request_method="POST",http_response_status_code="408",http_route="/plants"'
  t.ok(text.includes(`duration_seconds_count{${labels}} 1`))
})

t.test('another id is replaced', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const malformed = [
    [''], ['a b'], ['a,b'], ['"a"'], ['é'], ['x'.repeat(129)], ['a', 'b'], ['a', 'a'], ['\u001b[2J']
  ]
  for (const ids of malformed) {
    const sent = ids.map(id => `X-Request-Id: ${id}`)
    const fields = ['Host: x', ...sent, 'Connection: close', '', '']
    const [response] = await exchange(port, requestText('GET /livez', fields))
    t.match(response?.headers['x-request-id'], uuid, JSON.stringify(ids))
  }
  t.not(requestId({ headers: {} }), requestId({ headers: {} }))
})

t.test('lines of errors name the caller, the address and the trace', async t => {
  const { log, lines } = logLines()
  const { post, app } = await startApp(t, { log })
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const span = 'b7ad6b7169203331'
  await post(fern)
  t.strictSame(lines, [])
  await post('{"id":1,"name":"ivy"}', { traceparent: `00-${trace}-${span}-01` })
  await app.inject('/x')
  const { port } = await listen(app)
  await exchange(port, 'nonsense\r\n\r\n')
  const [conflict, nothing, noHttp] = lines.map(line => {
    const { time, pid, hostname, id, ...fields } = JSON.parse(line)
    return fields
  })
  const address = '127.0.0.1'
  t.strictSame(conflict, {
    level: 30,
    trace_id: trace,
    span_id: span,
    caller: 'test',
    address,
    method: 'POST',
    path: '/plants',
    status: 409,
    msg: 'Another plant has the id 1. The stored plant does not change.'
  })
  t.strictSame(nothing, {
    level: 30, address, method: 'GET', path: '/x', status: 404, msg: 'There is nothing at /x.'
  })
  t.strictSame(noHttp, {
    level: 30,
    address: noHttp.address,
    status: 400,
    msg: 'This is not an HTTP/1.1 request with a known method in capitals.'
  })
  t.match(noHttp.address, address)
})

t.test('traceparent is read as the standard says', async t => {
  const trace = '0af7651916cd43dd8448eb211c80319c'
  const span = 'b7ad6b7169203331'
  const ids = { trace_id: trace, span_id: span }
  const read = (traceparent?: string) => traceIds(traceparent === undefined ? {} : { traceparent })
  t.strictSame(read(`00-${trace}-${span}-00`), ids)
  t.strictSame(read(`01-${trace}-${span}-01-more`), ids, 'a later version may have more parts')
  t.strictSame(read(`01-${trace}-${span}-01`), ids)
  const malformed = [
    undefined, '', `00-${trace}-${span}`, `00-${trace}-${span}-01-more`, `ff-${trace}-${span}-01`,
    `01-${trace}-${span}-01more`, `00-${trace.toUpperCase()}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`, `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace}0-${span}-01`, ` 00-${trace}-${span}-01`
  ]
  for (const text of malformed) t.strictSame(read(text), {}, text ?? 'missing')
})
