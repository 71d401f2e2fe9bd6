import { Readable } from 'node:stream'
import t from 'tap'
import { jsonContent, ref, serve, type Untyped } from '../../../fixtures/contract.ts'
import { getOperation, int64 } from '../../../fixtures/features.ts'

t.test('answers by status, range and `default`', async t => {
  const content = (type: string) => {
    return jsonContent('{ type: object, required: [a], properties: { a: { type: string } } }', type)
  }
  let response: Untyped = {}
  const { app, causes } = await serve(t, {
    paths: `
  /a:
    get:
      operationId: read
      responses:
        '200': { description: exact, ${content('application/json')} }
        '202': { description: nothing }
        '204': { description: nothing }
        2XX: { description: range, ${content('application/hal+json')} }
        default: { description: rest, ${content('application/problem+json')} }
  /b: { get: { operationId: strict, responses: { '200': { description: exact } } } }`,
    handlers: { read: () => response, strict: () => response }
  })
  const get = async (returned: Untyped, url = '/a') => {
    response = returned
    const { statusCode, headers, body } = await app.inject(url)
    return [statusCode, headers['content-type'], body]
  }
  const body = { a: 'x', b: 'undeclared' }
  t.strictSame(await get({ status: 200, body }), [200, 'application/json; charset=utf-8', '{"a":"x"}'])
  t.strictSame(await get({ status: 202 }), [202, undefined, ''])
  t.strictSame(await get({ status: 204 }), [204, undefined, ''])
  t.strictSame(await get({ status: 201, body }), [201, 'application/hal+json; charset=utf-8', '{"a":"x"}'])
  t.strictSame(await get({ status: 404, body }), [404, 'application/problem+json; charset=utf-8', '{"a":"x"}'])
  t.strictSame(await get({ status: 200 }, '/b'), [200, undefined, ''])
  const refused: Array<[Untyped, string, RegExp]> = [
    [{ status: 200 }, '/a', /read answered 200 without its body/],
    [{ status: 200, body: [] }, '/a', /the answer must be an object/],
    [{ status: 200, body: { a: 1 } }, '/a', /the answer at a must be a string/],
    [{ status: 404, body: {} }, '/a', /the answer must have the member "a", as its status has no response but `default`$/],
    [{ status: 202, body }, '/a', /read answered 202 with a body, which/],
    [{ status: 205, body }, '/a', /read answered 205 with a body, which/],
    [{ status: 99, body }, '/a', /read answered 99, which/],
    [{ status: 600, body }, '/a', /read answered 600, which/],
    [{ status: '200', body }, '/a', /read answered '200', which/],
    [{ body }, '/a', /read answered undefined, which/],
    [{ status: 201 }, '/b', /strict answered 201, which/],
    [{ status: 200, body }, '/b', /strict answered 200 with a body, which/]
  ]
  const failure = [500, /json/, '{"error":500,"message":"The service failed. Its log records the cause."}']
  for (const [returned, url, cause] of refused) {
    t.match(await get(returned, url), failure, JSON.stringify(returned))
    t.match(causes().at(-1), cause)
  }
})

t.test('media types of answers', async t => {
  const bodies: Array<[type: string, body: string | Uint8Array, sent: string]> = [
    ['application/problem+json', 'x', 'application/problem+json; charset=utf-8'],
    ['text/html', '<p>', 'text/html; charset=utf-8'],
    ['image/png', Uint8Array.of(65), 'image/png']
  ]
  for (const [type, body, sent] of bodies) {
    const members = `responses: { '200': { description: fine, content: { ${type}: {} } } }`
    const { app } = await serve(t, { ...getOperation(members), handlers: { a: () => ({ status: 200, body }) } })
    t.equal((await app.inject('/a')).headers['content-type'], sent)
  }
})

t.test('several media types of an answer', async t => {
  const members = "responses: { '200': { description: fine, content: { text/csv: {}, image/*: {} } } }"
  const handlers = { a: ({ accept }: Untyped) => ({ status: 200, contentType: 'text/csv', body: accept }) }
  const { app } = await serve(t, { ...getOperation(members), handlers })
  const get = (accept: string) => app.inject({ url: '/a', headers: { accept } })
  t.match(await get('image/png'), { statusCode: 200, headers: { vary: 'Accept' }, body: 'image/*' })
  t.match(await get('text/html'), { statusCode: 406 })
})

t.test('server-sent events', async t => {
  const schema = `{ type: object, properties: { id: ${int64} } }`
  const members = `responses: { '200': { description: fine, content: { text/event-stream: { schema: ${schema} } } } }`
  const events = async function * () {
    yield { event: 'added', data: { id: 2n ** 62n } }
  }
  const { app } = await serve(t, { ...getOperation(members), handlers: { a: () => ({ status: 200, body: events() }) } })
  t.equal((await app.inject('/a')).body, `event: added\ndata: {"id":${2n ** 62n}}\n\n`)
})

t.test('JSON lines', async t => {
  const entry = `{ type: object, required: [id], properties: { id: ${int64} } }`
  const received: unknown[] = []
  const { app } = await serve(t, {
    paths: `
  /a:
    get: { operationId: read, responses: { '200': { description: fine, content: { application/x-ndjson: { schema: ${ref('Log')} } } } } }
    post:
      operationId: add
      requestBody: { content: { application/jsonl: { schema: ${entry} } } }
      responses: { '204': { description: fine } }`,
    components: `  schemas: { Log: { type: array, items: ${entry}, maxItems: 1 } }`,
    handlers: {
      async add ({ body }) {
        for await (const value of body) received.push(value)
        return { status: 204 }
      },
      read: () => ({ status: 200, body: Readable.from(received) })
    }
  })
  const add = (payload: string) => {
    return app.inject({ method: 'POST', url: '/a', headers: { 'content-type': 'application/jsonl' }, payload })
  }
  t.equal((await add('{"id":9007199254740993}\n\n{"id":2}\n')).statusCode, 204)
  t.strictSame(received, [{ id: 9007199254740993n }, { id: 2n }])
  t.equal((await app.inject('/a')).body, '{"id":9007199254740993}\n{"id":2}\n')
  t.equal((await add('{"id":3}\n{}\n')).json().message, 'Line 2 of the body must have the member "id".')
  received.unshift('x')
  t.equal((await app.inject('/a')).statusCode, 500)
})

t.test('`itemSchema` of OpenAPI 3.2', async t => {
  const event = '{ type: object, required: [data], properties: { data: { type: string }, event: { enum: [a] } } }'
  const contents: Array<[content: string, items: unknown[], sent: string, wrong: unknown]> = [
    [`application/jsonl: { itemSchema: ${int64} }`, [1n, 2n ** 60n], `1\n${2n ** 60n}\n`, 'x'],
    [`application/jsonl: { itemSchema: ${int64}, schema: { type: array, items: { maximum: 5 } } }`, [5n], '5\n', 6n],
    [`text/event-stream: { itemSchema: ${ref('Event')} }`, [{ event: 'a', data: '{}' }], 'event: a\ndata: {}\n\n', { event: 'b', data: '' }],
    [`text/event-stream: { schema: { type: array, items: ${ref('Event')} } }`, [{ data: 'x' }], 'data: x\n\n', { data: 1 }],
    ['text/event-stream: { schema: { type: array } }', [{ data: ['x'] }], 'data: ["x"]\n\n', { data: 'x' }]
  ]
  for (const [content, items, sent, wrong] of contents) {
    const returned = [items, [wrong]]
    const members = `responses: { '200': { description: fine, content: { ${content} } } }`
    const { app, causes } = await serve(t, {
      ...getOperation(members),
      openapi: '3.2.0',
      components: `  schemas: { Event: ${event} }`,
      handlers: { a: () => ({ status: 200, body: Readable.from(returned.shift() ?? []) }) }
    })
    t.equal((await app.inject('/a')).body, sent, content)
    await app.inject('/a').catch(() => {})
    t.match(causes(), [/the answer/], content)
  }
})

t.test('header fields of answers', async t => {
  let headers: Untyped = {}
  const { app, causes } = await serve(t, {
    paths: `
  /a:
    get:
      operationId: read
      responses:
        '204':
          description: nothing
          headers:
            X-Left: { required: true, schema: ${int64} }
            X-Tags: { schema: { type: array, items: { type: string } } }
            Set-Cookie: { schema: { type: array, items: { type: string } } }
            Location: { $ref: '#/components/headers/Location' }
            Content-Type: { schema: { type: string } }`,
    components: '  headers:\n    Location: { schema: { type: string, format: uri-reference } }',
    handlers: { read: () => ({ status: 204, headers }) }
  })
  const get = (returned: Untyped) => {
    headers = returned
    return app.inject('/a')
  }
  const setCookie = ['a=1', 'b=2']
  const all = { 'X-Left': 9007199254740993n, 'X-Tags': ['a', 'b'], 'Set-Cookie': setCookie, Location: '/b' }
  t.match((await get(all)).headers, {
    'x-left': '9007199254740993',
    'x-tags': 'a, b',
    'set-cookie': setCookie,
    location: '/b'
  })
  t.notOk('x-tags' in (await get({ 'X-Left': 1n })).headers)
  const undeclared = /read answered with the header field X-Other, which the contract does not declare/
  const refused: Array<[Untyped, RegExp]> = [
    [{}, /read answered without the required header field X-Left/],
    [{ 'X-Left': 'x' }, /X-Left that must be an integer/],
    [{ 'X-Left': 1n, 'X-Other': 'x' }, undeclared],
    [{ 'X-Left': 1n, 'Content-Type': 'text/html' }, /Content-Type, which the contract does not declare/],
    [{ 'X-Left': 1n, 'X-Tags': ['a\r\nX-Evil: 1'] }, /Invalid character in header content/]
  ]
  for (const [returned, cause] of refused) {
    const response = await get(returned)
    t.equal(response.statusCode, 500)
    t.notOk('x-evil' in response.headers)
    t.match(causes().at(-1), cause)
  }
})
