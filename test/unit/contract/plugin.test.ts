// The contract as a plugin of an app that has other routes, plugins and contracts.
import swagger from '@fastify/swagger'
import fastify, { type FastifyInstance } from 'fastify'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectSecurely, type TlsOptions } from 'node:tls'
import t, { type Test } from 'tap'
import {
  type Contract, type ContractService, HttpError, serveContract, serverOptions
} from '../../../src/contract/index.ts'
import { Overload } from '../../../src/contract/server/index.ts'
import { listen } from '../../fixtures/app.ts'
import {
  anyResponse, contractText, described, jsonResponse, loadContract, type TestContract
} from '../../fixtures/contract.ts'

type Service = ContractService<Record<string, unknown>, Contract>

const item = `parameters: [{ name: id, in: path, required: true, schema: { type: integer } }], ${anyResponse}`
const items: TestContract = {
  root: "security: []\nservers: [{ url: 'https://example.com/store' }]",
  paths: `  /items/{id}: { get: { operationId: readItem, ${item} } }
  /fail: { get: { operationId: fail, ${anyResponse} } }`
}
const handlers = {
  readItem: ({ path }: any) => ({ status: 200, body: path }),
  fail: () => { throw new Error('a secret') }
}

async function plugin (t: Test, parts: TestContract, service: object = { handlers }) {
  const folder = t.testdir({ 'openapi.yaml': contractText(parts) })
  const contract = described(await loadContract(join(folder, 'openapi.yaml'), { allowOpen: true }))
  return serveContract({ verifiers: {}, warn: () => {}, contract, ...service } as unknown as Service)
}

async function startApp (t: Test, app: FastifyInstance = fastify(serverOptions())): Promise<FastifyInstance> {
  t.teardown(() => app.close())
  return app
}

async function get (app: FastifyInstance, url: string) {
  const { statusCode, headers, body } = await app.inject(url)
  return { statusCode, headers, body }
}

t.test('the plugin leaves the other routes and plugins of an app alone', async t => {
  const app = await startApp(t)
  app.get('/before', async () => ({ here: true }))
  await app.register(await plugin(t, items))
  const schema = { response: { 200: { type: 'object', properties: { kept: { type: 'integer' } } } } }
  app.post('/own', { schema }, async ({ body }) => body as object)
  app.get('/', async () => 'home')
  app.get('/broken', async () => { throw Object.assign(new Error('teapot'), { statusCode: 418 }) })
  t.match(await get(app, '/store/items/7'), { statusCode: 200, body: '{"id":7}' })
  t.match(await get(app, '/before'), { body: '{"here":true}', headers: { 'x-request-id': undefined } })
  t.equal((await get(app, '/')).body, 'home')
  const own = await app.inject({ method: 'POST', url: '/own', payload: { kept: 1, dropped: 2 } })
  t.equal(own.body, '{"kept":1}')
  t.match(await get(app, '/broken'), { statusCode: 418, body: /"error":"I'm a Teapot"/ })
})

for (const prefix of ['/v1', '/v1/']) {
  t.test(`the prefix ${prefix} replaces the path of the server`, async t => {
    const app = await startApp(t)
    const warnings: string[] = []
    const warn = (sentence: string) => warnings.push(sentence)
    await app.register(await plugin(t, items, { handlers, warn }), { prefix })
    t.equal(warnings[0], 'GET /v1/items/{id} needs no credentials.')
    t.match(await get(app, '/v1/items/7'), { statusCode: 200 })
    t.match(await get(app, '/v1/items/x'), { statusCode: 400 })
    t.match(await get(app, '/store/items/7'), { statusCode: 404, body: /Route GET:/ }, 'elsewhere the app answers')
    t.match(await get(app, '/v1/nothing'), { statusCode: 404, body: /There is nothing at \/v1\/nothing/ })
    const put = await app.inject({ method: 'PUT', url: '/v1/items/7' })
    t.match({ status: put.statusCode, allow: put.headers.allow }, { status: 405, allow: 'GET, HEAD, OPTIONS' })
    t.match(await get(app, '/v1/'), { statusCode: 302, headers: { location: '/v1/docs' } })
    const page = await get(app, '/v1/docs')
    const [, link = ''] = /src="([^"]+)"/.exec(page.body) ?? []
    t.match(link, /^\/v1\/docs\/static\//)
    t.equal((await get(app, link)).statusCode, 200)
    t.strictSame((await app.inject('/v1/docs/json')).json().servers, [{ url: '/v1' }])
  })
}

t.test('the prefix / leaves out the path of the server', async t => {
  const app = await startApp(t)
  await app.register(await plugin(t, items), { prefix: '/' })
  t.match(await get(app, '/items/7'), { statusCode: 200 })
  t.match(await app.inject({ method: 'PUT', url: '/items/7' }), { statusCode: 405 })
  t.match(await get(app, '/'), { statusCode: 302, headers: { location: '/docs' } })
  t.strictSame((await app.inject('/docs/json')).json().servers, [{ url: '/' }])
})

t.test('a misspelt variable of an address is refused', async t => {
  const tenant: TestContract = { ...items, root: "security: []\nservers: [{ url: '/{tenant}', variables: { tenant: { default: a } } }]" }
  const withVariables = async (variables: object) => {
    const app = await startApp(t)
    await app.register(await plugin(t, tenant, { handlers, variables }))
    return app
  }
  await t.rejects(withVariables({ tennant: 'b' }), {
    message: 'The address of the contract has no variable tennant. Did you mean tenant?'
  })
  t.match(await get(await withVariables({ tenant: 'b', stage: 'c' }), '/b/items/7'), { statusCode: 200 })
})

t.test('a prefix with a parameter is refused', async t => {
  const app = await startApp(t)
  const registered = app.register(await plugin(t, items), { prefix: '/:tenant' })
  await t.rejects(Promise.resolve(registered), { message: 'The prefix /:tenant of a contract must have no parameters.' })
})

t.test('an app may serve several contracts', async t => {
  const others: TestContract = { root: 'security: []', paths: `  /others: { post: { operationId: other, ${anyResponse} } }` }
  const other = { handlers: { other: () => ({ status: 200, body: 1 }) } }
  const warnings: string[] = []
  const app = await startApp(t)
  await app.register(await plugin(t, items))
  await app.register(await plugin(t, others, { ...other, warn: (sentence: string) => warnings.push(sentence) }))
  await app.register(await plugin(t, others, other), { prefix: '/v2' })
  t.equal(warnings[0], 'The page of the contract is not served: /docs is taken.')
  t.equal((await get(app, '/store/items/7')).statusCode, 200)
  for (const url of ['/others', '/v2/others']) {
    t.equal((await app.inject({ method: 'POST', url })).statusCode, 200, url)
    t.match(await get(app, url), { statusCode: 405, headers: { allow: 'POST, OPTIONS' } }, url)
  }
})

t.test('further routes have the errors and the credentials of the contract', async t => {
  const app = await startApp(t)
  await app.register(await plugin(t, {
    root: 'security: [{ key: [] }]',
    paths: `  /a: { get: { operationId: a, ${anyResponse} } }`,
    components: '  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }'
  }, {
    handlers: { a: () => ({ status: 200, body: 1 }) },
    verifiers: { key: (key: string) => key === 'good' ? { name: 'x' } : undefined },
    routes (own: FastifyInstance, authenticate: (security: object[]) => never[]) {
      own.get('/own', { onRequest: authenticate([{ key: [] }]) }, async ({ principals }) => principals)
      own.get('/refused', async () => { throw new HttpError(403, 'Not you.') })
    }
  }))
  const admitted = await app.inject({ url: '/own', headers: { 'x-key': 'good' } })
  t.equal(admitted.body, '{"key":{"name":"x"}}')
  t.match(await get(app, '/own'), { statusCode: 401, headers: { 'www-authenticate': /ApiKey/i } })
  t.match(await get(app, '/refused'), { statusCode: 403, body: '{"statusCode":403,"error":"Forbidden","message":"Not you."}' })
})

t.test('an app without the server options is told what it lacks', async t => {
  const warnings: string[] = []
  const app = await startApp(t, fastify())
  const warn = (sentence: string) => warnings.push(sentence)
  await app.register(await plugin(t, items, { handlers, warn }))
  const { statusCode, headers } = await app.inject({
    url: '/store/items/7', headers: { 'x-request-id': 'abc' }
  })
  t.match({ statusCode, headers }, { statusCode: 200, headers: { 'x-request-id': 'req-1' } })
  t.equal(warnings.length, 3)
  t.match(warnings[0], /^The app was created without fastify\(serverOptions\(\)\)\./)
  t.match(warnings[0], / keeps its X-Request-Id only if the app sets requestIdHeader\.$/)
  t.match(warnings[1], /^GET \/store\/items\/\{id\} needs no credentials\./)
})

t.test('errors before routing have the shape of the first contract', async t => {
  const app = await startApp(t)
  const { port } = await listen(await startApp(t))
  t.equal(await exchange(port, 'no HTTP\r\n\r\n'), '{"statusCode":400,"error":"Bad Request","message":"This is not an HTTP/1.1 request with a known method in capitals."}')
  await app.register(await plugin(t, items, { handlers, errorBody: (code: number) => ({ code }) }))
  const logged: object[] = []
  await app.register(await plugin(t, items, { handlers, log: (error: object) => logged.push(error) }), { prefix: '/v2' })
  const { port: ofContract } = await listen(app)
  t.equal(await exchange(ofContract, 'no HTTP\r\n\r\n'), '{"code":400}')
  t.match(await get(app, '/v2/fail'), { statusCode: 500, body: /"statusCode":500/ })
  t.match(logged, [{ status: 500, cause: { message: 'a secret' } }])
})

/** The body of the response to these bytes. */
async function exchange (port: number, bytes: string): Promise<string> {
  const socket = connect(port)
  socket.end(bytes)
  return (await text(socket)).split('\r\n\r\n')[1] ?? ''
}

t.test('failures are logged with their cause, or written to standard error', async t => {
  const lines: string[] = []
  const stream = { write: (line: string) => { lines.push(line) } }
  const logging = await startApp(t, fastify({ ...serverOptions(), logger: { stream } }))
  // The sentences of the start go to the log, too.
  const hooks = () => ({
    onRequest: async ({ url }: { url: string }) => { if (url.endsWith('?busy')) throw new Overload('a table') }
  })
  await logging.register(await plugin(t, items, { handlers, hooks, warn: undefined, docs: false }))
  lines.length = 0
  await get(logging, '/store/fail?secret=1')
  await get(logging, '/store/items/x')
  await get(logging, '/store/items/x?busy')
  const own = lines.map(line => JSON.parse(line)).filter(({ status }) => status !== undefined)
  t.match(own, [
    { level: 50, path: '/store/fail', status: 500, err: { message: 'a secret' } },
    { level: 30, path: '/store/items/x', status: 400, msg: /must be/ },
    { level: 30, path: '/store/items/x', status: 503, msg: /waited more than 500 ms for a table/ }
  ])
  const printed = t.capture(console, 'error', () => {})
  const silent = await startApp(t)
  await silent.register(await plugin(t, items))
  await get(silent, '/store/fail')
  await get(silent, '/store/items/x')
  t.match(printed().map(({ args }) => args), [['GET /store/fail: The service failed. Its log records the cause.', { message: 'a secret' }]])
})

t.test('an answer that breaks the contract is logged, where it is sent', async t => {
  const printed = t.capture(console, 'error', () => {})
  const app = await startApp(t)
  const paths = `  /a: { get: { operationId: a, ${jsonResponse('{ type: integer }')} } }`
  const service = { handlers: { a: () => ({ status: 200, body: 'x' }) }, answers: 'log' }
  await app.register(await plugin(t, { root: 'security: []', paths }, service))
  t.match(await get(app, '/a'), { statusCode: 200, body: '"x"' })
  t.match(printed().map(({ args }) => args), [['GET /a: A broken answer was sent.', Error]])
})

t.test('a body that is wrong after its answer has begun is no failure of the service', async t => {
  const app = await startApp(t)
  const lines = 'content: { application/jsonl: { schema: { type: integer } } }'
  const paths = `  /a: { post: { operationId: a, requestBody: { ${lines} }, responses: { '200': { description: fine, ${lines} } } } }`
  const logged: object[] = []
  const log = ({ status, message }: { status: number, message: string }) => logged.push({ status, message })
  const service = { handlers: { a: ({ body }: any) => ({ status: 200, body }) }, log }
  await app.register(await plugin(t, { root: 'security: []', paths }, service))
  const headers = { 'content-type': 'application/jsonl' }
  await t.rejects(app.inject({ method: 'POST', url: '/a', headers, payload: '1\n"x"\n' }))
  t.strictSame(logged, [{ status: 400, message: 'The answer broke off: Line 2 of the body must be an integer.' }])
})

t.test('errors of hooks are mapped like those of handlers, and those of the engine are not', async t => {
  const limited = Object.assign(new Error('Slow down.'), { statusCode: 429 })
  const hooks = ({ id }: { id: string }) => id === 'fail' ? { onRequest: async () => { throw limited } } : {}
  const seen: unknown[] = []
  const toHttpError = (error: Error & { statusCode?: number }) => {
    seen.push(error)
    return error.statusCode === 429 ? new HttpError(429, error.message) : undefined
  }
  const app = await startApp(t)
  await app.register(await plugin(t, items, { handlers, hooks, toHttpError }))
  t.match(await get(app, '/store/fail'), { statusCode: 429, body: /"message":"Slow down\."/ })
  t.match(await get(app, '/store/items/x'), { statusCode: 400 })
  t.strictSame(seen, [limited])
})

t.test('an error of another plugin keeps its status from 400 to 499', async t => {
  const app = await startApp(t)
  let thrown: object = {}
  app.addHook('onRequest', async () => { throw Object.assign(new Error('Slow down.'), thrown) })
  await app.register(await plugin(t, items, { handlers, log: () => {} }))
  const statuses = [{ statusCode: 429 }, { statusCode: 503 }, { statusCode: '429' }, { statusCode: 400, code: 'FST_ERR_X' }, {}]
  const found = []
  for (thrown of statuses) {
    const { statusCode, body } = await get(app, '/store/items/7')
    found.push(statusCode)
    if (statusCode === 429) t.equal(body, '{"statusCode":429,"error":"Too Many Requests","message":"Slow down."}')
  }
  t.strictSame(found, [429, 500, 500, 500, 500])
})

t.test('the router of the app may have other options', async t => {
  const warnings: string[] = []
  const warn = (sentence: string) => warnings.push(sentence)
  const options = { ...serverOptions(), routerOptions: { ignoreTrailingSlash: true, maxParamLength: 50 } }
  const app = await startApp(t, fastify(options))
  await app.register(await plugin(t, items, { handlers, warn }))
  t.match(warnings[0], /^The routerOptions of the app replace .* of more than 50 characters gets 414\./)
  for (const url of ['/docs', '/docs/', '/store/items/7/']) t.equal((await get(app, url)).statusCode, 200, url)
  t.match(await get(app, `/store/items/${'7'.repeat(51)}`), { statusCode: 414, body: /A parameter in the path is too long/ })
})

t.test('an app may ignore slashes at the end by the option of Fastify itself', async t => {
  const app = await startApp(t, fastify({ ignoreTrailingSlash: true }))
  await app.register(await plugin(t, items))
  for (const url of ['/docs', '/docs/']) t.equal((await get(app, url)).statusCode, 200, url)
})

t.test('the page of the app does not describe the routes of the contract', async t => {
  const app = await startApp(t)
  await app.register(swagger)
  app.get('/own', async () => 1)
  await app.register(await plugin(t, { ...items, paths: `${items.paths}\n  /fail/{x}: { put: { operationId: put, parameters: [{ name: x, in: path, required: true, schema: {} }], ${anyResponse} } }` }, {
    handlers: { ...handlers, put: handlers.readItem }
  }))
  await app.ready()
  t.strictSame(Object.keys(app.swagger().paths ?? {}), ['/own'])
})

t.test('contracts may have the same prefix', async t => {
  const others: TestContract = { root: 'security: []', paths: `  /others: { post: { operationId: other, ${anyResponse} } }` }
  const app = await startApp(t)
  await app.register(await plugin(t, items), { prefix: '/v1' })
  await app.register(await plugin(t, others, { handlers: { other: () => ({ status: 200, body: 1 }) } }), { prefix: '/v1' })
  t.equal((await get(app, '/v1/items/7')).statusCode, 200)
  t.equal((await app.inject({ method: 'POST', url: '/v1/others' })).statusCode, 200)
  t.match(await get(app, '/v1/nothing'), { statusCode: 404, body: /There is nothing at/ })
  t.strictSame((await app.inject('/v1/docs/json')).json().servers, [{ url: '/v1' }])
})

t.test('a handler that returns nothing is named in the log', async t => {
  const logged: Array<{ cause?: unknown }> = []
  const app = await startApp(t)
  const log = (error: object) => logged.push(error)
  await app.register(await plugin(t, items, { handlers: { ...handlers, fail: () => {} }, log }))
  t.equal((await get(app, '/store/fail')).statusCode, 500)
  t.match(logged, [{ cause: { message: 'The handler fail returned nothing.' } }])
})

t.test('an app that has its own answer to unknown paths keeps it', async t => {
  const app = await startApp(t)
  app.setNotFoundHandler(async () => 'mine')
  await app.register(await plugin(t, items))
  t.match(await get(app, '/nothing'), { body: 'mine' })
})

t.test('a service is told, with its first error, that errorBody() writes what the contract does not declare', async t => {
  const error = '{ type: object, required: [code], properties: { code: { enum: [gone] } } }'
  const paths = `  /a: { get: { operationId: a, responses: { '400': { description: x, content: { application/json: { schema: ${error} } } } } } }`
  const cases: Array<[body: object, fault: RegExp[]]> = [
    [{ code: 'gone' }, []],
    [{ code: 'lost' }, [/^errorBody\(\) writes what no error of the contract is: "code" must be "gone"\.$/]],
    [{ kode: 'gone' }, [/ is: it must have the member "code"\.$/]]
  ]
  for (const [body, fault] of cases) {
    const warnings: string[] = []
    const warn = (sentence: string) => warnings.push(sentence)
    const app = await startApp(t)
    await app.register(await plugin(t, { root: 'security: []', paths }, { handlers: { a: () => {} }, errorBody: () => body, warn }))
    for (let nth = 0; nth < 2; nth++) t.strictSame(JSON.parse((await get(app, '/nothing')).body), body)
    t.match(warnings.filter(line => line.startsWith('errorBody')), fault)
    t.equal(warnings.filter(line => line.startsWith('errorBody')).length, fault.length)
  }
})

t.test('errors by errorBody() have the media type of those of the contract', async t => {
  const content = '{ application/problem+json: { schema: { type: object } } }'
  const paths = `  /a: { get: { operationId: a, responses: { default: { description: x, content: ${content} } } } }`
  const app = await startApp(t)
  const service = { handlers: { a: () => {} }, errorBody: (code: number) => ({ code }) }
  await app.register(await plugin(t, { root: 'security: []', paths }, service))
  const { headers, body } = await get(app, '/nothing')
  t.equal(headers['content-type'], 'application/problem+json; charset=utf-8')
  t.equal(body, '{"code":404}')
})

t.test('a limit that is none is refused', async t => {
  const cases: Array<[options: object, message: string]> = [
    [{ responseTimeoutMs: 0 }, 'responseTimeoutMs must be a whole number from 1 to 2147483647, and not 0.'],
    [{ responseTimeoutMs: '10' as never }, 'responseTimeoutMs must be a whole number from 1 to 2147483647, and not the text 10.'],
    [{ responseTimeoutMs: Infinity }, 'responseTimeoutMs must be a whole number from 1 to 2147483647, and not Infinity.'],
    [{ bodyLimits: { fileBytes: NaN } }, `fileBytes must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}, and not NaN.`]
  ]
  for (const [options, message] of cases) {
    const app = fastify()
    app.register(await plugin(t, items, { handlers, ...options }))
    await t.rejects(async () => { await app.ready() }, { message })
  }
  const app = await startApp(t)
  await app.register(await plugin(t, items, { handlers, responseTimeoutMs: 1, bodyLimits: { fileBytes: 2 ** 33 } }))
})

t.test('errorBody() gets the id of the request, and each fault with its place', async t => {
  const schema = '{ type: object, required: ["a/"], properties: { a: { type: object, properties: { b: { type: integer } } } } }'
  const paths = `  /a:
    post:
      operationId: a
      parameters:
        - { name: limit, in: query, required: true, schema: { type: integer } }
        - { name: order, in: query, schema: { enum: [up] } }
      requestBody: { content: { application/json: { schema: ${schema} } } }
      responses: { default: { description: x } }`
  const app = await startApp(t)
  const service = {
    handlers: {
      a () { throw new HttpError(409, 'Taken.', { faults: [{ in: 'body', path: '/a', message: 'Taken.' }] }) }
    },
    errorBody: (_status: number, _message: string, details: object) => details
  }
  await app.register(await plugin(t, { root: 'security: []', paths }, service))
  const faultsOf = async (url: string, body = {}) => {
    const response = await app.inject({ method: 'POST', url, headers: { 'x-request-id': 'r7' }, payload: body })
    t.equal(response.json().requestId, 'r7')
    return response.json().faults
  }
  t.strictSame(await faultsOf('/a?order=down'), [
    { in: 'query', path: 'limit', message: 'The query parameter "limit" is missing.' },
    { in: 'query', path: 'order', message: 'The query parameter "order" must be "up".' }
  ])
  t.strictSame(await faultsOf('/a?limit=1', { 'a/': 1, a: { b: 'x' } }), [
    { in: 'body', path: '/a/b', message: '"a/b" in the body must be an integer.' }
  ])
  t.strictSame(await faultsOf('/a?limit=1', { c: 1 }), [
    { in: 'body', path: '/a~1', message: 'The body must have the member "a/".' }
  ])
  t.strictSame(await faultsOf('/a?limit=2', { 'a/': 1 }), [{ in: 'body', path: '/a', message: 'Taken.' }])
  t.strictSame(await faultsOf('/nothing'), [])
})

t.test('a service is told that its errors cannot be filled', async t => {
  const warnings: string[] = []
  const odd = '{ required: [odd], properties: { odd: { type: boolean } } }'
  const paths = `  /a: { get: { operationId: a, responses: { '400': { description: x, content: { application/json: { schema: ${odd} } } } } } }`
  const service = { handlers: { a: () => {} }, warn: (sentence: string) => warnings.push(sentence) }
  const app = await startApp(t)
  await app.register(await plugin(t, { root: 'security: []', paths }, service))
  t.match(warnings[0], /^The error schema of "Other" .*: no member is a status, a title or a sentence\. Errors have the shape of Fastify/)
  t.match(await get(app, '/nothing'), { body: /"statusCode":404/ })
})

t.test('CommonJS loads the package and generated code by require()', async t => {
  const require = createRequire(import.meta.url)
  t.equal(require('fastify-openapi-contract').serveContract, serveContract)
  t.match(require('../../../generated/index.ts').contract, { operations: { createPlant: { method: 'POST' } } })
})

/** TLS by a shared key, which needs no certificate. */
const tls = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const

t.test("Fastify's option https needs the server options without their factory", async t => {
  const psk = Buffer.from('secret')
  const { serverFactory, ...options } = serverOptions()
  const https: TlsOptions = { ...tls, pskCallback: () => psk }
  const app = await startApp(t, fastify({ ...options, https } as object))
  await app.register(await plugin(t, items))
  const { port } = await listen(app)
  const pskCallback = () => ({ identity: 'a', psk })
  const socket = connectSecurely({ ...tls, port, host: '127.0.0.1', pskCallback, checkServerIdentity: () => undefined })
  socket.end('GET /store/items/7 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match(await text(socket), /^HTTP\/1\.1 200 /)
  t.throws(() => fastify({ serverFactory, ...options, https } as object), { message: /without TLS: put a proxy/ })
})
