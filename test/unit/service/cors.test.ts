import t from 'tap'
import { authorization, isError, json, startApp } from '../../fixtures/app.ts'

const origin = 'https://app.example'
const corsOrigin = [origin, 'http://localhost:5173']
const fern = '{"id":1,"name":"fern"}'

t.test('a page of a named origin may call the operation and read the response', async t => {
  const { post } = await startApp(t, { corsOrigin })
  for (const name of corsOrigin) {
    const { statusCode, headers } = await post(fern, { origin: name })
    t.equal(statusCode, 200)
    t.equal(headers['access-control-allow-origin'], name)
    t.match(headers['access-control-expose-headers'], /X-Request-Id, Retry-After/)
    t.equal(headers.vary, 'Origin')
    t.notOk('access-control-allow-credentials' in headers)
  }
  const refused = await post('{}', { origin })
  isError(t, refused, 400, /name/, 'an error')
  t.equal(refused.headers['access-control-allow-origin'], origin, 'a page may read errors, too')
})

t.test('a preflight gets the answer of its path', async t => {
  const { app } = await startApp(t, { corsOrigin })
  const preflight = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type'
  }
  const preflightOf = (url: string) => app.inject({ method: 'OPTIONS', url, headers: preflight })
  const { statusCode, headers } = await preflightOf('/plants')
  t.equal(statusCode, 204)
  t.match(headers, {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'authorization,content-type',
    'access-control-max-age': '600',
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    allow: 'POST, OPTIONS'
  })
  isError(t, await preflightOf('/x'), 404, /nothing/, 'unknown path')
  const { origin: _, ...sameOrigin } = preflight
  const plain = await app.inject({ method: 'OPTIONS', url: '/plants', headers: sameOrigin })
  t.equal(plain.statusCode, 204)
  t.notOk('access-control-allow-methods' in plain.headers)
  const { 'access-control-request-headers': __, ...withoutFields } = preflight
  const simple = await app.inject({ method: 'OPTIONS', url: '/plants', headers: withoutFields })
  t.match(simple.headers, { 'access-control-allow-methods': 'POST' })
  t.notOk('access-control-allow-headers' in simple.headers)
  const noPreflight = await app.inject({ method: 'OPTIONS', url: '/plants', headers: { origin } })
  t.notOk('access-control-allow-methods' in noPreflight.headers)
})

t.test('other origins, and all without CORS_ORIGIN, get no permission', async t => {
  const { post } = await startApp(t, { corsOrigin })
  for (const other of [
    'https://app.example.evil', 'http://app.example', 'null', 'https://APP.example', ''
  ]) {
    const { statusCode, headers } = await post(fern, { origin: other })
    t.equal(statusCode, 200)
    t.notOk('access-control-allow-origin' in headers, other)
    t.equal(headers.vary, 'Origin', 'a cache keeps it apart')
  }
  const { app } = await startApp(t)
  const headers = {
    origin, authorization, 'content-type': json, 'access-control-request-method': 'POST'
  }
  const responses = await Promise.all([
    app.inject({ method: 'POST', url: '/plants', headers, payload: fern }),
    app.inject({ method: 'OPTIONS', url: '/plants', headers })
  ])
  for (const response of responses) {
    t.strictSame(Object.keys(response.headers).filter(name => /control|vary/.test(name)), [])
  }
})
