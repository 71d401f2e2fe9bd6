import t from 'tap'
import { anyResponse, jsonBody, noContent, serve } from '../../../fixtures/contract.ts'

const leniency = { skipUnsupported: true }

t.test('a skipped operation answers 501 without credentials, before the body', async t => {
  const { app, contract } = await serve(t, {
    leniency,
    root: 'security: [{ digest: [] }, { key: [] }]',
    components: `
  securitySchemes:
    digest: { type: http, scheme: digest }
    key: { type: apiKey, in: header, name: X-Key }`,
    paths: `
  /a:
    get: { operationId: one, security: [{ key: [] }], ${anyResponse} }
    post: { operationId: two, ${jsonBody('{}')}, ${noContent} }
  /b/{c}:
    get: { operationId: three, parameters: [{ name: c, in: path, required: true, schema: {} }], ${noContent} }
  '/d?e': { get: { operationId: four, security: [], ${noContent} } }`,
    verifiers: { key: key => ({ name: key }) }
  })
  t.strictSame(Object.keys(contract.operations), ['one'])
  const schemes = Object.keys(contract.securitySchemes)
  t.strictSame(schemes, ['key'], 'a scheme that nothing needs has no verifier')
  for (const [method, url] of [['POST', '/a'], ['GET', '/b/x']] as const) {
    const response = await app.inject({ method, url, ...method === 'POST' && { body: '{' } })
    t.equal(response.statusCode, 501)
    t.strictSame(response.json(), {
      error: 501,
      message: 'The service does not implement this operation of its contract.'
    })
  }
  t.equal((await app.inject({ url: '/a', headers: { 'x-key': 'k' } })).statusCode, 200)
  const { headers } = await app.inject({ method: 'DELETE', url: '/a' })
  t.equal(headers.allow, 'GET, HEAD, POST, OPTIONS', 'Allow names what the contract has')
  t.equal((await app.inject('/d?e')).statusCode, 404, 'no request can reach this path')
})

t.test('what is open and what is skipped is said in a sentence each', async t => {
  const { warnings } = await serve(t, {
    leniency: { skipUnsupported: true, allowOpen: true },
    root: 'servers: [{ url: /api }]',
    paths: `
  /a: { get: { ${anyResponse} } }
  /b: { get: { security: [{ key: [] }], ${anyResponse} } }
  /c: { get: { security: [{ key: [] }, {}], ${anyResponse} } }
  '/d?e': { get: { security: [], ${noContent} } }
  /d: { get: { responses: { '101': { description: other } } } }`,
    components: '  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }',
    verifiers: { key: () => undefined }
  })
  t.match(warnings, [
    'GET /api/a needs no credentials.',
    'GET /api/c needs no credentials.',
    'GET /api/d is not served: a status other than 2XX to 5XX and default (101).',
    /^GET \/d\?e is not served: a path with an asterisk/
  ])
})

t.test('paths may differ in the names of parameters, and servers have variables', async t => {
  const { app } = await serve(t, {
    leniency,
    root: "security: []\nservers: [{ url: '/{tenant}' }]",
    paths: `
  /a/{x}: { get: { operationId: one, parameters: [{ name: x, in: path, required: true, schema: {} }], ${anyResponse} } }
  /a/{y}: { get: { operationId: two, parameters: [{ name: y, in: path, required: true, schema: {} }], ${anyResponse} } }`
  })
  t.strictSame((await app.inject('/anyone/a/1')).json(), { path: { x: '1' } })
})
