// Leaks and bypasses that the engine must prevent in any contract, against attackers and against
// mistakes in handlers.
import { setImmediate } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { listen } from '../../fixtures/app.ts'
import {
  anyResponse, jsonBody, jsonResponse, noContent, parameter, ref, serve, type Untyped
} from '../../fixtures/contract.ts'
import { exchange, requestText } from '../../fixtures/raw.ts'

const failure = [500, '{"error":500,"message":"The service failed. Its log records the cause."}']

/**
 * Serves a response with this schema whose body a handler returns: its text, or the cause of the
 * 500.
 */
async function sentBody (t: Test, schema: string, body: unknown, schemas = ''): Promise<string | undefined> {
  const { app, causes } = await serve(t, {
    paths: `  /a: { get: { operationId: a, ${jsonResponse(schema)} } }`,
    components: schemas && `  schemas: { ${schemas} }`,
    handlers: { a: () => ({ status: 200, body }) }
  })
  const response = await app.inject('/a')
  return response.statusCode === 200 ? response.body : causes().at(-1)
}

t.test('undeclared members are not sent, at any depth', async t => {
  const user = { name: 'n', email: 'private' }
  const owned = `{ type: object, properties: {
    owner: { type: [object, 'null'], properties: { name: { type: string } } },
    self: { type: [object, 'null'], properties: { name: { type: string }, email: { type: string } } } } }`
  const sent = '{"owner":{"name":"n"},"self":{"name":"n","email":"private"}}'
  t.equal(await sentBody(t, owned, { owner: user, self: user }), sent, 'one object under two schemas')

  t.equal(await sentBody(t, "{ type: [object, 'null'] }", { secret: 1 }), '{}')

  const list = `{
    type: array,
    items: { type: object, properties: { a: { type: string } } },
    contains: { properties: { secret: {} } } }`
  t.equal(await sentBody(t, list, [{ a: 'x', secret: 1 }]), '[{"a":"x"}]')

  const nullable = "{ type: [object, 'null'], properties: { n: { type: string } } }"
  const withToJson = { n: 'x', toJSON: () => ({ n: 1, secret: 1 }) }
  t.equal(await sentBody(t, nullable, withToJson), '{"n":"x"}', 'a declared object does not use its toJSON method')

  const anything = '{"at":"1970-01-01T00:00:00.000Z","big":9007199254740993}'
  const values = { at: new Date(0), big: 9007199254740993n }
  t.equal(await sentBody(t, '{}', values), anything, 'an empty schema allows any member')

  const unevaluated = '{ type: object, properties: { a: { type: string } }, unevaluatedProperties: { type: string } }'
  t.equal(await sentBody(t, unevaluated, { a: 'x', b: 'y' }), '{"a":"x","b":"y"}')
  const around = '{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: { type: string } }'
  t.equal(await sentBody(t, around, { a: 'x', b: 'y' }), '{"a":"x","b":"y"}')

  const closed = '{ type: object, properties: { a: {} }, additionalProperties: false }'
  t.equal(await sentBody(t, closed, { a: 1, b: 2 }), 'the answer must not have the member "b"')

  const inherited = '{ type: object, properties: { constructor: { type: string }, toString: { type: string } } }'
  t.equal(await sentBody(t, inherited, {}), '{}', 'inherited properties are not members')

  const tree = `T: { type: object, properties: { t: ${ref('T')} } }`
  t.equal(await sentBody(t, ref('T'), { t: { t: {}, u: 1 } }, tree), '{"t":{"t":{}}}', 'a recursive schema')

  t.equal(await sentBody(t, '{}', undefined), 'a answered 200 without its body')
})

t.test('members that an object must have are sent, although no schema describes them', async t => {
  const given = { a: 1, b: 2, secret: 3 }
  const base = 'Base: { type: object, properties: { a: {} } }'
  for (const schema of [
    '{ type: object, properties: { a: {} }, required: [a, b] }',
    `{ allOf: [${ref('Base')}, { required: [b] }] }`,
    `{ allOf: [${ref('Base')}], required: [b] }`,
    '{ properties: { a: {} }, anyOf: [{ required: [c] }, { required: [b] }] }',
    '{ properties: { a: {} }, dependentRequired: { a: [b] } }'
  ]) t.equal(await sentBody(t, schema, given, base), '{"a":1,"b":2}', schema)
  const int64 = '{ type: integer, format: int64 }'
  const tooFew = 'the answer must have at least 1 member, without the members that its schema does not declare'
  t.equal(await sentBody(t, '{ properties: { a: {} }, minProperties: 1 }', { b: 1 }), tooFew)
  const ids = `{ properties: { id: ${int64}, list: { uniqueItems: true, items: { properties: { id: ${int64} } } } } }`
  const twice = { id: 2n ** 62n, list: [{ id: 2n ** 62n, b: 1 }, { id: 2n ** 62n, b: 2 }] }
  t.match(await sentBody(t, ids, twice), /^the answer at list must not have equal items, as those at 0 and 1, without/)
  const once = { id: 2n ** 62n, list: [{ id: 1n, b: 1 }, { id: 2n ** 62n, b: 1 }] }
  t.equal(await sentBody(t, ids, once), `{"id":${2n ** 62n},"list":[{"id":1},{"id":${2n ** 62n}}]}`)
  const secret = '{ properties: { a: {}, secret: { writeOnly: true } }, required: [b, secret] }'
  t.equal(await sentBody(t, secret, { a: 1, b: 2, c: 3 }), '{"a":1,"b":2}')
  t.equal(await sentBody(t, '{ required: [b] }', given), '{"a":1,"b":2,"secret":3}', 'no schema of an object')
})

t.test('writeOnly members are not sent, under any keyword that declares them', async t => {
  const schemas = [
    `{ type: object, properties: { s: { allOf: [${ref('Secret')}] } } }`,
    '{ type: object, properties: { s: { oneOf: [{ type: string, writeOnly: true }] } } }',
    '{ type: object, patternProperties: { ^s: { type: string, writeOnly: true } } }',
    '{ type: object, additionalProperties: { type: string, writeOnly: true } }'
  ]
  const refused = /^the answer (?:at s must not be sent|must not have the member "s")$/
  for (const schema of schemas) {
    const cause = await sentBody(t, schema, { s: 'SECRET' }, 'Secret: { type: string, writeOnly: true }')
    t.match(cause, refused, schema)
  }
})

t.test('keywords beside a $ref to an int64 apply, in responses and in parameters', async t => {
  const id = 'Id: { type: integer, format: int64 }'
  const idWith = (keywords: string) => `{ $ref: '#/components/schemas/Id', ${keywords} }`
  const objectWith = (member: string, keywords = '') => `{ type: object, properties: { id: ${member} }${keywords} }`
  const tooSmall = 'the answer at id must be at least 5'
  t.equal(await sentBody(t, objectWith(idWith('minimum: 5')), { id: 1n }, id), tooSmall)
  t.equal(await sentBody(t, objectWith(idWith('enum: [1, 2]')), { id: 1n }, id), '{"id":1}')
  const rounded = 'the answer at id is a number beyond 2^53, which may be rounded: give a bigint'
  t.equal(await sentBody(t, objectWith(idWith('')), { id: 2 ** 53 }, id), rounded)
  const range = 'from -9223372036854775808 to 9223372036854775807'
  t.equal(await sentBody(t, objectWith(idWith('')), { id: 2 ** 63 }, id), `the answer at id must be an integer ${range}`)
  const sized = 'Sized: { type: object, properties: { size: { type: number } } }'
  const step = "{ $ref: '#/components/schemas/Sized', multipleOf: 5.0e-324 }"
  t.equal(await sentBody(t, step, { size: 1 }, sized), '{"size":1}', 'a tiny step takes finite time')
  const conditional = objectWith(ref('Id'), ', if: { properties: { id: { const: 1 } } }, then: { required: [x] }')
  t.equal(await sentBody(t, conditional, { id: 1n }, id), 'the answer must have the member "x"')

  const { app } = await serve(t, {
    paths: `
  /a:
    get:
      operationId: a
      parameters:
        - ${parameter('q', 'query', idWith('minimum: 5'))}
        - ${parameter('e', 'query', idWith('enum: [1, 2]'))}
        - ${parameter('i', 'query', `{ type: integer, allOf: [${ref('Id')}] }`)}
        - ${parameter('s', 'query', '{ type: string, format: int64 }')}
        - ${parameter('c', 'query', '{ enum: [1, 2] }')}
        - ${parameter('k', 'query', '{ const: true }')}
        - ${parameter('p', 'query', ref('P/properties/id'))}
        - ${parameter('n', 'query', "{ type: [string, 'null'], default: null }")}
      ${anyResponse}`,
    components: `  schemas: { ${id}, P: { type: object, properties: { id: { type: integer, default: 7 } } } }`
  })
  const small = await app.inject('/a?q=1')
  t.match(small.json(), { error: 400, message: 'The query parameter "q" must be at least 5.' })
  const { body } = await app.inject('/a?q=9007199254740993&e=1&i=2&s=5&c=1&k=true')
  t.equal(body, '{"query":{"q":9007199254740993,"e":1,"i":2,"s":"5","c":1,"k":true,"p":7,"n":null}}')
})

t.test('any value that a handler throws is answered 500', async t => {
  let thrown: unknown
  const { app } = await serve(t, {
    paths: `
  /a: { get: { operationId: a, ${anyResponse} } }
  /b: { get: { operationId: b, ${anyResponse} } }`,
    handlers: { a: () => { throw thrown }, b: async () => { throw thrown } }
  })
  const values = [
    'secret text',
    undefined,
    null,
    7,
    Object.assign(new Error('up'), { code: 'ECONNRESET' }),
    Object.assign(new Error('up'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 })
  ]
  for (thrown of values) {
    for (const url of ['/a', '/b']) {
      const { statusCode, body } = await app.inject(url)
      t.strictSame([statusCode, body], failure, url)
    }
  }
})

t.test('an answer counts as it is and in any promise, and is sent once by a slow hook', async t => {
  let answer: unknown
  const { app, causes } = await serve(t, {
    paths: `  /a: { get: { operationId: a, ${anyResponse} } }`,
    handlers: { a: () => answer as Untyped },
    hooks: () => ({ onSend: (_request, _reply, payload) => setImmediate(payload) })
  })
  const value = { status: 200, body: 'x' }
  const answers = [
    value,
    Promise.resolve(value),
    runInNewContext('Promise.resolve(value)', { value }),
    { then: (resolve: (answer: object) => void) => resolve(value) }
  ]
  for (answer of answers) t.match(await app.inject('/a'), { statusCode: 200, body: '"x"' })
  for (answer of [undefined, null, { status: 200, body: Promise.resolve('x') }]) {
    t.match(await app.inject('/a'), { statusCode: 500 })
  }
  const none = 'The handler a returned nothing.'
  t.strictSame(causes(), [none, none, 'The body of the handler a is a promise: await it.'])
})

/**
 * Serves an operation that responds with the caller's name; returns a function that asks it with a
 * verifier, and the causes in the log.
 */
async function serveGuarded (t: Test) {
  let verifier: () => unknown = () => {}
  const { app, causes } = await serve(t, {
    root: 'security: [{ user: [] }]',
    paths: `  /a: { get: { operationId: a, ${anyResponse} } }`,
    components: '  securitySchemes: { user: { type: http, scheme: bearer } }',
    handlers: { a: ({ principals }) => ({ status: 200, body: principals.user.name }) },
    verifiers: { user: () => verifier() }
  })
  const ask = (verify: () => unknown) => {
    verifier = verify
    return app.inject({ url: '/a', headers: { authorization: 'Bearer x' } })
  }
  return { ask, causes }
}

t.test('a verifier that throws or rejects with any value admits no request', async t => {
  const { ask, causes } = await serveGuarded(t)
  const failing = [undefined, null, new Error('down')].flatMap(thrown => [
    () => { throw thrown },
    () => Promise.reject(thrown)
  ])
  for (const verify of failing) {
    const { statusCode, body } = await ask(verify)
    t.strictSame([statusCode, body], failure, String(verify))
  }
  const [, , ofNull, , down] = causes()
  t.strictSame([ofNull, down], ['The code threw null.', 'down'])
})

t.test('a verdict of any promise counts, and a caller has a name', async t => {
  const { ask, causes } = await serveGuarded(t)
  const nobody = [
    () => runInNewContext('Promise.resolve(undefined)'),
    () => ({ name: 'x', then: (resolve: (verdict: unknown) => void) => resolve(undefined) })
  ]
  for (const verify of nobody) t.equal((await ask(verify)).statusCode, 401, String(verify))
  const nameless = [() => ({}), () => [], () => ({ name: 1 }), async () => ({ id: 1 })]
  for (const verify of nameless) {
    const { statusCode, body } = await ask(verify)
    t.strictSame([statusCode, body], failure, String(verify))
  }
  t.match(causes(), nameless.map(() => /^The verifier \S+ returned a caller whose `name` is no text\.$/))
  t.match(await ask(() => runInNewContext("Promise.resolve({ name: 'me' })")), { statusCode: 200, body: '"me"' })
})

t.test('no object of a request has a member named __proto__', async t => {
  let body: Untyped = {}
  const either = '{ oneOf: [{ required: [a], properties: { a: {} } }, { required: [b], properties: { b: {} } }] }'
  const { app } = await serve(t, {
    paths: `  /a: { post: { operationId: a, ${jsonBody(either)}, ${noContent} } }`,
    handlers: { a: request => { body = request.body; return { status: 204 } } }
  })
  const post = (payload: string) => app.inject({ method: 'POST', url: '/a', headers: { 'content-type': 'application/json' }, payload })
  for (const name of ['__proto__', '\\u005f_proto\\u005F_']) {
    const inner = `{"${name}":{"isAdmin":true},"n":1}`
    t.equal((await post(`{"a":[${inner},${inner}],"${name}":{"isAdmin":true},"c":{"d":${inner}}}`)).statusCode, 204)
    t.equal(JSON.stringify(body), '{"a":[{"n":1},{"n":1}],"c":{"d":{"n":1}}}')
    t.equal(Object.assign({}, body).isAdmin, undefined)
  }
  await post('{"a":"\\u0041 __proto__","n":null}')
  t.strictSame(body, { a: 'A __proto__', n: null }, 'in a text it is one')
})

t.test('a member named toJSON is data', async t => {
  const withId = '{ type: object, properties: { id: { type: integer, format: int64 } }, additionalProperties: true }'
  const { app } = await serve(t, {
    paths: `  /a: { post: { operationId: a, ${jsonBody(withId)}, ${anyResponse} } }`,
    handlers: { a: ({ body }) => ({ status: 200, body: { id: body.id, type: typeof body.x } }) }
  })
  const headers = { 'content-type': 'application/json' }
  const body = '{"id":9007199254740993,"toJSON":1,"x":9007199254740993}'
  const response = await app.inject({ method: 'POST', url: '/a', headers, body })
  t.equal(response.body, '{"id":9007199254740993,"type":"number"}')
  const int64s = '{ type: object, additionalProperties: { type: integer, format: int64 } }'
  t.equal(await sentBody(t, int64s, { toJSON: 9007199254740993n }), '{"toJSON":9007199254740993}')
})

t.test('an error that the log cannot write is answered 500 all the same', async t => {
  const { app, causes } = await serve(t, {
    paths: `  /a: { get: { operationId: a, ${anyResponse} } }`,
    handlers: { a: () => { throw Object.freeze(new Error('frozen')) } }
  })
  const { statusCode, body } = await app.inject('/a')
  t.strictSame([statusCode, JSON.parse(body).error], [500, 500])
  t.strictSame(causes(), ['The error cannot be logged.'])
})

t.test('a response whose getter throws is answered 500', async t => {
  const unreadable = { get name () { throw new Error('unreadable') } }
  const schema = '{ type: object, properties: { name: { type: string } } }'
  t.equal(await sentBody(t, schema, unreadable), 'unreadable')
})

t.test('only accepted credentials of a declared security scheme admit a request', async t => {
  const verifyKey = (key: string) => key === 'k' ? { name: 'k' } : undefined
  const { app } = await serve(t, {
    root: '',
    paths: `
  /referred: { get: { operationId: referred, security: [{ referred: [] }], ${anyResponse} } }
  /maybe: { get: { operationId: maybe, security: [{ user: [], key: [] }, {}], ${anyResponse} } }
  /open: { get: { operationId: open, security: [], ${anyResponse} } }`,
    components: `
  securitySchemes:
    referred: { $ref: '#/components/securitySchemes/key' }
    key: { type: apiKey, in: header, name: X-Key }
    user: { type: http, scheme: bearer }`,
    handlers: { open: ({ principals }) => ({ status: 200, body: principals.user?.name ?? 'nobody' }) },
    verifiers: {
      referred: key => verifyKey(key) ?? null,
      key: verifyKey,
      user: () => ({ name: 'u' })
    }
  })
  const status = async (url: string, headers: Record<string, string> = {}) => {
    return (await app.inject({ url, headers })).statusCode
  }
  const referred = [
    await status('/referred', { 'x-key': 'k' }),
    await status('/referred', { authorization: 'Bearer k' }),
    await status('/referred', { 'x-key': 'other' })
  ]
  t.strictSame(referred, [200, 401, 401])
  const optional = [
    await status('/maybe'),
    await status('/maybe', { 'x-key': 'bad' }),
    await status('/maybe', { 'x-key': 'k' })
  ]
  t.strictSame(optional, [200, 401, 401], 'credentials that are sent must meet a requirement')
  t.equal((await app.inject('/open')).body, '"nobody"')
  const undeclared = serve(t, {
    root: 'security: [{ toString: [] }]',
    paths: `  /a: { get: { operationId: a, ${anyResponse} } }`
  })
  await t.rejects(undeclared, { message: /There is no security scheme toString\./ })
})

t.test('a body that a recursive schema allows at any depth is answered 400 when it is too deep', async t => {
  const { app } = await serve(t, {
    paths: `  /a: { post: { operationId: a, ${jsonBody(ref('L'), false)}, ${anyResponse} } }`,
    components: `  schemas: { L: { type: object, properties: { l: ${ref('L')} } } }`
  })
  const headers = { 'content-type': 'application/json' }
  const payload = `${'{"l":'.repeat(20_000)}{}${'}'.repeat(20_000)}`
  const response = await app.inject({ method: 'POST', url: '/a', headers, payload })
  t.match(response.json(), { error: 400, message: 'The body is nested too deeply: more than 1000 levels.' })
})

t.test('a parameter is read by its name alone; a header field that is sent twice is answered 400', async t => {
  const { app } = await serve(t, {
    paths: `
  /a:
    get:
      operationId: a
      parameters:
        - ${parameter('constructor', 'header')}
        - ${parameter('a b', 'query')}
        - ${parameter('theme', 'cookie')}
        - ${parameter('X-One', 'header')}
      ${anyResponse}`
  })
  const response = await app.inject({ url: '/a?a+b=1', headers: { cookie: '%zz=1; theme=a ; x' } })
  t.strictSame(response.json(), { header: {}, query: { 'a b': '1' }, cookie: { theme: 'a' } })
  const { port } = await listen(app)
  const parameterTwice = requestText('GET /a', ['Host: x', 'X-One: a', 'X-One: b', 'Connection: close'])
  const message = /The header field \\"X-One\\" is sent more than once/
  t.match(await exchange(port, parameterTwice), [{ statusCode: 400, body: message }])
  const hostTwice = requestText('GET /a', ['Host: x', 'Host: y', 'Connection: close'])
  t.match(await exchange(port, hostTwice), [{ statusCode: 400, body: /Host is sent more than once/ }])
})

t.test('the only parameter of a segment takes all text between prefix and suffix, encoded or not', async t => {
  const get = (id: string, name: string) => {
    return `get: { operationId: ${id}, parameters: [${parameter(name, 'path')}], ${anyResponse} }`
  }
  const { app } = await serve(t, {
    paths: `
  /j/{name}.json: { ${get('j', 'name')} }
  /u/{name}é: { ${get('u', 'name')} }
  /x/{id}(x): { ${get('x', 'id')} }
  /t/{id}:activate: { ${get('t', 'id')} }`
  })
  const values = {
    '/j/a.b.json': 'a.b',
    '/j/a%2Eb.json': 'a.b',
    '/u/a%C3%A9': 'a',
    '/x/1%28x%29': '1',
    '/x/1(x)': '1',
    '/t/a%3Ab:activate': 'a:b',
    '/t/%2525:activate': '%25'
  }
  for (const [url, value] of Object.entries(values)) {
    const { path = {} } = (await app.inject(url)).json()
    t.strictSame([url, Object.values(path)], [url, [value]])
  }
  const { port } = await listen(app)
  const otherScheme = requestText('GET ftp://evil/t/1:activate', ['Host: x', 'Connection: close'])
  t.match(await exchange(port, otherScheme), [{ statusCode: 400 }])
})

t.test('an unusual but valid schema is served', async t => {
  const { contract } = await serve(t, {
    paths: `  /a: { post: { operationId: a, ${jsonBody(ref('Odd'), false)}, ${anyResponse} } }`,
    components: `
  schemas:
    Odd:
      type: object
      x-foo.bar: 1
      example: { discriminator: null, 'x-a b': 1 }
      properties:
        x-rate.limit: { type: integer }
        kind: { enum: [${ref('No')}] }
        part: ${ref('Cat/properties/name')}
      patternProperties: { ^x: { type: integer } }
      if: { required: [a] }
      minContains: 1
    Pet: { oneOf: [${ref('Cat')}], discriminator: { propertyName: kind } }
    Cat: { type: object, then: { required: [x] }, properties: { name: { type: string }, kind: { type: string } } }`
  })
  const odd = JSON.stringify(contract.schemas.Odd)
  t.match(odd, '"enum":[{"$ref":"#/components/schemas/No"}]', 'a $ref inside an enum is data and does not change')
})
