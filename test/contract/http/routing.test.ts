import { METHODS } from 'node:http'
import t from 'tap'
import { isError, listen, startApp } from '../../fixtures/app.ts'
import { exchange } from '../../fixtures/raw.ts'

t.test('every other method on a path of the contract is answered 405 with Allow, before any token or body', async t => {
  const { port } = await listen((await startApp(t)).app)
  for (const method of METHODS.filter(method => !['POST', 'OPTIONS', 'CONNECT', 'HEAD'].includes(method))) {
    const [answer] = await exchange(port, `${method} /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc`)
    isError(t, answer as never, 405, new RegExp(`^/plants does not answer ${method}, only POST, OPTIONS\\.$`), method)
    t.equal(answer?.headers.allow, 'POST, OPTIONS')
  }
  const [head] = await exchange(port, 'HEAD /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  t.match(head, { statusCode: 405, headers: { allow: 'POST, OPTIONS' }, body: '' })
})

t.test('OPTIONS is answered 204 with Allow', async t => {
  const { app } = await startApp(t)
  const response = await app.inject({ method: 'OPTIONS', url: '/plants' })
  t.match(response, { statusCode: 204, headers: { allow: 'POST, OPTIONS' }, body: '' })
})

t.test('the path of the contract is known in any of its spellings', async t => {
  const { app } = await startApp(t)
  for (const url of ['/plants?a=b', '/pl%61nts', 'http://elsewhere/plants']) t.equal((await app.inject({ method: 'PUT', url })).statusCode, 405, url)
  const { port } = await listen(app)
  const [answer] = await exchange(port, 'PUT http://plants.example/plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  t.equal(answer?.statusCode, 405, 'in absolute form')
})

t.test('an unknown path is answered 404, without asking for a token or reading a body', async t => {
  const { app } = await startApp(t)
  for (const url of ['/', '/plant', '/plants/', '/plants/1', '/Plants', '//', '//plants', '/plants%2f', '/docs/nothing', '/docs/static/nothing', '/docs/static/..%2f..%2fpackage.json', '/docs/static/%2e%2e/package.json', '/docs/static/%00', `/docs/static/${'a'.repeat(300)}`]) {
    isError(t, await app.inject({ method: url.startsWith('/docs/static') ? 'GET' : 'POST', url, headers: { 'content-type': 'text/plain' }, payload: 'x' }), 404, /^There is nothing at /, url)
  }
  const { port } = await listen(app)
  const [dots] = await exchange(port, 'POST /plants/../plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  isError(t, dots as never, 404, 'There is nothing at /plants/../plants.', 'dots')
  const [answer] = await exchange(port, 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  isError(t, answer as never, 404, /nothing/, 'OPTIONS *')
})
