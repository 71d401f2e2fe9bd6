import assert from 'node:assert/strict'
import t from 'tap'
import { listen } from '../../../fixtures/app.ts'
import {
  anyResponse, jsonResponse, noContent, serve, type Untyped
} from '../../../fixtures/contract.ts'
import { getOperation } from '../../../fixtures/features.ts'
import { exchange, requestText } from '../../../fixtures/raw.ts'

t.test('http bearer and basic, apiKey, oauth2, openIdConnect', async t => {
  const seen: unknown[] = []
  const verify = (credentials: unknown, scopes: readonly string[]) => {
    seen.push([credentials, scopes])
    const text = JSON.stringify(credentials)
    if (text.includes('weak')) return 'forbidden'
    return text.includes('good') ? { name: 'x' } : undefined
  }
  const names = ['bearer', 'basic', 'inHeader', 'inQuery', 'inCookie', 'oauth', 'oidc']
  const pathOf = (name: string) => {
    const scopes = name === 'oauth' ? '[read, write]' : '[]'
    return `  /${name}: { get: { operationId: ${name}, security: [{ ${name}: ${scopes} }], ${noContent} } }`
  }
  const handlerOf = (name: string) => ({ principals }: Untyped) => {
    return { status: principals[name].name === 'x' ? 204 : 500 }
  }
  const { app } = await serve(t, {
    root: '',
    paths: names.map(pathOf).join('\n'),
    components: `
  securitySchemes:
    # Such an \`in\`, of another type, is often published.
    bearer: { type: http, scheme: Bearer, in: header }
    basic: { type: http, scheme: basic }
    inHeader: { type: apiKey, in: header, name: X-Key }
    inQuery: { type: apiKey, in: query, name: key }
    inCookie: { type: apiKey, in: cookie, name: key }
    oauth:
      type: oauth2
      flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { read: r, write: w } } }
    oidc: { type: openIdConnect, openIdConnectUrl: 'https://example.com/.well-known/openid-configuration' }`,
    handlers: Object.fromEntries(names.map(name => [name, handlerOf(name)])),
    verifiers: Object.fromEntries(names.map(name => [name, verify]))
  })
  const get = async (name: string, headers: Record<string, string>, query = '') => {
    const response = await app.inject({ url: `/${name}${query}`, headers })
    return [response.statusCode, response.headers['www-authenticate']]
  }
  const accepted = [204, undefined]
  const bearer = 'Bearer realm="test"'
  t.strictSame(await get('bearer', { authorization: 'Bearer good' }), accepted)
  t.strictSame(await get('bearer', { authorization: 'Bearer weak' }), [403, `${bearer}, error="insufficient_scope"`])
  t.strictSame(await get('bearer', { authorization: 'Bearer bad' }), [401, `${bearer}, error="invalid_token"`])
  t.strictSame(await get('bearer', {}), [401, bearer])

  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  t.strictSame(await get('basic', { authorization: basic('good:pass:word ü') }), accepted)
  t.strictSame(seen.at(-1), [{ username: 'good', password: 'pass:word ü' }, []])
  t.strictSame(await get('basic', { authorization: basic('weak:') }), [403, undefined])
  for (const authorization of [basic('bad:x'), basic('good'), 'Basic', 'Basic %%%', '', 'Bearer good']) {
    const unauthorized = [401, 'Basic realm="test", charset="UTF-8"']
    t.strictSame(await get('basic', { authorization }), unauthorized, authorization)
  }
  const { port } = await listen(app)
  const authorization = `authorization: ${basic('good:x')}`
  const twice = requestText('GET /basic', ['Host: x', authorization, authorization, 'Connection: close'])
  t.match(await exchange(port, twice), [{ statusCode: 400, body: /more than once/ }])

  t.strictSame(await get('inHeader', { 'x-key': 'good' }), accepted)
  t.strictSame(await get('inHeader', { 'x-key': 'weak' }), [403, undefined])
  t.strictSame(await get('inHeader', {}), [401, 'ApiKey realm="test"'])
  t.strictSame(await get('inQuery', {}, '?key=very%20good'), accepted)
  t.strictSame(seen.at(-1), ['very good', []])
  t.strictSame(await get('inQuery', {}, '?key=good&key=good'), [400, 'ApiKey realm="test"'])
  t.strictSame(await get('inCookie', { cookie: 'a=b; key=good' }), accepted)
  t.strictSame(await get('inCookie', { cookie: 'key=bad' }), [401, 'ApiKey realm="test"'])

  t.strictSame(await get('oauth', { authorization: 'Bearer good' }), accepted)
  t.strictSame(seen.at(-1), ['good', ['read', 'write']])
  const insufficient = `${bearer}, error="insufficient_scope", scope="read write"`
  t.strictSame(await get('oauth', { authorization: 'Bearer weak' }), [403, insufficient])
  t.strictSame(await get('oidc', { authorization: 'Bearer good' }), accepted)
})

t.test('`security`', async t => {
  const strings = jsonResponse('{ type: array, items: { type: string } }')
  const get = (id: string, security = '') => `  /${id}: { get: { operationId: ${id}, ${security}${strings} } }`
  const verdicts: Record<string, () => unknown> = {
    good: async () => ({ name: 'u' }),
    weak: () => 'forbidden',
    throws: () => assert.fail('no idea'),
    rejects: async () => { throw new Error('no answer') }
  }
  const respond = ({ principals }: Untyped) => ({ status: 200, body: Object.keys(principals ?? {}) })
  const { app } = await serve(t, {
    root: 'security: [{ user: [] }]',
    paths: [
      get('global'),
      get('open', 'security: [], '),
      get('either', 'security: [{ user: [], app: [] }, { admin: [] }], '),
      get('maybe', 'security: [{}, { user: [] }], '),
      get('nobody', 'security: [{}], ')
    ].join('\n'),
    components: `
  securitySchemes:
    user: { type: http, scheme: bearer }
    app: { type: apiKey, in: header, name: X-App }
    admin: { type: http, scheme: basic }`,
    handlers: { global: respond, open: respond, either: respond, maybe: respond, nobody: respond },
    verifiers: {
      user: (token: string) => verdicts[token]?.(),
      app: (key: string) => key === 'a' ? { name: 'a' } : undefined,
      admin: ({ username }: { username: string }) => username === 'root' ? { name: 'root' } : undefined
    }
  })
  /** The schemes that recognised the caller, or the status and the challenge of a refusal. */
  const admitted = async (url: string, headers: Record<string, string> = {}) => {
    const { statusCode, body, headers: { 'www-authenticate': challenge } } = await app.inject({ url, headers })
    return statusCode === 200 ? JSON.parse(body) : [statusCode, challenge]
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const admin = { authorization: `Basic ${btoa('root:x')}` }
  t.strictSame(await admitted('/global', bearer('good')), ['user'])
  t.strictSame(await admitted('/global'), [401, 'Bearer realm="test"'])
  t.strictSame(await admitted('/open'), [])
  t.strictSame(await admitted('/nobody', bearer('bad')), [], 'the operation asks for no credentials')

  t.strictSame(await admitted('/either', { ...bearer('good'), 'x-app': 'a' }), ['user', 'app'])
  const either = await admitted('/either', { ...admin, 'x-app': 'a' })
  t.strictSame(either, ['admin'], 'only the principals of the requirement that was met')
  const challenges = [401, 'ApiKey realm="test", Basic realm="test", charset="UTF-8"']
  t.strictSame(await admitted('/either', bearer('good')), challenges)
  t.strictSame(await admitted('/either', { ...bearer('good'), 'x-app': 'b' }), challenges)
  const forbidden = [403, 'Bearer realm="test", error="insufficient_scope"']
  t.strictSame(await admitted('/either', { ...bearer('weak'), 'x-app': 'a' }), forbidden)
  const rejected = await admitted('/either', bearer('rejects'))
  t.strictSame(rejected, [500, undefined], 'a verifier that failed might have accepted')
  t.strictSame(await admitted('/global', bearer('throws')), [500, undefined])

  t.strictSame(await admitted('/maybe'), [])
  t.strictSame(await admitted('/maybe', bearer('good')), ['user'])
  const invalid = [401, 'Bearer realm="test", error="invalid_token"']
  t.strictSame(await admitted('/maybe', bearer('bad')), invalid, 'bad credentials are not anonymous')
})

t.test('operations without security', async t => {
  const parts = { ...getOperation(anyResponse), root: '' }
  const { app } = await serve(t, { ...parts, leniency: { allowOpen: true } })
  t.equal((await app.inject('/a')).statusCode, 200)
})
