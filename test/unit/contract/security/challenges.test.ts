// One table of what each security scheme answers to the bytes of a request (RFC 6750, RFC 7617, RFC 9110).
import t from 'tap'
import { json, listen, logLines, startApp } from '../../../fixtures/app.ts'
import { noContent, serve } from '../../../fixtures/contract.ts'
import { exchangeOne, requestText } from '../../../fixtures/raw.ts'

const components = `
  securitySchemes:
    bearer: { type: http, scheme: Bearer }
    basic: { type: http, scheme: Basic }
    inHeader: { type: apiKey, in: header, name: X-Key }
    inQuery: { type: apiKey, in: query, name: key }
    inCookie: { type: apiKey, in: cookie, name: key }
    oauth:
      type: oauth2
      flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { write: w, 'read:all': r } } }
    oidc: { type: openIdConnect, openIdConnectUrl: 'https://example.com/.well-known/openid-configuration' }`

/** The security requirements of each path. */
const paths: Record<string, string> = {
  bearer: '[{ bearer: [] }]',
  role: "[{ bearer: ['the \"boss\"', read] }]",
  basic: '[{ basic: [] }]',
  header: '[{ inHeader: [] }]',
  query: '[{ inQuery: [] }]',
  cookie: '[{ inCookie: [] }]',
  oauth: "[{ oauth: [write, 'read:all'] }]",
  oidc: '[{ oidc: [openid] }]',
  any: '[{ bearer: [] }, { basic: [] }, { inHeader: [] }]',
  all: '[{ inHeader: [], bearer: [] }]',
  maybe: '[{}, { inCookie: [] }, { bearer: [] }]'
}

/** Accepts credentials that contain `good`, and forbids those that contain `weak`. */
async function verify (credentials: unknown): Promise<unknown> {
  const text = JSON.stringify(credentials)
  if (text.includes('weak')) return 'forbidden'
  return text.includes('good') ? { name: 'x' } : undefined
}

const operation = (name: string, method: string) =>
  `    ${method}: { operationId: ${name}${method}, security: ${paths[name]}, ${noContent} }`
const contract = {
  root: '',
  paths: Object.keys(paths).flatMap(name => {
    return [`  /${name}:`, operation(name, 'get'), operation(name, 'post')]
  }).join('\n'),
  components,
  handlers: Object.fromEntries(Object.keys(paths).flatMap(name => {
    return ['get', 'post'].map(method => [`${name}${method}`, () => ({ status: 204 })])
  })),
  verifiers: Object.fromEntries([...components.matchAll(/^ {4}(\w+):/gm)].map(([, name = '']) => [name, verify]))
}

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

const escaped = (message: string | undefined) => message?.replaceAll('"', '\\"')

/** What is sent: the path, the method if it is not GET, and header fields. */
type Sent = [target: string, ...fields: string[]]
/** What comes back. Without a challenge the response must have no WWW-Authenticate. */
type Expected = [status: number, challenge?: string | undefined, message?: string]

const bearer = 'Bearer realm="test"'
const noBearer: Expected =
  [401, bearer, 'This operation needs a bearer token: Authorization: Bearer <token>.']
const invalidRequest = `${bearer}, error="invalid_request"`
const notOneToken: Expected =
  [400, invalidRequest, 'Authorization must have the form "Bearer <token>", with one token.']
const notAccepted = 'The bearer token is not accepted.'
const badBearer: Expected = [401, `${bearer}, error="invalid_token"`, notAccepted]
const twice = 'Authorization is sent more than once.'
const basic = 'Basic realm="test", charset="UTF-8"'
const noBasic: Expected =
  [401, basic, 'This operation needs a name and a password: Authorization: Basic <base64 of name:password>.']
const badBasic: Expected = [401, basic, 'The name and password are not accepted.']
const apiKey = 'ApiKey realm="test"'
const badKey: Expected = [401, apiKey, 'The API key is not accepted.']
const needsAny = 'This operation needs a bearer token: Authorization: Bearer <token>, ' +
  'or a name and a password: Authorization: Basic <base64 of name:password>, ' +
  'or an API key in the header field X-Key.'
const noAll: Expected = [
  401, bearer, 'This operation needs an API key in the header field X-Key together with ' +
    'a bearer token: Authorization: Bearer <token>.'
]
const badPercent = 'A parameter or a cookie has invalid percent-encoding.'
const twoKeys = 'The API key is sent more than once, in the header field X-Key.'
const accepted: Expected = [204]

const table: Array<[Sent, Expected]> = [
  // RFC 6750 section 3.1: without credentials, and with those of another scheme, there is no error code.
  [['/bearer'], noBearer],
  [['/bearer', 'Authorization:'], noBearer],
  [['/bearer', 'Authorization: Basic YTpi'], noBearer],
  [['/bearer', 'Authorization: Digest x'], noBearer],
  [['/bearer', 'Authorization: good'], noBearer],
  [['/bearer', 'Authorization: Bearergood'], noBearer],
  [['/bearer', 'Authorization: BearerX good'], noBearer],
  [['/bearer', 'Authorization: "Bearer good"'], noBearer],
  [['/bearer', 'Proxy-Authorization: Bearer good'], noBearer],
  [['HEAD /bearer'], noBearer],
  [['OPTIONS /bearer'], accepted],

  // Section 2.1: the scheme in any case (RFC 9110 section 11.1), blanks, and a token of b64token.
  [['/bearer', 'Authorization: Bearer good'], accepted],
  [['/bearer', 'Authorization: bearer good'], accepted],
  [['/bearer', 'Authorization: BEARER good'], accepted],
  [['/bearer', 'authorization:Bearer   good'], accepted],
  [['/bearer', 'Authorization: \t Bearer good \t'], accepted],
  [['/bearer', 'Authorization: Bearer good-._~+/9=='], accepted],
  [['HEAD /bearer', 'Authorization: Bearer good'], accepted],

  // Section 3.1, invalid_request: the token is missing or repeated, or the field is malformed in another way.
  [['/bearer', 'Authorization: Bearer'], notOneToken],
  [['/bearer', 'Authorization: Bearer  '], notOneToken],
  [['/bearer', 'Authorization: Bearer\tgood'], notOneToken],
  [['/bearer', 'Authorization: Bearer \tgood'], notOneToken],
  [['/bearer', 'Authorization: Bearer: good'], notOneToken],
  [['/bearer', 'Authorization: Bearer=good'], notOneToken],
  [['/bearer', 'Authorization: Bearer good good'], notOneToken],
  [['/bearer', 'Authorization: Bearer good, Bearer good'], notOneToken],
  [['/bearer', 'Authorization: Bearer good,good'], notOneToken],
  [['/bearer', 'Authorization: Bearer, Basic YTpi'], notOneToken],
  [['/bearer', 'Authorization: Bearer good', 'Authorization: Bearer good'], [400, invalidRequest, twice]],
  [['/bearer', 'Authorization: Bearer good', 'authorization: Basic YTpi'], [400, invalidRequest, twice]],
  [['/bearer', 'Authorization: Bearer good', 'Authorization:'], [400, invalidRequest, twice]],
  [['HEAD /bearer', 'Authorization: Bearer'], notOneToken],

  // Section 3.1, invalid_token: an unknown token and a malformed one, such as one with characters outside b64token.
  [['/bearer', 'Authorization: Bearer bad'], badBearer],
  [['/bearer', 'Authorization: Bearer "good"'], badBearer],
  [['/bearer', 'Authorization: Bearer go=od'], badBearer],
  [['/bearer', 'Authorization: Bearer =good'], badBearer],
  [['/bearer', 'Authorization: Bearer good\xe4'], badBearer],
  [['/bearer', 'Authorization: Bearer good%20'], badBearer],
  [['/bearer', 'Authorization: Bearer token=good;a'], badBearer],
  [['POST /bearer', 'Authorization: Bearer bad', 'Content-Length: 17'], badBearer],

  // Sections 2.2 and 2.3 are not supported: a token in the query or in a form is no token.
  [['/bearer?access_token=good'], noBearer],
  [['/bearer?access_token=bad', 'Authorization: Bearer good'], accepted],
  [['POST /bearer', 'Content-Type: application/x-www-form-urlencoded', 'Content-Length: 17'], noBearer],

  // Section 3: scope has the contract's order, and no value that is not a scope (RFC 6749 section 3.3).
  [['/oauth'], noBearer],
  [['/oauth', 'Authorization: Bearer good'], accepted],
  [['/oauth', 'Authorization: Bearer'], notOneToken],
  [['/oauth', 'Authorization: Bearer bad'], badBearer],
  [['/oauth', 'Authorization: Bearer weak'], [
    403, `${bearer}, error="insufficient_scope", scope="write read:all"`,
    'This bearer token does not allow this operation.'
  ]],
  [['/oidc'], noBearer],
  [['/oidc', 'Authorization: Bearer good'], accepted],
  [['/oidc', 'Authorization: Bearer weak'], [403, `${bearer}, error="insufficient_scope", scope="openid"`]],
  [['/bearer', 'Authorization: Bearer weak'], [403, `${bearer}, error="insufficient_scope"`]],
  [['/role', 'Authorization: Bearer weak'], [403, `${bearer}, error="insufficient_scope"`]],

  // RFC 7617: base64 of UTF-8 without control characters; the password may have colons, and both may be empty.
  [['/basic'], noBasic],
  [['/basic', 'Authorization: Bearer good'], noBasic],
  [['/basic', `Authorization: Basic ${base64('good:a:ü')}`], accepted],
  [['/basic', `Authorization: basic  ${base64(':good')}`], accepted],
  [['/basic', `Authorization: Basic ${base64('bad:x')}`], badBasic],
  [['/basic', 'Authorization: Basic'], badBasic],
  [['/basic', 'Authorization: Basic good:good'], badBasic],
  [['/basic', `Authorization: Basic ${base64('good')}`], badBasic],
  [['/basic', `Authorization: Basic ${base64('good:x')}!`], badBasic],
  [['/basic', `Authorization: Basic %${base64('good:x')}`], badBasic],
  [['/basic', `Authorization: Basic ${base64('good:x')}, Basic YTpi`], badBasic],
  [['/basic', `Authorization: Basic ${base64(Buffer.from('good:\xff', 'latin1'))}`], badBasic],
  [['/basic', `Authorization: Basic ${base64('good:\0')}`], badBasic],
  [['/basic', `Authorization: Basic ${base64('weak:x')}`], [403]],
  [['/basic', `Authorization: Basic ${base64('good:x')}`, 'Authorization: Basic YTpi'], [400, basic, twice]],

  // No scheme is registered for keys, but a 401 must have a challenge (RFC 9110 section 15.5.2).
  [['/header'], [401, apiKey, 'This operation needs an API key in the header field X-Key.']],
  [['/header', 'Authorization: Bearer good'], [401, apiKey]],
  [['/header', 'x-key: good'], accepted],
  [['/header', 'X-Key: bad'], badKey],
  [['/header', 'X-Key:'], badKey],
  [['/header', 'X-Key: weak'], [403]],
  [['/header', 'X-Key: good', 'x-key: good'], [400, apiKey, twoKeys]],
  [['/query'], [401, apiKey, 'This operation needs an API key in the query parameter key.']],
  [['/query?key=very+good'], accepted],
  [['/query?key=bad'], badKey],
  [['/query?key='], badKey],
  [['/query?key'], badKey],
  [['/query?Key=good'], [401, apiKey]],
  [['/query?key=good&key=good'], [400, apiKey]],
  [['/query?key=%'], [400, undefined, badPercent]],
  [['/cookie'], [401, apiKey, 'This operation needs an API key in the cookie key.']],
  [['/cookie', 'Cookie: a=b; key=good'], accepted],
  [['/cookie', 'Cookie: key=bad'], badKey],
  [['/cookie', 'Cookie: key='], badKey],

  // RFC 9110 section 11.6.1: a 401 has a challenge for each scheme; a malformed request and a missing right go first.
  [['/any'], [401, `${bearer}, ${basic}, ${apiKey}`, needsAny]],
  [['/any', 'Authorization: Bearer bad'], [401, `${bearer}, error="invalid_token", ${basic}, ${apiKey}`, notAccepted]],
  [['/any', `Authorization: Basic ${base64('bad:x')}`, 'X-Key: bad'], [401, `${bearer}, ${basic}, ${apiKey}`]],
  [['/any', 'Authorization: Bearer'], notOneToken],
  [['/any', 'Authorization: Bearer', 'X-Key: good'], accepted],
  [['/any', 'Authorization: Bearer weak', 'X-Key: bad'], [403, `${bearer}, error="insufficient_scope"`]],
  [['/all', 'X-Key: good'], noAll],
  [['/all', 'Authorization: Bearer good', 'X-Key: good'], accepted],

  // Credentials that were sent must be accepted, even where none are needed.
  [['/maybe'], accepted],
  [['/maybe', 'Authorization: Digest x'], accepted],
  [['/maybe', 'Authorization: Bearer bad'], [401, `${apiKey}, ${bearer}, error="invalid_token"`]],
  [['/maybe', 'Authorization: Bearer'], notOneToken],
  [['/maybe', 'Authorization: Bearer bad', 'Cookie: key=%'], [400, undefined, badPercent]]
]

t.test('each request has the status, the challenge and the body of the table', async t => {
  const { app } = await serve(t, contract)
  const { port } = await listen(app)
  for (const [[sent, ...fields], [status, challenge, message]] of table) {
    const target = sent.startsWith('/') ? `GET ${sent}` : sent
    const name = [target, ...fields].join(' | ')
    const body = target.startsWith('POST') ? 'access_token=good' : ''
    const response = await exchangeOne(port, requestText(target, ['Host: x', 'Connection: close', ...fields], body))
    const hasBody = status !== 204 && !target.startsWith('HEAD')
    const sentMessage = /"message":"(.*)"}$/.exec(response.body)?.[1]
    t.strictSame({ ...response, headers: response.headers['www-authenticate'] }, {
      statusCode: status,
      headers: challenge,
      body: hasBody ? `{"error":${status},"message":"${escaped(message) ?? sentMessage}"}` : ''
    }, name)
  }
})

t.test('a response to a key outside Authorization is private, because shared caches do not see the key', async t => {
  const { app } = await serve(t, contract)
  const cacheControl = async (url: string, headers = {}) => {
    return (await app.inject({ url, headers })).headers['cache-control']
  }
  t.equal(await cacheControl('/query?key=good'), 'private')
  t.equal(await cacheControl('/header', { 'x-key': 'good' }), 'private')
  t.equal(await cacheControl('/cookie', { cookie: 'key=good' }), 'private')
  t.equal(await cacheControl('/any', { authorization: 'Bearer good' }), 'private', 'one of its schemes is a key')
  // RFC 9111 section 3.5 forbids a shared cache to keep it.
  t.equal(await cacheControl('/bearer', { authorization: 'Bearer good' }), undefined)
})

t.test('the realm is a quoted string; one that cannot be quoted is refused at startup', async t => {
  const { app } = await serve(t, { ...contract, realm: 'the "best" \\ plants' })
  const challengeAt = async (url: string) => (await app.inject(url)).headers['www-authenticate']
  const realm = 'realm="the \\"best\\" \\\\ plants"'
  t.equal(await challengeAt('/bearer'), `Bearer ${realm}`)
  t.equal(await challengeAt('/any'), `Bearer ${realm}, Basic ${realm}, charset="UTF-8", ApiKey ${realm}`)
  for (const realm of ['Gärtnerei', 'a\r\nb', '\u20ac']) {
    const message = `The realm ${JSON.stringify(realm)} must have only printable characters of ASCII.`
    await t.rejects(serve(t, { ...contract, realm }), { message })
  }
})

t.test('a token in the query, in a form or in another field is not logged at any level', async t => {
  const { log, lines } = logLines('trace')
  const { app } = await startApp(t, { log })
  const { port } = await listen(app)
  const secret = 'a-very-secret-token'
  const form = `access_token=${secret}`
  const host = ['Host: x', 'Connection: close']
  const statuses: number[] = []
  const lengthOf = (text: string) => `Content-Length: ${text.length}`
  for (const bytes of [
    requestText(`POST /plants?access_token=${secret}`, host),
    requestText(`PUT /plants?access_token=${secret}`, host),
    requestText(`GET /nowhere?access_token=${secret}`, host),
    requestText('POST /plants', [...host, 'Content-Type: application/x-www-form-urlencoded', lengthOf(form)], form),
    requestText('POST /plants', [...host, `Authorization: Bearer ${secret}, Bearer ${secret}`]),
    requestText('POST /plants', [...host, `Authorization: Bearer ${secret}`, `Content-Type: ${json}`]),
    requestText('POST /plants', [...host, `Authorization: ${secret}`, `Proxy-Authorization: Bearer ${secret}`])
  ]) {
    const { statusCode, body } = await exchangeOne(port, bytes)
    statuses.push(statusCode)
    t.notMatch(body, secret)
  }
  t.strictSame(statuses, [401, 405, 404, 401, 400, 401, 401])
  t.equal(lines.filter(line => line.includes('response sent')).length, 7)
  t.notMatch(lines.join(''), secret)
})
