import { CompactEncrypt, exportSPKI, SignJWT } from 'jose'
import { createPublicKey, generateKeyPairSync, KeyObject, sign } from 'node:crypto'
import t, { type Test } from 'tap'
import { AcceptedTokens } from '../../../src/auth/jwt-cache.ts'
import { IssuerKeys, type KeySet, keyTimes } from '../../../src/auth/issuer-keys.ts'
import { type JwtOptions, jwtVerifier } from '../../../src/auth/jwt.ts'
import { json, startApp } from '../../fixtures/app.ts'
import { anyResponse, serve } from '../../fixtures/contract.ts'
import {
  audience, type IssuerKey, makeKey, startIssuer, startProvider, type TestIssuer
} from '../../fixtures/issuer.ts'
import { all } from '../../fixtures/plant-store-suite.ts'

type Claims = Record<string, unknown>

const plant = '{"id":1,"name":"Boston fern"}'
const seconds = (fromNow: number) => Math.floor(Date.now() / 1000) + fromNow

/** A verifier of the issuer's tokens, and why it refused them. */
async function openVerifier (
  t: Test, { issuer }: { issuer: string }, options: Partial<JwtOptions> = {}
) {
  const reasons: string[] = []
  const report = { warn: (sentence: string) => { throw new Error(sentence) }, info: () => {} }
  const keys = new IssuerKeys(
    { issuer, audience, jwksUrl: undefined }, report, { ...keyTimes, cooldown: 0 }
  )
  t.teardown(() => keys.close())
  await keys.open()
  const verify = jwtVerifier(
    { issuer, audience, keys, onRefused: reason => reasons.push(reason), ...options }
  )
  return { verify, keys, reasons }
}

async function setUp (t: Test, alg = 'ES256') {
  const issuer = await startIssuer(t)
  const key = await makeKey('first', alg)
  issuer.publish(key)
  return { issuer, key, ...await openVerifier(t, issuer) }
}

const encode = (part: unknown) => Buffer.from(
  typeof part === 'string' ? part : JSON.stringify(part)
).toString('base64url')

/** Signs what no library would: both parts are texts, or become JSON. */
function signAnything ({ privateKey }: IssuerKey, header: unknown, payload: unknown): string {
  const input = `${encode(header)}.${encode(payload)}`
  const key = KeyObject.from(privateKey)
  return `${input}.${sign(
    'sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }
  ).toString('base64url')}`
}

t.test('a token from a real OpenID provider is accepted, and its client is the caller', async t => {
  const provider = await startProvider(t)
  const { verify } = await openVerifier(t, provider)
  const { post, store } = await startApp(t, { verifyToken: verify })
  const token = await provider.requestToken()
  t.equal((await post(plant, { authorization: `Bearer ${token}` })).statusCode, 200)
  t.equal((await all(store)).length, 1)
  t.strictSame(await verify(token, ['plants:write']), { name: 'shop', id: 'jwt shop' })
  t.equal(await verify(token, ['plants:write', 'plants:delete']), 'forbidden')
})

t.test('valid tokens are accepted with each algorithm', async t => {
  const issuer = await startIssuer(t)
  const algorithms = ['RS256', 'RS512', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
  const keys = await Promise.all(algorithms.map(alg => makeKey(alg, alg)))
  issuer.publish(...keys)
  const { verify } = await openVerifier(t, issuer)
  for (const key of keys) {
    t.strictSame(
      await verify(await issuer.sign(key), []), { name: 'alice', id: 'jwt alice' }, key.jwk.alg
    )
  }
})

t.test('a token may leave out its kid if one key fits, and has several forms of typ and aud', async t => {
  const { issuer, key, keys, verify, reasons } = await setUp(t)
  const accepted: Array<[string, Claims, Record<string, unknown>]> = [
    ['no kid', {}, { kid: undefined }],
    ['no typ', {}, { typ: undefined }],
    ['typ JWT', {}, { typ: 'JWT' }],
    ['typ with its prefix', {}, { typ: 'Application/AT+JWT' }],
    ['several audiences', { aud: ['https://other.example.com', audience] }, {}],
    ['nbf within the leeway', { nbf: seconds(3) }, {}],
    ['the longest sub', { sub: 'x'.repeat(255) }, {}],
    ['addresses of other keys', {}, { jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' }]
  ]
  for (const [name, claims, header] of accepted) {
    t.match(
      await verify(await issuer.sign(key, claims, header), []), { name: /alice|x{255}/ }, name
    )
  }
  const again = signAnything(key, {
    alg: 'ES256', kid: 'first'
  }, `{"aud":"x","iss":"x","iss":"${issuer.issuer}",
    "aud":"${audience}","exp":${seconds(60)},"sub":"alice"}`)
  t.match(
    await verify(again, []),
    { name: 'alice', id: 'jwt alice' },
    'the last of duplicate claims counts (RFC 7519, section 4)'
  )

  issuer.publish(key, await makeKey('second'))
  await keys.renew()
  t.equal(
    await verify(await issuer.sign(key, { jti: 'a' }, { kid: undefined }), []),
    undefined,
    'two keys fit'
  )
  t.strictSame(reasons, ['multiple matching keys found in the JSON Web Key Set'])
})

t.test('each bad token is answered 401 with error="invalid_token" and stores nothing', async t => {
  const { issuer, key, verify, reasons } = await setUp(t)
  const rsa = await makeKey('rsa', 'RS256')
  issuer.publish(key, rsa)
  const stranger = await makeKey('first')
  const trap = await startIssuer(t)
  trap.publish(stranger)
  const { post, store } = await startApp(t, { verifyToken: verify })
  const good = await issuer.sign(key, { sub: 'good' })
  t.equal((await post(plant, { authorization: `Bearer ${good}` })).statusCode, 200, 'the control')

  const cases = await badTokens({ issuer, key, rsa, stranger, trap })
  for (const [name, token, reason] of cases) {
    reasons.length = 0
    const { statusCode, headers, body } = await post(
      '{"id":2,"name":"x"}', { authorization: `Bearer ${token}` }
    )
    t.equal(statusCode, 401, name)
    t.equal(headers['www-authenticate'], 'Bearer realm="plant-store", error="invalid_token"', name)
    t.equal(body, '{"error":401,"message":"The bearer token is not accepted."}', name)
    t.match(reasons, [reason], `${name}: reason`)
  }
  t.equal((await all(store)).length, 1)
  t.strictSame(trap.requests, [], 'no address in a token was read')
})

interface Parties { issuer: TestIssuer, key: IssuerKey, rsa: IssuerKey, stranger: IssuerKey, trap: TestIssuer }

/** Names, tokens and the reasons for which they are refused. */
async function badTokens (parties: Parties): Promise<Array<[name: string, token: string, reason: RegExp]>> {
  return [...await badClaims(parties), ...await badHeaders(parties), ...await badSignatures(parties),
    ...await badForms(parties)]
}

async function badClaims ({ issuer, key }: Parties): Promise<Array<[string, string, RegExp]>> {
  const base = { iss: issuer.issuer, aud: audience, sub: 'alice', exp: seconds(60) }
  const withText = (payload: string) => signAnything(key, { alg: 'ES256', kid: 'first' }, payload)
  const cases: Array<[string, Claims, RegExp]> = [
    ['expired', { exp: seconds(-1) }, /"exp"/],
    ['no exp', { exp: undefined }, /missing required "exp"/],
    ['not yet valid', { nbf: seconds(60) }, /"nbf"/],
    ['wrong audience', { aud: 'https://other.example.com' }, /"aud"/],
    ['wrong audiences', { aud: ['https://other.example.com', `${audience}/`] }, /"aud"/],
    ['no audience', { aud: undefined }, /missing required "aud"/],
    ['wrong issuer', { iss: `${issuer.issuer}/` }, /"iss"/],
    ['no issuer', { iss: undefined }, /missing required "iss"/],
    ['no sub', { sub: undefined }, /missing required "sub"/],
    ['empty sub', { sub: '' }, /"sub" is not a text/],
    ['long sub', { sub: 'x'.repeat(256) }, /"sub" is not a text/],
    ['ID token with at_hash', { at_hash: 'x' }, /ID token/],
    ['ID token with c_hash', { c_hash: 'x' }, /ID token/],
    ['bound to a key', { cnf: { jkt: 'x' } }, /"cnf"/]
  ]
  const signed = cases.map(async ([name, claims, reason]): Promise<[string, string, RegExp]> => {
    return [name, await issuer.sign(key, claims), reason]
  })
  const texts: Array<[string, string, RegExp]> = [
    [
      'exp as a text', JSON.stringify({ ...base, exp: String(base.exp) }),
      /"exp" claim must be a number/
    ],
    ['exp 1e300', JSON.stringify({ ...base, exp: 1e300 }), /"exp" is past, or no date/],
    [
      'exp 1e999', JSON.stringify(base).replace(`${base.exp}`, '1e999'), /"exp" is past, or no date/
    ],
    ['exp null', JSON.stringify({ ...base, exp: null }), /"exp" claim must be a number/],
    ['nbf as a text', JSON.stringify({ ...base, nbf: '0' }), /"nbf" claim must be a number/],
    ['sub as a number', JSON.stringify({ ...base, sub: 5 }), /"sub" is not a text/],
    ['aud as an object', JSON.stringify({ ...base, aud: { [audience]: true } }), /"aud"/],
    [
      'aud twice', JSON.stringify(base).replace('}', ',"aud":"https://other.example.com"}'), /"aud"/
    ],
    ['exp twice', JSON.stringify(base).replace('}', ',"exp":1}'), /"exp"/],
    ['claims in __proto__', `{"__proto__":${JSON.stringify(base)}}`, /missing required/],
    ['a list', JSON.stringify([base]), /top-level JSON object/],
    ['no JSON', 'x', /top-level JSON object/],
    ['a token in a token', await issuer.sign(key), /top-level JSON object/]
  ]
  return [...await Promise.all(signed), ...texts.map(([name, text, reason]): [string, string, RegExp] => {
    return [name, withText(text), reason]
  })]
}

async function badHeaders ({ issuer, key, rsa, stranger, trap }: Parties): Promise<Array<[string, string, RegExp]>> {
  const claims = { iss: issuer.issuer, aud: audience, sub: 'alice', exp: seconds(60) }
  const unsigned = (header: object) => `${encode(header)}.${encode(claims)}.${encode('x')}`
  const hmac = (alg: string, secret: string) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid: 'rsa' }).sign(Buffer.from(secret))
  const pem = await exportSPKI(publicKeyOf(rsa))
  const forged = (header: Record<string, unknown>) => issuer.sign(stranger, {}, header)
  const own = (header: unknown) => signAnything(key, header, claims)
  const kids = ['../../etc/passwd', "' OR '1'='1", '__proto__', 'constructor', '', 'x'.repeat(4000)]
  return [
    ['alg none', unsigned({ alg: 'none' }), /"alg".* not allowed/],
    ['alg NonE', unsigned({ alg: 'NonE' }), /"alg".* not allowed/],
    ['no alg', unsigned({ kid: 'first' }), /"alg".* missing or invalid/],
    ['alg as a list', unsigned({ alg: ['ES256'], kid: 'first' }), /"alg".* missing or invalid/],
    ['HS256 with the public key as PEM', await hmac('HS256', pem), /"alg".* not allowed/],
    [
      'HS512 with the public key as JWK', await hmac('HS512', JSON.stringify(rsa.jwk)),
      /"alg".* not allowed/
    ],
    ['PS256 with a key for RS256', unsigned({ alg: 'PS256', kid: 'rsa' }), /no applicable key/],
    ...await Promise.all(kids.map(async (kid): Promise<[string, string, RegExp]> => {
      return [`kid ${kid.slice(0, 20)}`, await forged({ kid }), /no applicable key/]
    })),
    [
      'kid as an object', unsigned({ alg: 'ES256', kid: { toString: 'first' } }),
      /no applicable key/
    ],
    ['jku', await forged({ jku: `${trap.issuer}/keys` }), /signature verification failed/],
    ['x5u', await forged({ x5u: `${trap.issuer}/keys`, kid: 'unknown' }), /no applicable key/],
    ['jwk', await forged({ jwk: stranger.jwk }), /signature verification failed/],
    ['x5c', await forged({ x5c: ['AAAA'] }), /signature verification failed/],
    [
      'unknown crit', own({ alg: 'ES256', kid: 'first', crit: ['x'], x: 1 }),
      /"x" is not recognized/
    ],
    ['empty crit', own({ alg: 'ES256', kid: 'first', crit: [] }), /"crit"/],
    ['b64 false', own({ alg: 'ES256', kid: 'first', crit: ['b64'], b64: false }), /./],
    ['typ of a logout token', await issuer.sign(key, {}, { typ: 'logout+jwt' }), /"typ"/],
    ['typ of a proof', await issuer.sign(key, {}, { typ: 'dpop+jwt' }), /"typ"/],
    ['typ as a number', own({ alg: 'ES256', kid: 'first', typ: 5 }), /"typ"/],
    ['typ as a list', own({ alg: 'ES256', kid: 'first', typ: ['JWT'] }), /"typ"/],
    ['typ as an object', own({ alg: 'ES256', kid: 'first', typ: { toString: 1 } }), /"typ"/],
    ['header is a list', own([{ alg: 'ES256', kid: 'first' }]), /Header is invalid/],
    ['header is no JSON', own('x'), /Header is invalid/]
  ]
}

async function badSignatures ({ issuer, key, rsa, stranger }: Parties): Promise<Array<[string, string, RegExp]>> {
  const [header, payload, signature = ''] = (await issuer.sign(key)).split('.')
  const failed = /signature verification failed/
  const withSignature = (bytes: Buffer) => `${header}.${payload}.${bytes.toString('base64url')}`
  const bytes = Buffer.from(signature, 'base64url')
  return [
    ['signed by a stranger', await issuer.sign(stranger), failed],
    ['signed by another key of the issuer', await issuer.sign(
      { ...rsa, jwk: { ...rsa.jwk, kid: 'first' } }
    ),
    /no applicable key/],
    ['ES256 signature of zeros (CVE-2022-21449)', withSignature(Buffer.alloc(64)), failed],
    [
      'ES256 signature of zeros in DER', withSignature(Buffer.from('3006020100020100', 'hex')),
      failed
    ],
    ['truncated signature', withSignature(bytes.subarray(0, 63)), failed],
    ['longer signature', withSignature(Buffer.concat([bytes, Buffer.alloc(1)])), failed],
    [
      'signature with half a byte', `${header}.${payload}.${signature.slice(0, 85)}`,
      /base64url|verification failed/
    ],
    ['payload of another token', [
      header, (await issuer.sign(key, { sub: 'x' })).split('.')[1], signature
    ].join('.'),
    failed]
  ]
}

async function badForms ({ issuer, key }: Parties): Promise<Array<[string, string, RegExp]>> {
  const good = await issuer.sign(key)
  const jwe = await new CompactEncrypt(Buffer.from(good)).setProtectedHeader({
    alg: 'RSA-OAEP', enc: 'A256GCM', cty: 'JWT', kid: 'rsa'
  }).encrypt(generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey)
  const long = await issuer.sign(key, { padding: 'x'.repeat(6200) })
  const notSigned = /not three parts in base64url/
  return [
    ['oversized', long, /more than 8192 characters/],
    ['two parts', good.split('.').slice(0, 2).join('.'), notSigned],
    ['an empty signature', `${good.split('.').slice(0, 2).join('.')}.`, notSigned],
    ['four parts', `${good}.x`, notSigned],
    ['a JWE around a good token', jwe, notSigned],
    ['base64 instead of base64url', good.replace('.', '+.'), notSigned],
    ['padding', `${good}==`, notSigned]
  ]
}

function publicKeyOf ({ jwk }: IssuerKey): KeyObject {
  return createPublicKey({ key: jwk, format: 'jwk' })
}

t.test('no change of a single character leaves a token valid', async t => {
  const { issuer, key, verify } = await setUp(t)
  const token = await issuer.sign(key)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  // Bit 5 of each character counts: the last character of a part leaves lower bits unused.
  const change = (character: string) => alphabet[alphabet.indexOf(character) ^ 32] as string
  const accepted: number[] = []
  for (const [index, character] of [...token].entries()) {
    if (character === '.') continue
    const changed = token.slice(0, index) + change(character) + token.slice(index + 1)
    if (await verify(changed, []) !== undefined) accepted.push(index)
  }
  t.strictSame(accepted, [])
  t.ok(await verify(token, []))
})

t.test('a repeated token needs no signature check, but never outlives its exp', async t => {
  const issuer = await startIssuer(t)
  const key = await makeKey('first')
  issuer.publish(key)
  let now = Date.now()
  const { verify, reasons } = await openVerifier(t, issuer, { now: () => now })
  const exp = seconds(60)
  const token = await issuer.sign(key, { exp })
  const verifying = verify(token, [])
  t.type(verifying, Promise)
  t.strictSame(await verifying, { name: 'alice', id: 'jwt alice' })
  t.strictSame(
    verify(token, []), { name: 'alice', id: 'jwt alice' }, 'at once, so without a signature check'
  )
  now = exp * 1000 - 1
  t.strictSame(verify(token, []), { name: 'alice', id: 'jwt alice' })
  now = exp * 1000
  t.equal(await verify(token, []), undefined)
  t.strictSame(reasons, ['"exp" is past, or no date'])
})

t.test('a token becomes valid at its nbf', async t => {
  const issuer = await startIssuer(t)
  const key = await makeKey('first')
  issuer.publish(key)
  let now = Date.now()
  const { verify } = await openVerifier(t, issuer, { now: () => now })
  const token = await issuer.sign(key, { nbf: seconds(30) })
  t.equal(await verify(token, []), undefined)
  now += 26_000
  t.strictSame(await verify(token, []), { name: 'alice', id: 'jwt alice' })
})

t.test('a token is verified again after a change of the keys', async t => {
  const { issuer, key, verify, keys, reasons } = await setUp(t)
  const token = await issuer.sign(key)
  await verify(token, [])
  const { current } = keys
  await keys.renew()
  t.equal(keys.current, current, 'the same keys are the same set')
  t.strictSame(verify(token, []), { name: 'alice', id: 'jwt alice' })
  issuer.publish(await makeKey('second'))
  await keys.renew()
  t.equal(await verify(token, []), undefined)
  t.strictSame(reasons, ['no applicable key found in the JSON Web Key Set'])
})

t.test('a new key without another kid is read when a token has its signature', async t => {
  for (const header of [{ kid: undefined }, {}]) {
    const { issuer, verify, reasons } = await setUp(t)
    const next = await makeKey('first')
    issuer.publish(next)
    const before = issuer.requests.length
    t.match(await verify(await issuer.sign(next, {}, header), []), { name: 'alice' })
    t.ok(issuer.requests.length > before)
    t.equal(await verify(await issuer.sign(await makeKey('first'), {}, header), []), undefined)
    t.strictSame(reasons, ['signature verification failed'])
  }
})

t.test('a token that was being verified during a change of the keys is verified again', async t => {
  const { issuer, key } = await setUp(t)
  const token = await issuer.sign(key)
  const changed = Promise.withResolvers<void>()
  const find = () => changed.promise.then(() => publicKeyOf(key))
  const keys = { current: { find, accepted: new AcceptedTokens(1) }, renew: async () => undefined }
  const verify = jwtVerifier({ issuer: issuer.issuer, audience, keys, onRefused: () => {} })
  const verifying = verify(token, [])
  keys.current = { find, accepted: new AcceptedTokens(1) }
  changed.resolve()
  t.strictSame(await verifying, { name: 'alice', id: 'jwt alice' })
  const again = verify(token, [])
  t.type(again, Promise)
  await again
})

t.test('a token with a new key is accepted without a restart', async t => {
  const { issuer, verify } = await setUp(t)
  const second = await makeKey('second')
  issuer.publish(second)
  t.strictSame(await verify(await issuer.sign(second), []), { name: 'alice', id: 'jwt alice' })
})

t.test('the scopes of a token must contain all that the operation needs', async t => {
  const { issuer, key, verify } = await setUp(t)
  const verdicts: Array<[Claims, string[], 'alice' | 'forbidden']> = [
    [{}, [], 'alice'],
    [{}, ['read'], 'forbidden'],
    [{ scope: 'read write' }, ['write', 'read'], 'alice'],
    [{ scope: 'read' }, ['write', 'read'], 'forbidden'],
    [{ scope: 'reading' }, ['read'], 'forbidden'],
    [{ scope: '' }, ['read'], 'forbidden'],
    [{ scp: ['read', 'write'] }, ['write'], 'alice'],
    [{ scp: 'read write' }, ['write'], 'alice'],
    [{ scope: 'read', scp: ['write', 5, null] }, ['read', 'write'], 'alice'],
    [{ scope: { read: true } }, ['read'], 'forbidden'],
    [{ scope: 'read' }, ['__proto__'], 'forbidden']
  ]
  for (const [claims, scopes, verdict] of verdicts) {
    const token = await issuer.sign(key, claims)
    for (const time of ['first', 'second']) {
      const got = await verify(token, scopes)
      t.equal(
        typeof got === 'object' ? got.name : got,
        verdict,
        `${JSON.stringify(claims)} ${scopes}, ${time} time`
      )
    }
  }
})

t.test('a token without the scopes of the contract is answered 403 with insufficient_scope', async t => {
  const { issuer, key, verify } = await setUp(t)
  const { app } = await serve(t, {
    components: '  securitySchemes: { oauth: { type: openIdConnect, openIdConnectUrl: https://id.example.com } }',
    paths: `  /things: { post: { operationId: add, security: [{ oauth: [things:write] }], ${anyResponse} } }`,
    verifiers: { oauth: verify }
  })
  const add = async (scope: string) => app.inject({
    method: 'POST',
    url: '/things',
    headers: { authorization: `Bearer ${await issuer.sign(key, { scope })}`, accept: json }
  })
  t.equal((await add('things:read things:write')).statusCode, 200)
  const { statusCode, headers } = await add('things:read')
  t.equal(statusCode, 403)
  t.match(
    headers['www-authenticate'],
    /^Bearer realm="[^"]+", error="insufficient_scope", scope="things:write"$/
  )
})

t.test('while no keys are known, a JWT is answered 503 with Retry-After, and other tokens 401', async t => {
  const { issuer, key } = await setUp(t)
  let isUp = false
  const find = async () => publicKeyOf(key)
  const keys = {
    current: undefined,
    renew: async () => isUp ? { find, accepted: new AcceptedTokens(1) } : undefined
  }
  const { post, store } = await startApp(t, {
    verifyToken: jwtVerifier({ issuer: issuer.issuer, audience, keys, onRefused: () => {} })
  })
  const authorization = `Bearer ${await issuer.sign(key)}`
  const { statusCode, headers, body } = await post(plant, { authorization })
  t.equal(statusCode, 503)
  t.equal(headers['retry-after'], '1')
  t.match(
    JSON.parse(body),
    { error: 503, message: /cannot check this token now\. Sending the request again is safe\.$/ }
  )
  t.equal((await post(plant, { authorization: 'Bearer x' })).statusCode, 401)
  t.equal((await all(store)).length, 0)
  isUp = true
  t.equal((await post(plant, { authorization })).statusCode, 200)
})

t.test('an unexpected error is thrown, not taken for a bad token', async t => {
  const { issuer, key } = await setUp(t)
  const find = async () => { throw new Error('thrown by the test') }
  const keys = { current: { find, accepted: new AcceptedTokens(1) }, renew: async () => undefined }
  const verify = jwtVerifier({ issuer: issuer.issuer, audience, keys, onRefused: () => {} })
  await t.rejects(
    Promise.resolve(verify(await issuer.sign(key), [])), { message: 'thrown by the test' }
  )
})

t.test('two signatures are checked at once: others leave the threads of the pool free', async t => {
  const { key, keys, reasons, issuer } = await setUp(t)
  const { find, accepted } = keys.current as KeySet
  let running = 0
  let most = 0
  const current: KeySet = {
    accepted,
    find: async (...args) => {
      most = Math.max(most, ++running)
      await new Promise(resolve => setTimeout(resolve, 5))
      running--
      return find(...args)
    }
  }
  const source = { current, renew: async () => current }
  const verify = jwtVerifier({ issuer: issuer.issuer, audience, keys: source, onRefused: reason => reasons.push(reason) })
  const withoutClaims = signAnything(key, { alg: 'ES256' }, {})
  await Promise.all(Array.from({ length: 6 }, () => verify(withoutClaims, [])))
  t.equal(most, 2)
  t.equal(reasons.length, 6)
})

t.test('tokens from suspect callers are checked after all others', async t => {
  const { issuer, key } = await setUp(t)
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const find = async ({ kid = '' }) => {
    order.push(kid)
    await gate.promise
    return publicKeyOf(key)
  }
  const keys = { current: { find, accepted: new AcceptedTokens(10) }, renew: async () => undefined }
  const { post } = await startApp(t, {
    verifyToken: jwtVerifier({
      issuer: issuer.issuer, audience, keys, onRefused: () => {}, isSuspect: ({ headers }) => headers?.['suspect'] !== undefined
    })
  })
  const send = async (kid: string, fields = {}) => {
    const token = await issuer.sign({ ...key, jwk: { ...key.jwk, kid } })
    return post(plant, { authorization: `Bearer ${token}`, ...fields })
  }
  // Two are checked at once.
  const sent = [send('1'), send('2')]
  while (order.length < 2) await new Promise(setImmediate)
  sent.push(send('suspect', { suspect: '1' }))
  await new Promise(resolve => setTimeout(resolve, 50))
  sent.push(send('honest'))
  await new Promise(resolve => setTimeout(resolve, 50))
  gate.resolve()
  const responses = await Promise.all(sent)
  t.strictSame(responses.map(({ statusCode }) => statusCode), [200, 200, 200, 200])
  t.strictSame(order.slice(2), ['honest', 'suspect'])
})
