import { parseYaml } from '@redocly/openapi-core'
import fastify from 'fastify'
import t from 'tap'
import { document } from '../../../../generated/document.ts'
import { docsServers, serveDocs } from '../../../../src/contract/docs/docs-page.ts'
import { buildMicroblog } from '../../../../src/contract/examples/microblog/app.ts'
import { openSwaggerUi } from '../../../../src/contract/docs/swagger-ui.ts'
import { healthPathsBelow } from '../../../../src/service/health.ts'
import { isError, startApp } from '../../../fixtures/app.ts'
import { anyResponse, serve } from '../../../fixtures/contract.ts'

t.test('/docs/json and /docs/yaml serve the contract', async t => {
  const { app } = await startApp(t)
  const json = await app.inject('/docs/json')
  t.match(json.headers['content-type'], /application\/json/)
  t.strictSame(json.json(), document)
  t.strictSame(parseYaml((await app.inject('/docs/yaml')).body), document)
})

t.test('the configured base URL replaces {base_url}, and the page may call it', async t => {
  const { app } = await startApp(t, { baseUrl: 'https://plants.example.com/store' })
  const [server] = (await app.inject('/docs/json')).json().servers
  t.equal(server.variables.base_url.default, 'https://plants.example.com/store')
  const { headers } = await app.inject('/docs')
  t.match(headers['content-security-policy'], /connect-src 'self' https:\/\/plants\.example\.com;/)
  t.match(document.servers, [{ variables: { base_url: { default: '/' } } }], 'the generated contract does not change')
})

t.test('a contract without servers or these variables is served unchanged', async t => {
  for (const servers of [undefined, [{ url: '/' }], [{ url: '/{v}', variables: { v: { default: 'v1' } } }]]) {
    const app = fastify()
    t.teardown(() => app.close())
    const contract = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {}, ...servers && { servers } }
    await serveDocs(app, contract, { other: 'x' }, [''], 0)
    t.strictSame((await app.inject('/docs/json')).json(), contract)
  }
})

t.test('where the contract has only addresses of other hosts, the page calls its own', async t => {
  const app = await buildMicroblog({ tokens: new Map(), signingSecret: 'x' })
  t.teardown(() => app.close())
  const own = { url: '/api/v1', description: 'This service' }
  const other = { url: 'https://blog.example.com/api/v1' }
  for (const path of ['/docs/json', '/api/v1/docs/json']) {
    t.strictSame((await app.inject(path)).json().servers, [own, other])
  }
  const local = { url: '/v1' }
  t.strictSame(docsServers({ servers: [other, local] }, '', '/v1'), {})
  t.strictSame(docsServers({ servers: [other] }, '', ''), { servers: [{ ...own, url: '/' }, other] })
  t.strictSame(docsServers({ servers: [other] }, '/v2', '/v1'), { servers: [{ url: '/v2' }] })
})

t.test('the page may ask the hosts that give tokens', async t => {
  const policyWith = async (securitySchemes: object) => {
    const app = fastify()
    t.teardown(() => app.close())
    const contract = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {}, components: { securitySchemes } }
    await serveDocs(app, contract, {}, [''], 0)
    return (await app.inject('/docs')).headers['content-security-policy']
  }
  const oauth = {
    type: 'oauth2',
    flows: {
      clientCredentials: { tokenUrl: 'https://id.example.com/token', refreshUrl: 'https://id.example.com/refresh' },
      implicit: { authorizationUrl: 'https://other.example.com/' },
      password: { tokenUrl: '/token' }
    }
  }
  const oidc = { type: 'openIdConnect', openIdConnectUrl: 'https://oidc.example.com/.well-known/openid-configuration' }
  t.match(await policyWith({ oauth, oidc }), "; connect-src 'self' https://id.example.com https://oidc.example.com;")
  t.match(await policyWith({ key: { type: 'apiKey' } }), "; connect-src 'self';")
})

t.test('the page works over plain http away from localhost', async t => {
  const { app } = await startApp(t)
  const { statusCode, headers } = await app.inject('/docs')
  t.equal(statusCode, 200)
  t.notMatch(headers['content-security-policy'], /upgrade-insecure-requests/)
})

t.test('the page has the width of a phone', async t => {
  const { body } = await (await startApp(t)).app.inject('/docs')
  t.match(body, '<head><meta name="viewport" content="width=device-width, initial-scale=1">')
})

t.test('the page, the contract and the health checks are at the root and below the path of BASE_URL', async t => {
  for (const [baseUrl, prefix] of [
    ['/', ''],
    ['https://plants.example/api/v1/', '/api/v1'],
    ['/a:b/c', '/a:b/c'],
    ['/caf%C3%A9', '/caf%C3%A9']
  ] as const) {
    const { app } = await startApp(t, { baseUrl })
    for (const at of new Set(['', prefix])) {
      for (const path of ['/docs', '/docs/', '/docs/json', '/docs/yaml', '/livez', '/readyz']) {
        t.equal((await app.inject(at + path)).statusCode, 200, at + path)
      }
      const { body } = await app.inject(`${at}/docs`)
      const links = [...body.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link as string)
      t.equal(links.length, 8)
      for (const link of links) {
        t.ok(link.startsWith(`${at}/docs/static/`), link)
        t.equal((await app.inject(link)).statusCode, 200, link)
      }
      for (const root of new Set([at || '/', `${at}/`])) {
        const { statusCode, headers } = await app.inject(root)
        t.strictSame([statusCode, headers.location], [302, `${at}/docs`], root)
      }
    }
    // A colon in BASE_URL is no parameter.
    for (const path of ['/other/docs', '/ax/c/docs', '/ax/c/livez']) {
      isError(t, await app.inject(path), 404, `There is nothing at ${path}.`, baseUrl)
    }
  }
  t.strictSame(healthPathsBelow(['', '/a%20b']), ['/livez', '/readyz', '/a%20b/livez', '/a%20b/readyz'])
})

t.test('a path of the service may be the path of BASE_URL', async t => {
  for (const baseUrl of ['/docs', '/docs/json', '/docs/static', '/livez']) {
    const { app } = await startApp(t, { baseUrl })
    for (const path of ['/docs', '/docs/json', '/docs/static/swagger-ui.css', '/livez']) {
      t.equal((await app.inject(path)).statusCode, 200, `${path} with ${baseUrl}`)
      t.equal((await app.inject(baseUrl + path)).statusCode, 200, baseUrl + path)
    }
  }
})

t.test('a path that is no part of the page is 404 as anywhere', async t => {
  const { app } = await startApp(t)
  for (const path of ['/docs/static/nothing', '/docs/static/*', '/docs/static/', '/docs/nothing', '/docs//json']) {
    isError(t, await app.inject(path), 404, `There is nothing at ${path}.`, path)
  }
})

t.test('the page opens up to three operations, and lists more', async t => {
  for (const [count, expansion] of [[3, 'full'], [4, 'list']] as const) {
    const paths = Array.from({ length: count }, (_, at) => `  /p${at}: { get: { operationId: o${at}, ${anyResponse} } }`)
    const { app } = await serve(t, { paths: paths.join('\n'), docs: true })
    const { body } = await app.inject('/docs/static/swagger-initializer.js')
    t.match(body, `"docExpansion":"${expansion}"`)
  }
})

t.test('a redirect of Swagger UI is no file', async t => {
  const settings = { document: { info: { title: 'x' } }, variables: {}, path: '/docs', prefix: '', css: '', uiConfig: {} }
  const render = await openSwaggerUi(settings)
  t.match(await render('/static/swagger-initializer.js'), { type: /javascript/ })
  t.equal(await render('/static/index.html'), undefined)
})

t.test('the title of the page is text', async t => {
  const document = { info: { title: '</title><h1>a & b' } }
  const render = await openSwaggerUi({ document, variables: {}, path: '/docs', prefix: '', css: '', uiConfig: {} })
  t.match(String((await render('/'))?.bytes), '<title>&lt;/title>&lt;h1>a &amp; b</title>')
})

t.test('an operation at / is not redirected to the page', async t => {
  for (const [method, status] of [['get', 200], ['post', 405]] as const) {
    const { app } = await serve(t, { paths: `  /: { ${method}: { operationId: a, ${anyResponse} } }`, docs: true })
    t.equal((await app.inject('/')).statusCode, status)
    t.equal((await app.inject('/docs')).statusCode, 200)
  }
})

t.test('the page and its files have security headers', async t => {
  const { app } = await startApp(t)
  const files = ['swagger-ui-bundle.js', 'swagger-ui.css', 'theme/page.css', 'favicon-32x32.png', 'nothing']
  for (const url of ['/docs', '/docs/', '/docs/json', '/docs/yaml', ...files.map(name => `/docs/static/${name}`)]) {
    const { headers } = await app.inject(url)
    const policy = String(headers['content-security-policy']).split('; ')
    t.strictSame(policy, [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
      "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"
    ], url)
    t.equal(headers['x-content-type-options'], 'nosniff', url)
    t.equal(headers['referrer-policy'], 'no-referrer', url)
  }
})
