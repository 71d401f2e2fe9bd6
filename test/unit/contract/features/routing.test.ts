import t from 'tap'
import { anyResponse, noContent, serve } from '../../../fixtures/contract.ts'

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
  const allow = { '/a/1': 'POST, GET, HEAD, OPTIONS', '/a/me': 'PUT, OPTIONS' }
  for (const [url, methods] of Object.entries(allow)) {
    t.match(await app.inject({ method: 'DELETE', url }), { statusCode: 405, headers: { allow: methods } }, url)
  }
  t.equal((await app.inject('/a/me')).statusCode, 405)
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
