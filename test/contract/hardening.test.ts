// What an attacker, or a mistake of ours, must not get out of the service, whatever the contract.
import t from 'tap'
import type { Test } from 'tap'
import { listen } from '../fixtures/app.ts'
import { serve } from '../fixtures/contract.ts'
import type { Untyped } from '../fixtures/contract.ts'
import { exchange } from '../fixtures/raw.ts'

const echo = "responses: { '200': { description: fine, content: { application/json: { schema: {} } } } }"

/** What an answer becomes that has a schema: its text, or the cause of the 500. */
async function answered (t: Test, schema: string, body: unknown, components = ''): Promise<string | undefined> {
  const { app, causes } = await serve(t, {
    paths: `  /a: { get: { operationId: a, responses: { '200': { description: fine, content: { application/json: { schema: ${schema} } } } } } }`,
    ...components && { components: `  schemas: { ${components} }` },
    handlers: { a: () => ({ status: 200, body }) }
  })
  const response = await app.inject('/a')
  return response.statusCode === 200 ? response.body : causes().at(-1)
}

t.test('members that the contract does not declare are not sent, wherever an object stands', async t => {
  const user = { name: 'n', email: 'private' }
  t.equal(await answered(t, "{ type: object, properties: { owner: { type: [object, 'null'], properties: { name: { type: string } } }, self: { type: [object, 'null'], properties: { name: { type: string }, email: { type: string } } } } }",
    { owner: user, self: user }), '{"owner":{"name":"n"},"self":{"name":"n","email":"private"}}', 'one object in two places')
  t.equal(await answered(t, "{ type: [object, 'null'] }", { secret: 1 }), '{}')
  t.equal(await answered(t, '{ type: array, items: { type: object, properties: { a: { type: string } } }, contains: { properties: { secret: {} } } }', [{ a: 'x', secret: 1 }]), '[{"a":"x"}]')
  t.equal(await answered(t, "{ type: [object, 'null'], properties: { n: { type: string } } }", { n: 'x', toJSON: () => ({ n: 1, secret: 1 }) }), '{"n":"x"}', 'an object that would write itself')
  t.equal(await answered(t, '{}', { at: new Date(0), big: 9007199254740993n }), '{"at":"1970-01-01T00:00:00.000Z","big":9007199254740993}', 'where anything goes, it may')
  t.equal(await answered(t, '{ type: object, properties: { a: { type: string } }, unevaluatedProperties: { type: string } }', { a: 'x', b: 'y' }), '{"a":"x","b":"y"}')
  t.equal(await answered(t, '{ type: object, properties: { constructor: { type: string }, toString: { type: string } } }', {}), '{}', 'what every object inherits is no member')
  t.equal(await answered(t, "{ $ref: '#/components/schemas/T' }", { t: { t: {}, u: 1 } }, "T: { type: object, properties: { t: { $ref: '#/components/schemas/T' } } }"), '{"t":{"t":{}}}', 'to any depth')
  t.equal(await answered(t, '{}', undefined), 'a answered 200 without its body')
})

t.test('members that are writeOnly do not leave, however the contract says so', async t => {
  const schemas = [
    "{ type: object, properties: { s: { allOf: [{ $ref: '#/components/schemas/Secret' }] } } }",
    '{ type: object, properties: { s: { oneOf: [{ type: string, writeOnly: true }] } } }',
    '{ type: object, patternProperties: { ^s: { type: string, writeOnly: true } } }',
    '{ type: object, additionalProperties: { type: string, writeOnly: true } }'
  ]
  for (const schema of schemas) t.match(await answered(t, schema, { s: 'SECRET' }, 'Secret: { type: string, writeOnly: true }'), /^the answer (?:at s must not be sent|must not have the member "s")$/, schema)
})

t.test('bounds of an int64 hold beside a reference, in answers and in parameters', async t => {
  const components = 'Id: { type: integer, format: int64 }'
  t.equal(await answered(t, "{ type: object, properties: { id: { $ref: '#/components/schemas/Id', minimum: 5 } } }", { id: 1n }, components), 'the answer at id must be >= 5')
  t.equal(await answered(t, "{ type: object, properties: { id: { $ref: '#/components/schemas/Id', enum: [1, 2] } } }", { id: 1n }, components), '{"id":1}')
  t.equal(await answered(t, "{ type: object, properties: { id: { $ref: '#/components/schemas/Id' } }, if: { properties: { id: { const: 1 } } }, then: { required: [x] } }", { id: 1n }, components), 'the answer must have the member "x"')
  const { app } = await serve(t, {
    paths: `  /a: { get: { operationId: a, parameters: [
      { name: q, in: query, schema: { $ref: '#/components/schemas/Id', minimum: 5 } }, { name: e, in: query, schema: { $ref: '#/components/schemas/Id', enum: [1, 2] } },
      { name: i, in: query, schema: { type: integer, allOf: [{ $ref: '#/components/schemas/Id' }] } }, { name: s, in: query, schema: { type: string, format: int64 } },
      { name: c, in: query, schema: { enum: [1, 2] } }, { name: k, in: query, schema: { const: true } }, { name: p, in: query, schema: { $ref: '#/components/schemas/P/properties/id' } }, { name: n, in: query, schema: { type: [string, 'null'], default: null } }], ${echo} } }`,
    components: `  schemas: { ${components}, P: { type: object, properties: { id: { type: integer, default: 7 } } } }`
  })
  t.match((await app.inject('/a?q=1')).json(), { error: 400, message: 'The query parameter "q" must be >= 5.' })
  t.equal((await app.inject('/a?q=9007199254740993&e=1&i=2&s=5&c=1&k=true')).body, '{"query":{"q":9007199254740993,"e":1,"i":2,"s":"5","c":1,"k":true,"p":7,"n":null}}')
})

t.test('what a handler throws is a failure, whatever it is', async t => {
  let thrown: unknown
  const { app } = await serve(t, { paths: `  /a: { get: { operationId: a, ${echo} } }`, handlers: { a: () => { throw thrown } } })
  for (const value of ['secret text', undefined, null, 7, Object.assign(new Error('up'), { code: 'ECONNRESET' }), Object.assign(new Error('up'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE', statusCode: 413 })]) {
    thrown = value
    const { statusCode, body } = await app.inject('/a')
    t.strictSame([statusCode, body], [500, '{"error":500,"message":"The service failed; its log says why."}'])
  }
})

t.test('a verifier that throws or rejects admits nobody, whatever it throws', async t => {
  let verify: () => unknown = () => {}
  const { app } = await serve(t, {
    top: 'security: [{ user: [] }]',
    paths: `  /a: { get: { operationId: a, ${echo} } }`,
    components: '  securitySchemes: { user: { type: http, scheme: bearer } }',
    verifiers: { user: () => verify() }
  })
  const failing = [undefined, null, new Error('down')].flatMap(thrown => [() => { throw thrown }, () => Promise.reject(thrown)])
  for (verify of failing) {
    const { statusCode, body } = await app.inject({ url: '/a', headers: { authorization: 'Bearer x' } })
    t.strictSame([statusCode, body], [500, '{"error":500,"message":"The service failed; its log says why."}'], String(verify))
  }
})

t.test('an answer that cannot be read is a failure', async t => {
  const unreadable = { get name () { throw new Error('unreadable') } }
  t.equal(await answered(t, '{ type: object, properties: { name: { type: string } } }', unreadable), 'unreadable')
})

t.test('credentials are those of the scheme, and a verdict is one', async t => {
  const { app } = await serve(t, {
    top: '',
    paths: `
  /referred: { get: { operationId: referred, security: [{ referred: [] }], ${echo} } }
  /maybe: { get: { operationId: maybe, security: [{ user: [], key: [] }, {}], ${echo} } }
  /open: { get: { operationId: open, security: [], ${echo} } }`,
    components: "  securitySchemes: { referred: { $ref: '#/components/securitySchemes/key' }, key: { type: apiKey, in: header, name: X-Key }, user: { type: http, scheme: bearer } }",
    handlers: { open: ({ principals }) => ({ status: 200, body: principals.user?.name ?? 'nobody' }) },
    verifiers: { referred: key => key === 'k' ? { name: 'k' } : null, key: key => key === 'k' ? { name: 'k' } : undefined, user: () => ({ name: 'u' }) }
  })
  const status = async (url: string, headers: Record<string, string> = {}) => (await app.inject({ url, headers })).statusCode
  t.strictSame([await status('/referred', { 'x-key': 'k' }), await status('/referred', { authorization: 'Bearer k' }), await status('/referred', { 'x-key': 'other' })], [200, 401, 401])
  t.strictSame([await status('/maybe'), await status('/maybe', { 'x-key': 'bad' }), await status('/maybe', { 'x-key': 'k' })], [200, 401, 401], 'credentials that were sent have to be enough')
  t.equal((await app.inject('/open')).body, '"nobody"')
  await t.rejects(serve(t, { top: 'security: [{ toString: [] }]', paths: `  /a: { get: { operationId: a, ${echo} } }` }), { message: /There is no security scheme toString\./ })
})

t.test('a body that is nested as deep as its schema lets it is 400', async t => {
  const { app } = await serve(t, {
    paths: `  /a: { post: { operationId: a, requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/L' } } } }, ${echo} } }`,
    components: "  schemas: { L: { type: array, items: { $ref: '#/components/schemas/L' } } }"
  })
  const response = await app.inject({ method: 'POST', url: '/a', headers: { 'content-type': 'application/json' }, payload: '['.repeat(20_000) + ']'.repeat(20_000) })
  t.match(response.json(), { error: 400, message: 'The body is nested too deeply.' })
})

t.test('parameters are found by their names alone', async t => {
  const { app } = await serve(t, {
    paths: `  /a: { get: { operationId: a, parameters: [{ name: constructor, in: header, schema: { type: string } }, { name: a b, in: query, schema: { type: string } }, { name: theme, in: cookie, schema: { type: string } }, { name: X-One, in: header, schema: { type: string } }], ${echo} } }`
  })
  t.strictSame((await app.inject({ url: '/a?a+b=1', headers: { cookie: '%zz=1; theme=a ; x' } })).json(), { header: {}, query: { 'a b': '1' }, cookie: { theme: 'a' } })
  const { port } = await listen(app)
  t.match(await exchange(port, 'GET /a HTTP/1.1\r\nHost: x\r\nX-One: a\r\nX-One: b\r\nConnection: close\r\n\r\n'), [{ statusCode: 400, body: /The header field \\"X-One\\" is sent more than once/ }])
  t.match(await exchange(port, 'GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n'), [{ statusCode: 400, body: /Host is sent more than once/ }])
})

t.test('one parameter in a segment takes all that the text around it leaves, encoded or not', async t => {
  const parameter = (name: string) => `parameters: [{ name: ${name}, in: path, required: true, schema: { type: string } }], ${echo}`
  const { app } = await serve(t, {
    paths: `
  /j/{name}.json: { get: { operationId: j, ${parameter('name')} } }
  /u/{name}é: { get: { operationId: u, ${parameter('name')} } }
  /x/{id}(x): { get: { operationId: x, ${parameter('id')} } }
  /t/{id}:activate: { get: { operationId: t, ${parameter('id')} } }`
  })
  const found: Untyped = { '/j/a.b.json': 'a.b', '/j/a%2Eb.json': 'a.b', '/u/a%C3%A9': 'a', '/x/1%28x%29': '1', '/x/1(x)': '1', '/t/a%3Ab:activate': 'a:b', '/t/%2525:activate': '%25' }
  for (const [url, value] of Object.entries(found)) t.strictSame([url, Object.values((await app.inject(url)).json().path ?? {})], [url, [value]])
  const { port } = await listen(app)
  t.match(await exchange(port, 'GET ftp://evil/t/1:activate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), [{ statusCode: 404 }])
})

t.test('odd but valid schemas are served', async t => {
  const { contract } = await serve(t, {
    paths: `  /a: { post: { operationId: a, requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Odd' } } } }, ${echo} } }`,
    components: `  schemas:
    Odd: { type: object, x-foo.bar: 1, example: { discriminator: null, 'x-a b': 1 }, properties: { x-rate.limit: { type: integer }, kind: { enum: [{ $ref: '#/components/schemas/No' }] }, part: { $ref: '#/components/schemas/Cat/properties/name' } }, patternProperties: { ^x: { type: integer } }, if: { required: [a] }, minContains: 1 }
    Pet: { oneOf: [{ $ref: '#/components/schemas/Cat' }], discriminator: { propertyName: kind } }
    Cat: { type: object, then: { required: [x] }, properties: { name: { type: string }, kind: { type: string } } }`
  })
  t.match(JSON.stringify(contract.schemas.Odd), '"enum":[{"$ref":"#/components/schemas/No"}]', 'data is left as it is')
})
