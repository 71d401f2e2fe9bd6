import type { InjectOptions } from 'fastify'
import t from 'tap'
import { listen } from '../../../fixtures/app.ts'
import {
  anyResponse, jsonBody, jsonContent, jsonResponse, noContent, parameter, serve
} from '../../../fixtures/contract.ts'
import { int64, json } from '../../../fixtures/features.ts'

t.test('`servers`', async t => {
  const paths = `
  /a: { get: { operationId: a, ${anyResponse} } }
  /b:
    servers: [{ url: 'https://b.example/own/' }]
    get: { operationId: b, ${anyResponse} }
    put: { operationId: c, servers: [{ url: / }], ${anyResponse} }`
  const statuses = async (servers: string, urls: string[]) => {
    const { app } = await serve(t, { paths, root: `security: []\n${servers}` })
    return Promise.all(urls.map(async url => (await app.inject(url)).statusCode))
  }
  t.strictSame(await statuses('', ['/a', '/own/b']), [200, 200])
  const several = 'servers: [{ url: https://example.org/api/v1 }, { url: /other }]'
  const urls = ['/api/v1/a', '/a', '/other/a', '/own/b', '/b']
  t.strictSame(await statuses(several, urls), [200, 404, 404, 200, 405])
  const withVariable = "servers: [{ url: '/{x}/a:b', variables: { x: { default: v 1 } } }]"
  t.strictSame(await statuses(withVariable, ['/v%201/a:b/a']), [200])
  t.strictSame(await statuses('servers: [{ url: v1 }]', ['/v1/a']), [200])
})

t.test('templates that differ in the names of parameters', async t => {
  const named = (name: string) => `parameters: [{ name: ${name}, in: path, required: true, schema: {} }], ${anyResponse}`
  const { app } = await serve(t, {
    paths: `
  /a/{x}: { post: { operationId: a, ${named('x')} } }
  /a/{y}: { get: { operationId: b, ${named('y')} } }
  /a/{z}.txt: { get: { operationId: c, ${named('z')} } }
  /a/me: { put: { operationId: d, ${anyResponse} } }`
  })
  const post = await app.inject({ method: 'POST', url: '/a/1' })
  t.strictSame([post.json(), (await app.inject('/a/1')).json()], [{ path: { x: '1' } }, { path: { y: '1' } }])
  const allow = { '/a/1': 'POST, GET, HEAD, OPTIONS', '/a/me': 'POST, GET, HEAD, PUT, OPTIONS' }
  for (const [url, methods] of Object.entries(allow)) {
    t.match(await app.inject({ method: 'DELETE', url }), { statusCode: 405, headers: { allow: methods } }, url)
  }
  t.strictSame((await app.inject('/a/me')).json(), { path: { y: 'me' } }, 'GET of the template')
})

t.test('paths that differ by a fragment', async t => {
  const id = parameter('id', 'path', int64)
  const object = (name: string, type: string) => {
    return `{ type: object, required: [${name}], properties: { ${name}: { type: ${type} } } }`
  }
  const form = (schema: string) => `requestBody: { required: true, ${jsonContent(schema, 'application/x-www-form-urlencoded')} }`
  const fields = (more: string) => `parameters: [{ name: fields, in: query, ${more} }]`
  const strings = 'schema: { type: array, items: { type: string } }'
  const { app, contract, causes } = await serve(t, {
    paths: `
  /files/{id}#share:
    parameters: [${id}]
    put: { operationId: share, ${jsonBody(object('link', 'string'))}, ${anyResponse} }
    patch: { operationId: patch, ${jsonBody(object('tag', 'string'))}, ${anyResponse} }
  /files/{id}:
    put: { operationId: update, parameters: [${id}], ${jsonBody(object('size', 'integer'))}, ${anyResponse} }
  /shared: { get: { operationId: shared, ${fields(`explode: false, ${strings}`)}, ${jsonResponse(object('file', 'string'))} } }
  /shared#folder: { get: { ${fields('required: true, schema: { type: string }')}, ${jsonResponse(object('folder', 'string'))} } }
  /token#one: { post: { operationId: token, ${form(object('code', 'string'))}, ${anyResponse} } }
  /token#two: { post: { operationId: refresh, ${form(object('count', 'integer'))}, ${anyResponse} } }`,
    handlers: { shared: ({ query }) => ({ status: 200, body: { [query.fields ?? 'file']: 'x', other: 1 } }) },
    docs: true
  })
  t.strictSame(Object.keys(contract.operations), ['update', 'patch', 'shared', 'token'])
  const send = async (method: 'POST' | 'PUT' | 'PATCH', url: string, payload: object | string) => {
    const type = typeof payload === 'string' ? 'application/x-www-form-urlencoded' : json['content-type']
    const { statusCode, body } = await app.inject({ method, url, payload, headers: { 'content-type': type } })
    return [statusCode, JSON.parse(body).body ?? JSON.parse(body).message]
  }
  t.strictSame(await send('PUT', '/files/1', { link: 'a' }), [200, { link: 'a' }])
  t.strictSame(await send('PUT', '/files/1', { size: 1 }), [200, { size: 1 }])
  t.match(await send('PUT', '/files/1', { link: 1 }), [400, /"link" in the body must be a string/])
  t.match(await send('PUT', '/files/x', { link: 'a' }), [400, /"id"/])
  t.strictSame(await send('PATCH', '/files/1', { tag: 'a' }), [200, { tag: 'a' }])
  t.match(await send('PATCH', '/files/1', { link: 'a' }), [400, /must have the member "tag"/])
  t.strictSame(await send('POST', '/token', 'code=1'), [200, { code: '1' }])
  t.strictSame(await send('POST', '/token', 'count=1'), [200, { count: 1 }])
  t.match(await send('POST', '/token', 'count=a'), [400, /"count"/])

  const answers = async (query: string) => (await app.inject(`/shared${query}`)).body
  t.equal(await answers(''), '{"file":"x"}')
  t.equal(await answers('?fields=folder'), '{"folder":"x"}')
  t.match(JSON.parse(await answers('?fields=a,b')), { error: 500 })
  t.match(causes(), [/answer/])
  t.equal((await app.inject('/shared%23folder')).statusCode, 404)
})

t.test('QUERY and `additionalOperations` of OpenAPI 3.2', async t => {
  const body = `{ ${jsonContent(`{ type: object, required: [size], properties: { size: ${int64} } }`)} }`
  const { app, contract } = await serve(t, {
    openapi: '3.2.0',
    paths: `
  /plants:
    parameters: [${parameter('page', 'query', '{ type: integer }')}]
    get: { operationId: list, ${anyResponse} }
    query: { operationId: find, requestBody: { $ref: '#/components/requestBodies/Find' }, ${anyResponse} }
    additionalOperations:
      COPY: { operationId: copy, ${anyResponse} }
      LINK: { requestBody: ${body}, ${anyResponse} }
`,
    components: `  requestBodies: { Find: ${body} }`,
    docs: true
  })
  t.strictSame(Object.keys(contract.operations), ['list', 'find', 'copy', 'linkPlants'])
  const send = async (method: string, payload?: string, type = 'application/json') => {
    const headers = payload === undefined ? {} : { 'content-type': type }
    const options = { method, url: '/plants?page=2', headers, payload } as InjectOptions
    const { statusCode, body } = await app.inject(options)
    return [statusCode, JSON.parse(body)]
  }
  const echo = { query: { page: 2 }, body: { size: 1 } }
  t.strictSame(await send('QUERY', '{"size":1}'), [200, echo])
  t.match(await send('QUERY', '{"size":"1"}'), [400, { message: /"size" in the body must be an integer/ }])
  t.match(await send('QUERY', 'x', 'text/plain'), [415, { message: /must be sent as Content-Type: application\/json/ }])
  t.match(await send('QUERY'), [400, { message: /^This operation needs a body, sent as application\/json, / }])
  t.strictSame(await send('COPY'), [200, { query: { page: 2 } }])
  t.match(await send('COPY', '{}'), [415, { message: 'This operation accepts no body.' }])
  t.strictSame(await send('LINK', '{"size":1}'), [200, echo])
  t.strictSame(await send('LINK'), [200, { query: { page: 2 } }])
  const allow = 'GET, HEAD, QUERY, COPY, LINK, OPTIONS'
  t.match(await app.inject({ method: 'OPTIONS', url: '/plants' }), { statusCode: 204, headers: { allow } })
  const { statusCode, headers, body: refusal } = await app.inject({ method: 'MOVE', url: '/plants' } as unknown as InjectOptions)
  t.match([statusCode, headers.allow, JSON.parse(refusal).message], [405, allow, /does not support MOVE, only GET/])
  t.equal((await app.inject({ method: 'COPY', url: '/none' } as unknown as InjectOptions)).statusCode, 404)
  t.equal((await app.inject('/docs')).statusCode, 200)
  const { origin } = await listen(app)
  const init = { method: 'QUERY', headers: json, body: '{"size":1}' }
  t.strictSame(await (await fetch(`${origin}/plants?page=2`, init)).json(), echo)
  t.equal((await fetch(`${origin}/plants`, { method: 'COPY' })).status, 200)
})

t.test('HEAD, OPTIONS and 405', async t => {
  const { app } = await serve(t, {
    paths: `
  /a:
    get: { operationId: a, ${anyResponse} }
    put: { operationId: b, ${anyResponse} }
  /b:
    get: { operationId: c, ${anyResponse} }
    head: { operationId: d, ${noContent} }
    options: { operationId: e, ${anyResponse} }`,
    handlers: { d: () => ({ status: 204 }) }
  })
  const allow = 'GET, HEAD, PUT, OPTIONS'
  const head = await app.inject({ method: 'HEAD', url: '/a' })
  t.match(head, { statusCode: 200, body: '', headers: { 'content-length': '2' } })
  t.match(await app.inject({ method: 'OPTIONS', url: '/a' }), { statusCode: 204, headers: { allow } })
  t.match(await app.inject({ method: 'DELETE', url: '/a' }), { statusCode: 405, headers: { allow } })
  t.equal((await app.inject({ method: 'HEAD', url: '/b' })).statusCode, 204, 'the contract declares HEAD')
  t.equal((await app.inject({ method: 'OPTIONS', url: '/b' })).statusCode, 200, 'the contract declares OPTIONS')
  const put = await app.inject({ method: 'PUT', url: '/b' })
  t.match(put, { statusCode: 405, headers: { allow: 'GET, OPTIONS, HEAD' } })
})
