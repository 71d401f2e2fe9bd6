import { METHODS } from 'node:http'
import t from 'tap'
import { isError, listen, startApp } from '../../../fixtures/app.ts'
import { anyResponse, serve } from '../../../fixtures/contract.ts'
import { exchangeOne, requestText } from '../../../fixtures/raw.ts'

const fields = ['Host: x', 'Connection: close']

t.test('another method on a known path is answered 405 before authentication and body', async t => {
  const { app } = await serve(t, {
    root: 'security: [{ key: [] }]',
    paths: `  /plants: { post: { operationId: a, ${anyResponse} } }`,
    components: '  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }',
    verifiers: { key: () => undefined }
  })
  const { port } = await listen(app)
  // Node sends no body in a response to HEAD, and CONNECT never reaches the router.
  const others = ['POST', 'OPTIONS', 'CONNECT', 'HEAD']
  const undeclared = METHODS.filter(method => !others.includes(method))
  for (const method of undeclared) {
    const text = [...fields, 'Content-Type: text/plain', 'Content-Length: 3']
    const response = await exchangeOne(port, requestText(`${method} /plants`, text, 'abc'))
    const message = `/plants does not support ${method}, only POST, OPTIONS.`
    isError(t, response, 405, message, method)
    t.equal(response.headers.allow, 'POST, OPTIONS')
  }
  const head = await exchangeOne(port, requestText('HEAD /plants', fields))
  t.match(head, { statusCode: 405, headers: { allow: 'POST, OPTIONS' }, body: '' })
})

t.test('another method on a path beside the contract is answered 405', async t => {
  const { app } = await startApp(t)
  const Allow = 'GET, HEAD, OPTIONS'
  for (const url of ['/livez', '/docs', '/docs/json', '/docs/static/swagger-ui.css', '/']) {
    const response = await app.inject({ method: 'POST', url })
    isError(t, response, 405, `${url} does not support POST, only ${Allow}.`, url)
    t.equal(response.headers.allow, Allow)
    const options = await app.inject({ method: 'OPTIONS', url })
    t.match(options, { statusCode: 204, headers: { allow: Allow } }, url)
    t.ok((await app.inject({ method: 'HEAD', url })).statusCode < 400, url)
  }
  isError(t, await app.inject('/docs/static/none.css'), 404, 'There is nothing at /docs/static/none.css.', 'no such file')
})

t.test('OPTIONS is answered 204 with Allow', async t => {
  const { app } = await startApp(t)
  const response = await app.inject({ method: 'OPTIONS', url: '/plants' })
  t.match(response, { statusCode: 204, headers: { allow: 'POST, OPTIONS' }, body: '' })
})

t.test('the router knows a path with a query, percent-encoded or in absolute form', async t => {
  const { app } = await startApp(t)
  for (const url of ['/plants?a=b', '/pl%61nts', 'http://elsewhere/plants']) {
    t.equal((await app.inject({ method: 'PUT', url })).statusCode, 405, url)
  }
  const { port } = await listen(app)
  const response = await exchangeOne(port, requestText('PUT http://plants.example/plants', fields))
  t.equal(response.statusCode, 405, 'in absolute form')
})

t.test('a path like one of the contract gets a question', async t => {
  const { app } = await serve(t, { paths: `  /plants: { post: { operationId: a, ${anyResponse} } }` })
  for (const url of ['/plant', '/plants/', '/Plants', '//plants', '/pants', '/api/v1/plants', '/api/v1/plants/', '/plants/1', '/plants/300']) {
    isError(t, await app.inject(url), 404, `There is nothing at ${url}. Did you mean /plants?`, url)
  }
  for (const url of ['/x', '/planets/of/1', '/flowers', `/plant${'/'.repeat(100)}`]) {
    isError(t, await app.inject(url), 404, new RegExp(`nothing at ${url}\\.$`), url)
  }
  const id = '{ name: id, in: path, required: true, schema: {} }'
  const paths = `  /plants: { get: { operationId: a, ${anyResponse} } }
  /plants/{id}: { delete: { operationId: b, parameters: [${id}], ${anyResponse} } }`
  const { app: other } = await serve(t, { paths })
  isError(t, await other.inject('/plants/1/'), 404, 'There is nothing at /plants/1/. Did you mean /plants/1?', 'with a slash')
})

t.test('a path where other services have their contract gets the question with that of this one', async t => {
  const { app } = await startApp(t, { baseUrl: 'https://example.com/api/v1' })
  for (const [url, meant] of [
    ['/openapi.json', '/docs/json'], ['/openapi.yaml', '/docs/yaml'], ['/swagger.yml', '/docs/yaml'], ['/swagger', '/docs'],
    ['/docs/openapi.json', '/docs/json'], ['/docs.json', '/docs/json'], ['/v3/api-docs', '/docs'],
    ['/swagger-ui/index.html', '/docs'], ['/swagger-ui.html', '/docs'], ['/swagger/', '/docs'],
    ['/swagger/v1/swagger.json', '/docs/json'], ['/static/openapi.yaml', '/docs/yaml'],
    ['/api/v1/openapi.json', '/api/v1/docs/json'], ['/api/v1/openapi', '/api/v1/docs']
  ] as const) {
    isError(t, await app.inject(url), 404, `There is nothing at ${url}. Did you mean ${meant}?`, url)
  }
  isError(t, await app.inject('/openapi.jsonl'), 404, 'There is nothing at /openapi.jsonl.', 'another file')
  const { app: other } = await serve(t, { paths: `  /a: { get: { operationId: a, ${anyResponse} } }` })
  isError(t, await other.inject('/openapi.json'), 404, 'There is nothing at /openapi.json.', 'without a page')
})

t.test('a path without that of BASE_URL gets the question with it', async t => {
  const { app } = await startApp(t, { baseUrl: 'https://example.com/api/v1' })
  const question = 'There is nothing at /plants. Did you mean /api/v1/plants?'
  isError(t, await app.inject({ method: 'POST', url: '/plants' }), 404, question, '/plants')
  isError(t, await app.inject('/api/v1/plantz'), 404, 'Did you mean /api/v1/plants?', 'misspelt')
  for (const [method, url] of [
    ['GET', '/lants'], ['GET', '/api'], ['GET', '/api/v1/nope']
  ] as const) {
    isError(t, await app.inject({ method, url }), 404, new RegExp(`nothing at ${url}\\.$`), url)
  }
})

t.test('a path with parameters is no suggestion', async t => {
  const parameter = 'parameters: [{ name: a, in: path, required: true, schema: { type: string } }]'
  const { app } = await serve(t, { paths: `  /{a}: { get: { operationId: a, ${parameter}, ${anyResponse} } }` })
  isError(t, await app.inject('/a/'), 404, 'There is nothing at /a/.', 'with a slash')
})

t.test('an unknown path is answered 404, before authentication and body', async t => {
  const { app } = await startApp(t)
  const unknown = [
    '/plant',
    '/plants/',
    '/plant/1',
    '/Plants',
    '//',
    '//plants',
    '/plants%2f',
    '/docs/nothing',
    '/docs/static/nothing',
    '/docs/static/..%2f..%2fpackage.json',
    '/docs/static/%2e%2e/package.json',
    '/docs/static/%00',
    `/docs/static/${'a'.repeat(300)}`
  ]
  for (const url of unknown) {
    const method = url.startsWith('/docs/static') ? 'GET' : 'POST'
    const headers = { 'content-type': 'text/plain' }
    const response = await app.inject({ method, url, headers, payload: 'x' })
    isError(t, response, 404, /^There is nothing at /, url)
  }
  const { port } = await listen(app)
  const dots = await exchangeOne(port, requestText('POST /plants/../plants', fields))
  isError(t, dots, 404, 'There is nothing at /plants/../plants.', 'dot segments')
  const asterisk = await exchangeOne(port, requestText('OPTIONS *', fields))
  isError(t, asterisk, 404, /nothing/, 'OPTIONS *')
})
