import { join } from 'node:path'
import t from 'tap'
import { readContract } from '../../../../src/contract/generate/read-contract.ts'
import { stubs } from '../../../../src/contract/index.ts'
import {
  anyResponse, contractText, jsonBody, jsonContent, jsonResponse, parameter, serve, serveLoaded
} from '../../../fixtures/contract.ts'
import { json } from '../../../fixtures/features.ts'

t.test('an operation without `operationId`, or with that of another', async t => {
  const item = "/{user_id}/a-b.c': { get: { " + `parameters: [${parameter('user_id', 'path')}]`
  const { contract } = await serve(t, {
    paths: `
  '/a${item}, ${anyResponse} } }
  '/b${item}, operationId: same, ${anyResponse} }, put: { ${anyResponse} } }
  '/c${item}, operationId: same, ${anyResponse} } }
  '/D${item}, operationId: getABC, ${anyResponse} } }
  /a/b.c: { get: { ${anyResponse} } }`.replaceAll('put: {', `put: { parameters: [${parameter('user_id', 'path')}],`)
  })
  t.strictSame(Object.keys(contract.operations), [
    'getAByUserIdABC', 'getBByUserIdABC', 'putBByUserIdABC', 'getCByUserIdABC', 'getABC', 'getABC2'
  ])
})

t.test('an operation without responses', async t => {
  const handlers = { a: () => ({ status: 202 }), b: () => ({ status: 202, body: 'x' }) }
  const { app, causes } = await serve(t, {
    paths: '  /a: { get: { operationId: a } }\n  /b: { get: { operationId: b, responses: {} } }',
    handlers
  })
  t.match(await app.inject('/a'), { statusCode: 202, payload: '' })
  t.equal((await app.inject('/b')).statusCode, 500)
  t.match(causes(), ['b answered 202 with a body, which the contract does not declare'])
})

t.test('operations that cannot be served', async t => {
  const { app, contract } = await serve(t, {
    paths: `
  /a: { get: { operationId: a, responses: { '101': { description: other } } } }
  /b: { get: { operationId: b, ${anyResponse} } }`,
    leniency: { skipUnsupported: true }
  })
  t.match(contract.skipped, [{ method: 'GET', url: '/a', reason: /^a status other than .* \(101\)$/ }])
  t.equal((await app.inject('/a')).statusCode, 501)
  t.equal((await app.inject('/b')).statusCode, 200)
})

t.test('deprecated operations', async t => {
  const { app } = await serve(t, {
    root: 'security: [{ key: [] }]',
    paths: `
  /a:
    get: { operationId: a, deprecated: true, x-deprecation: 2026-01-31, x-sunset: '2026-06-30', parameters: [${parameter('n', 'query', '{ type: integer }')}], ${anyResponse} }
    put: { operationId: b, deprecated: true, ${anyResponse} }`,
    components: '  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }',
    verifiers: { key: () => ({ name: 'caller' }) }
  })
  const headers = { 'x-key': 'x' }
  const dated = { deprecation: '@1769817600', sunset: 'Tue, 30 Jun 2026 00:00:00 GMT' }
  for (const method of ['GET', 'HEAD'] as const) t.match(await app.inject({ method, url: '/a', headers }), { statusCode: 200, headers: dated })
  t.match(await app.inject({ url: '/a?n=x', headers }), { statusCode: 400, headers: dated })
  t.match(await app.inject('/a'), { statusCode: 401, headers: dated })
  const dateless = { deprecation: undefined, sunset: undefined }
  t.match(await app.inject({ method: 'PUT', url: '/a', headers }), { statusCode: 200, headers: dateless })
})

t.test('tags', async t => {
  const { contract } = await serve(t, { paths: `  /a: { get: { operationId: a, tags: [x, y], ${anyResponse} } }` })
  t.strictSame(contract.operations.a?.tags, ['x', 'y'], 'tagged-handlers.test.ts tests the types')
})

t.test('extensions of operations', async t => {
  const { app } = await serve(t, {
    paths: `  /a: { get: { operationId: a, x-hidden: true, ${anyResponse} } }`,
    hooks: ({ extensions }) => ({
      onRequest: async (_request, reply) => { if (extensions['x-hidden'] === true) await reply.code(404).send('') }
    })
  })
  t.equal((await app.inject('/a')).statusCode, 404)
})

t.test('examples', async t => {
  const folder = t.testdir({
    'other.yaml': contractText({
      paths: `
  /a: { get: { operationId: a, ${jsonResponse('{ type: string, example: fern }')} } }`
    })
  })
  const { contract, document } = await readContract(join(folder, 'other.yaml'), {})
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
  t.equal((await app.inject('/a')).json(), 'fern')
})

t.test('contracts of any size', async t => {
  const operations = Array.from({ length: 60 }, (_, n) => `  /a${n}: { post: { operationId: a${n}, ${
      jsonBody('{ type: integer }')}, ${anyResponse} } }`)
  const { app } = await serve(t, { paths: operations.join('\n') })
  const send = async (payload: string) => {
    return (await app.inject({ method: 'POST', url: '/a59', headers: json, payload })).statusCode
  }
  t.strictSame([await send('1'), await send('"1"')], [200, 400])
})

t.test('webhooks and callbacks', async t => {
  const content = (type: string) => `requestBody: { ${jsonContent('{ type: string }', type)} }`
  const { contract } = await serve(t, {
    root: `
security: []
webhooks:
  plantSold: { post: { ${content('application/xml')}, responses: { 1XX: { description: fine } } } }`,
    paths: `
  /a:
    post:
      operationId: a
      ${anyResponse}
      callbacks:
        done:
          '{$request.body#/url}':
            post: { ${content('text/plain')}, responses: { '200': { description: fine } } }`
  })
  t.strictSame(Object.keys(contract.operations), ['a'])
})
