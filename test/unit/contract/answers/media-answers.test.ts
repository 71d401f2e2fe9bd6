// Answers of every media type, and the choice between several.
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { listen } from '../../../fixtures/app.ts'
import { serve, type Untyped } from '../../../fixtures/contract.ts'
import { measureGrowth } from '../../../fixtures/cost.ts'
import { exchange, exchangeOne, requestText } from '../../../fixtures/raw.ts'

const read = (responses: string) => `
  /a: { get: { operationId: read, responses: ${responses} } }`

/** Serves GET /a with this content of its 200; `answer` is what the handler returns, or a function that makes it. */
async function serveContent (t: Test, content: string, more: Untyped = {}) {
  let answer: Untyped | ((request: Untyped) => Untyped) = {}
  const served = await serve(t, {
    paths: read(`{ '200': { description: fine, content: ${content} } }`),
    handlers: { read: request => typeof answer === 'function' ? answer(request) : { status: 200, ...answer } },
    ...more
  })
  return {
    ...served,
    get: async (given: typeof answer, options: Untyped = {}) => {
      answer = given
      const { statusCode, headers, rawPayload } = await served.app.inject({ url: '/a', ...options })
      return { status: statusCode, type: headers['content-type'], headers, rawPayload, text: String(rawPayload) }
    }
  }
}

t.test('text is sent in UTF-8, as its schema says', async t => {
  const schema = '{ type: string, maxLength: 5 }'
  const { get, causes } = await serveContent(t, `{ text/csv; header=present; charset=latin1: { schema: ${schema} } }`)
  t.match(await get({ body: 'a,ü' }), { status: 200, type: 'text/csv; header=present; charset=utf-8', text: 'a,ü' })
  t.match(await get({ body: '' }), { status: 200, text: '' }, 'an empty text is a body')
  for (const body of ['123456', 1, null, Readable.from(['x'])]) t.match(await get({ body }), { status: 500 })
  t.match(causes(), [/read answered with a text that must have at most 5/, ...Array(3).fill(/a string/)])
  const rows = await serveContent(t, '{ text/plain: { schema: { type: array, items: { type: integer } } } }')
  t.match(await rows.get({ body: '1\n2' }), { status: 200, text: '1\n2' }, 'the schema describes what the text means')
})

t.test('a text that is a file is sent as bytes', async t => {
  const { get } = await serveContent(t, '{ text/csv: { schema: { type: string, format: binary } } }')
  for (const body of ['a,b', Buffer.from('a,b'), Readable.from(['a,', 'b'], { objectMode: false })]) {
    t.match(await get({ body }), { status: 200, type: 'text/csv; charset=utf-8', text: 'a,b' })
  }
})

t.test('a text that UTF-8 cannot hold is not sent', async t => {
  const { get, causes } = await serveContent(t, '{ text/plain: {}, application/zip: {}, text/event-stream: {} }')
  const events = async function * (data: string) { yield { data } }
  for (const text of ['\ud83c', 'a\udf35\ud83c']) {
    t.match(await get({ contentType: 'text/plain', body: text }), { status: 500 })
    t.match(await get({ contentType: 'application/zip', body: text }), { status: 500 })
    await t.rejects(get({ contentType: 'text/event-stream', body: events(text) }), 'it breaks off')
  }
  t.match(await get({ contentType: 'text/plain', body: '\ud83c\udf35' }), { status: 200, text: '🌵' })
  t.strictSame(new Set(causes()), new Set(['the answer is a text with a lone surrogate']))
})

t.test('bytes are sent as they are, from a string, an array of bytes or a stream', async t => {
  const { get, causes } = await serveContent(t, '{ application/zip: {} }')
  const bytes = Uint8Array.of(0, 255, 13, 10)
  for (const body of [bytes, Buffer.from(bytes), Readable.from([bytes], { objectMode: false })]) {
    const { status, type, rawPayload } = await get({ body })
    t.strictSame([status, type, rawPayload], [200, 'application/zip', Buffer.from(bytes)])
  }
  const part = new Uint8Array(Uint8Array.of(1, 2, 3, 4).buffer, 1, 2)
  t.strictSame((await get({ body: part })).rawPayload, Buffer.of(2, 3), 'a view of a larger buffer')
  t.match(await get({ body: 'ü' }), { type: 'application/zip', text: 'ü' })
  t.match(await get({ body: Readable.from(['a', 'b']) }), { text: 'ab' })
  t.match(await get({ body: { a: 1 } }), { status: 500 })
  t.match(causes(), [/is not a string, a Uint8Array or a Readable/])
})

t.test('an answer that names no media type is JSON, where one of the media types is', async t => {
  const { get } = await serveContent(t, '{ application/xml: {}, "*/*": {}, application/hal+json: {} }')
  t.match(await get({ body: 'x' }), { status: 200, type: 'application/hal+json; charset=utf-8', text: '"x"' })
  t.match(await get({ contentType: 'application/xml', body: 'x' }), { status: 200, type: 'application/xml', text: 'x' })
  const two = await serveContent(t, '{ application/json: {}, application/hal+json: {} }')
  t.match(await two.get({ body: 'x' }), { status: 500 })
  t.match(two.causes(), [/answered 200 without contentType, which must be one of application\/json, application\/hal\+json$/])
})

t.test('an answer of a range names its media type', async t => {
  const { get, causes } = await serveContent(t, '{ image/*: {}, "*/*": {}, text/plain: {} }')
  t.match(await get({ contentType: 'image/png', body: 'x' }), { status: 200, type: 'image/png', text: 'x' })
  t.match(await get({ contentType: 'font/woff2', body: 'x' }), { status: 200, type: 'font/woff2' })
  t.match(await get({ contentType: 'text/plain', body: 'x' }), { status: 200, type: 'text/plain; charset=utf-8' })
  const refused = ['image/*', '*/*', 'image', 'image/png\r\nX-A: b', 'image/png\r\n;a', undefined]
  for (const contentType of refused) t.match(await get({ contentType, body: 'x' }), { status: 500 }, `${contentType}`)
  t.match(causes(), [...Array(5).fill(/as [^]*, which the contract does not declare/), /200 without contentType, which must be one of image\/\*, \*\/\*, text\/plain$/])
  const images = await serveContent(t, '{ image/*: {} }')
  t.match(await images.get({ contentType: 'image/gif', body: 'x' }), { status: 200, type: 'image/gif' })
  t.match(await images.get({ contentType: 'text/plain', body: 'x' }), { status: 500 })
  t.match(await images.get({ body: 'x' }, { headers: { accept: 'text/css' } }), { status: 500 }, 'Accept does not count')
  const only = await serveContent(t, '{ text/css: {} }')
  t.match(await only.get({ contentType: 'text/css', body: 'x' }), { status: 200 })
  t.match(await only.get({ contentType: 'text/plain', body: 'x' }), { status: 500 })
})

t.test('each of several media types has its own schema', async t => {
  const int64 = '{ type: object, properties: { id: { type: integer, format: int64 } } }'
  const { get } = await serveContent(t, `{ application/json: { schema: ${int64} }, application/xml: {}, text/csv: {} }`)
  const id = 9007199254740993n
  const json = 'application/json; charset=utf-8'
  const text = '{"id":9007199254740993}'
  t.match(await get({ contentType: 'application/json', body: { id, secret: 1 } }), { type: json, text })
  t.match(await get({ contentType: 'application/xml', body: '<id/>' }), { type: 'application/xml', text: '<id/>' })
  t.match(await get({ contentType: 'text/csv', body: 'id' }), { type: 'text/csv; charset=utf-8', text: 'id' })
  t.match(await get({ contentType: 'application/json', body: { id: 1.5 } }), { status: 500 })
  t.match(await get({ contentType: 'application/pdf', body: '' }), { status: 500 })
  t.match(await get({ body: { id } }), { status: 200, type: 'application/json; charset=utf-8' })
})

t.test('Accept selects one of several media types for success', async t => {
  const { get } = await serveContent(t, '{ application/json: {}, text/csv: {}, image/*: {} }')
  const accept = async (value?: string) => {
    const answer = ({ accept }: Untyped) => ({ status: 200, contentType: 'text/csv', body: String(accept) })
    const { status, text, headers } = await get(answer, value === undefined ? {} : { headers: { accept: value } })
    t.equal(headers.vary, 'Accept')
    return status === 200 ? text : JSON.parse(text)
  }
  const chosen: Array<[string | undefined, string]> = [
    [undefined, 'application/json'],
    ['', 'application/json'],
    [' , ,', 'application/json'],
    [', text/csv', 'text/csv'],
    ['*/*', 'application/json'],
    ['text/csv', 'text/csv'],
    ['TEXT/CSV; q=1', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    ['application/json; charset="utf-8"', 'application/json'],
    ['application/json;q=0.5, text/*', 'text/csv'],
    ['*/*;q=0.1, application/json;q=0', 'text/csv'],
    ['image/png', 'image/*'],
    ['image/png;q=0.2, text/csv;q=0.1', 'image/*'],
    ['image/*, application/json;q=0.9', 'image/*'],
    ['application/pdf, text/csv;q=0.001', 'text/csv']
  ]
  for (const [value, key] of chosen) t.equal(await accept(value), key, `${value}`)
  for (const value of ['application/pdf', 'text/csv;q=0', 'application/*;q=0, video/*', 'nonsense']) {
    t.match(await accept(value), { error: 406, message: /application\/json or text\/csv or image\/\*, which Accept/ })
  }
})

t.test('406 comes before the body is read, and beside other fields of Vary', async t => {
  const { app } = await serve(t, {
    paths: `
  /a:
    post:
      operationId: write
      requestBody: { content: { application/json: {} } }
      responses:
        '200': { description: fine, content: { application/json: {} } }
        2XX: { description: fine, content: { text/plain: {} } }
        default: { description: wrong, content: { application/problem+json: {} } }`,
    handlers: { write: ({ accept }) => ({ status: 201, body: accept }) }
  })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('Vary', 'Origin')
    done()
  })
  const post = (accept: string, payload = '1') => {
    return app.inject({ method: 'POST', url: '/a', headers: { accept, 'content-type': 'application/json' }, payload })
  }
  t.match(await post('application/problem+json', 'x'), { statusCode: 406, headers: { vary: 'Origin, Accept' } }, 'an error is no choice')
  t.match(await post('text/plain', 'x'), { statusCode: 400 })
  t.match(await post('text/plain'), { statusCode: 201, body: 'text/plain' })
})

t.test('a long Accept takes linear time', async t => {
  const { get } = await serveContent(t, '{ application/json: {}, text/csv: {}, image/*: {}, "*/*": {} }')
  const answer = { contentType: 'text/csv', body: '' }
  await get(answer, { headers: { accept: 'a/b' } })
  for (const [start, unit] of [['', 'a/b,'], ['a/b;', 'a=b;']] as const) {
    const growth = await measureGrowth(size => {
      return get(answer, { headers: { accept: start + unit.repeat(size) } })
    }, 4000)
    t.ok(growth < 8, `four times as many of ${unit} cost ${growth.toFixed(1)} times as much`)
  }
})

t.test('HEAD gets the header alone, and a stream of its handler is destroyed', async t => {
  const { get, app } = await serveContent(t, '{ application/octet-stream: {}, text/event-stream: {} }')
  const head = { method: 'HEAD' }
  const stream = Readable.from(['x'])
  const answer = { contentType: 'application/octet-stream', body: stream }
  t.match(await get(answer, head), { status: 200, type: 'application/octet-stream', text: '' })
  t.ok(stream.destroyed)
  let returned = 0
  const body = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}), return: async () => returned++ }) }
  t.match(await get({ contentType: 'text/event-stream', body }, head), { status: 200, text: '' })
  t.equal(returned, 1)
  const { port } = await listen(app)
  await get({ contentType: 'application/octet-stream', body: Readable.from(['x']) }, head)
  const { statusCode } = await exchangeOne(port, requestText('HEAD /a', ['Host: x', 'Connection: close', '', '']))
  t.equal(statusCode, 200)
})

t.test('a stream that nobody gets is destroyed', async t => {
  const late = Promise.withResolvers<Untyped>()
  const { app, get, causes } = await serveContent(t, '{ application/octet-stream: {} }', { responseTimeoutMs: 50 })
  const undeclared = Readable.from(['x'])
  t.match(await get({ status: 201, body: undeclared }), { status: 500 })
  t.ok(undeclared.destroyed)
  let returned = 0
  const events = { [Symbol.asyncIterator]: () => ({ return: async () => returned++ }) }
  t.match(await get({ status: 201, body: events }), { status: 500 })
  t.match(await get({ status: 201, body: { [Symbol.asyncIterator]: () => ({}) } }), { status: 500 }, 'no return()')
  t.equal(returned, 1)
  t.match(await get(() => late.promise), { status: 503, text: 'in time. The request may have taken effect."' })
  const body = new Readable({ read () {}, destroy: (_error, done) => done(new Error('cannot close')) })
  late.resolve({ status: 200, body })
  await new Promise(resolve => body.once('close', resolve))
  t.match(causes(), [...Array(3).fill(/answered 201/), /no response of the handler/, 'cannot close'])
  t.match(await app.inject('/a'), { statusCode: 500 })
})

t.test('the rest of a stream is never the next response, whatever length its handler gives', async t => {
  const length = '{ Content-Length: { schema: { type: integer } } }'
  for (const answers of ['enforce', 'log'] as const) {
    const { app } = await serve(t, {
      paths: read(`{ '200': { description: fine, headers: ${length}, content: { application/zip: {} } } }`),
      handlers: { read: () => ({ status: 200, headers: { 'content-length': 3 }, body: Readable.from(['abcdef']) }) },
      answers
    })
    const { port } = await listen(app)
    const get = requestText('GET /a', ['Host: x', '', ''])
    const last = requestText('GET /a', ['Host: x', 'Connection: close', '', ''])
    const responses = await exchange(port, get, last)
    t.match(responses.map(({ statusCode, body }) => [statusCode, body]), [[500, /"error":500/], [500, /"error":500/]])
  }
})

t.test('a header field with the name of a member of every object is like any other', async t => {
  let headers: Untyped = {}
  const { app, causes } = await serve(t, {
    paths: read("{ '204': { description: fine, headers: { constructor: { schema: { type: integer } } } } }"),
    handlers: { read: () => ({ status: 204, headers }) }
  })
  t.equal((await app.inject('/a')).statusCode, 204, 'it is optional')
  headers = { constructor: 1 }
  t.match(await app.inject('/a'), { statusCode: 204, headers: { constructor: '1' } })
  headers = { toString: 'x' }
  t.equal((await app.inject('/a')).statusCode, 500)
  t.match(causes(), [/header field toString, which the contract does not declare/])
})

t.test('an optional header field that is null is not sent', async t => {
  const { app } = await serve(t, {
    paths: `
  /a:
    get: { operationId: a, responses: { '204': { description: fine, headers: { X-A: { schema: { type: string } } } } } }`,
    handlers: { a: () => ({ status: 204, headers: { 'X-A': null } }) }
  })
  const { statusCode, headers } = await app.inject('/a')
  t.strictSame([statusCode, headers['x-a']], [204, undefined])
})
