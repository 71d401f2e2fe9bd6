import { generateKeyPairSync } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { IssuerKeys, keyTimes } from '../../../src/auth/issuer-keys.ts'
import { jwtVerifier } from '../../../src/auth/jwt.ts'
import { stopClock } from '../../fixtures/clock.ts'
import { audience, makeKey, startIssuer } from '../../fixtures/issuer.ts'

/** No reads in the background, and none is too early. */
const calm = { ...keyTimes, cooldown: 0 }

function newKeys (t: Test, issuer: string, times = calm, jwksUrl?: string) {
  const sentences: string[] = []
  const report = (sentence: string) => { sentences.push(sentence) }
  const keys = new IssuerKeys({ issuer, audience, jwksUrl }, { warn: report, info: report }, times)
  t.teardown(() => keys.close())
  return { keys, sentences }
}

async function until (isTrue: () => boolean): Promise<void> {
  for (let waited = 0; !isTrue() && waited < 10_000; waited += 10) await sleep(10)
}

/** Answers that are no documents, and what the service says about them. */
const brokenAnswers: Array<[name: string, listener: RequestListener, reason: RegExp]> = [
  ['status 500', (_request, response) => response.writeHead(500).end(), /the status is 500/],
  [
    'a redirect',
    ({ url }, response) => response.writeHead(302, { location: `/moved${url}` }).end(),
    /status is 302/
  ],
  ['204', (_request, response) => response.writeHead(204).end(), /the status is 204/],
  ['garbage', (_request, response) => response.end('<html>secret'), /it is not JSON/],
  [
    'an endless document', (_request, response) => { response.end(`"${'x'.repeat(300_000)}"`) },
    /larger than 262144 bytes/
  ],
  ['no answer', () => {}, /aborted due to timeout/],
  ['half an answer', (_request, response) => { response.write('{') }, /aborted due to timeout/],
  ['a broken connection', ({ socket }) => socket.destroy(), /UND_ERR_SOCKET|ECONNRESET/]
]

t.test('the reason why fetch refuses an address is reported', async t => {
  // The Fetch Standard blocks this port.
  const { keys, sentences } = newKeys(t, 'http://127.0.0.1:4190', calm)
  await keys.open()
  t.match(sentences, [/openid-configuration: bad port/])
})

t.test('what is wrong with the certificate of an issuer leads to what helps', async t => {
  let cause = {}
  // A certificate would need a program that signs it.
  t.intercept(globalThis, 'fetch', { value: () => Promise.reject(new TypeError('fetch failed', { cause })) })
  for (const [code, wayOut] of [
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'Its certificate .* by NODE_EXTRA_CA_CERTS, in the environment'],
    ['CERT_HAS_EXPIRED', 'The issuer must renew its certificate\\.$'],
    ['CERT_NOT_YET_VALID', 'Check the clock of this machine'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'Use a name of its certificate ']
  ] as const) {
    cause = { code }
    const { keys, sentences } = newKeys(t, 'https://127.0.0.1', calm)
    await keys.open()
    t.match(sentences[0], new RegExp(`: ${code}\\. .* get 503\\. ${wayOut}`))
  }
})

t.test('an issuer that is down at startup is reported, and its keys are read once it is up', async t => {
  const { issuer, answer, publish, requests } = await startIssuer(t)
  const key = await makeKey('first')
  for (const [name, listener, reason] of brokenAnswers) {
    answer(listener)
    const isSlow = reason.source.includes('timeout')
    const { keys, sentences } = newKeys(t, issuer, isSlow ? { ...calm, timeout: 1000 } : calm)
    await keys.open()
    t.equal(sentences.length, 1, name)
    t.match(sentences[0], reason, name)
    t.match(
      sentences[0],
      `The keys for JWTs cannot be read: ${issuer}/.well-known/openid-configuration: `,
      name
    )
    t.match(
      sentences[0], 'JWTs get 503. Start the issuer, or correct JWT_ISSUER and JWKS_URL.', name
    )
    t.equal(keys.current, undefined, name)
    await keys.renew()
    t.equal(sentences.length, 1, `${name}: it is reported once`)
    publish(key)
    t.ok(await keys.renew(), name)
    t.strictSame(sentences.slice(1), ['The issuer publishes keys for JWTs again.'], name)
  }
  t.notMatch(requests, ['/moved/.well-known/openid-configuration'], 'no redirect was followed')
})

t.test('the log has no query of JWKS_URL', async t => {
  const { issuer, answer } = await startIssuer(t)
  for (const body of ['nonsense', '[]', '{}']) {
    answer((_request, response) => response.end(body))
    const { keys, sentences } = newKeys(t, issuer, calm, `${issuer}/keys?api_key=hunter2#hunter2`)
    const message = await keys.open().then(() => sentences.join(), ({ message }) => message)
    t.match(message, `The keys for JWTs cannot be read: ${issuer}/keys`)
    t.notMatch(message, 'hunter2')
  }
})

t.test('the background reads the keys of an issuer that starts later, and notices changes', async t => {
  const { issuer, answer, publish } = await startIssuer(t)
  answer((_request, response) => response.writeHead(503).end())
  const { keys } = newKeys(t, issuer, { ...calm, retry: 20, refresh: 20 })
  await keys.open()
  publish(await makeKey('first'))
  await until(() => keys.current !== undefined)
  const { current } = keys
  t.ok(current)
  publish(await makeKey('second'))
  await until(() => keys.current !== current)
  t.not(keys.current, current)
})

t.test('an issuer without keys is reported', async t => {
  const { issuer, publish } = await startIssuer(t)
  publish()
  const { keys, sentences } = newKeys(t, issuer)
  await keys.open()
  await keys.renew()
  publish(await makeKey('first'))
  await keys.renew()
  const warning = 'The issuer publishes no keys: every JWT gets 401.'
  t.strictSame(sentences, [warning, 'The issuer publishes keys for JWTs again.'])
})

t.test('an issuer that contradicts the configuration is refused at startup', async t => {
  const { issuer, answer } = await startIssuer(t)
  const place = `${issuer}/.well-known/openid-configuration`
  const valid = { issuer, jwks_uri: `${issuer}/keys` }
  const wrong: Array<[document: unknown, message: string]> = [
    [{ ...valid, issuer: `${issuer}/` },
      `${place} names the issuer "${issuer}/", but JWT_ISSUER is "${issuer}": they must be equal`],
    [
      { jwks_uri: valid.jwks_uri },
      `${place} names the issuer undefined, but JWT_ISSUER is "${issuer}"`
    ],
    [{ issuer }, `${place} has no jwks_uri`],
    [
      { ...valid, jwks_uri: 'http://192.0.2.1/keys' },
      `jwks_uri in ${place} must be an https address; http is allowed only for localhost`
    ],
    [{ ...valid, jwks_uri: 'file:///etc/passwd' }, `jwks_uri in ${place} must be an https address`],
    [valid, `${issuer}/keys is not a key set (RFC 7517)`],
    [{ ...valid, keys: [null] }, `${issuer}/keys is not a key set (RFC 7517)`],
    [[valid], `${place} is not a JSON object`]
  ]
  for (const [document, message] of wrong) {
    answer((_request, response) => response.end(JSON.stringify(document)))
    const { keys, sentences } = newKeys(t, issuer)
    await t.rejects(
      keys.open(),
      { message: new RegExp(`^The keys for JWTs cannot be read: ${RegExp.escape(message)}`) }
    )
    t.strictSame(sentences, [])
  }
})

t.test('with JWKS_URL there is no discovery', async t => {
  const { issuer, publish, requests } = await startIssuer(t)
  publish(await makeKey('first'))
  const { keys } = newKeys(t, 'any name', calm, `${issuer}/keys`)
  await keys.open()
  t.ok(keys.current)
  t.strictSame(requests, ['/keys'])
})

t.test('a flood of unknown keys causes one read', async t => {
  const { issuer, publish, requests, sign } = await startIssuer(t)
  publish(await makeKey('first'))
  const stranger = await makeKey('unknown')
  const kids = Array.from({ length: 50 }, (_, id) => `unknown ${id}`)
  const unknown = await Promise.all(kids.map(kid => sign(stranger, {}, { kid })))
  const clock = stopClock(t)
  const { keys } = newKeys(t, issuer, { ...calm, cooldown: 1000 })
  await keys.open()
  const verify = jwtVerifier({ issuer, audience, keys, onRefused: () => {} })
  const flood = () => Promise.all(unknown.map(token => verify(token, [])))
  t.strictSame(new Set(await flood()), new Set([undefined]))
  t.equal(requests.length, 2, 'only those of the startup')
  clock.advance(1000)
  await flood()
  await flood()
  t.equal(requests.length, 4, 'discovery and keys, once')
})

t.test('requests for new keys at the same time share a read', async t => {
  const { issuer, publish, requests } = await startIssuer(t)
  publish(await makeKey('first'))
  const { keys } = newKeys(t, issuer)
  const [one, two] = await Promise.all([keys.renew(), keys.renew()])
  t.ok(one)
  t.equal(one, two)
  t.equal(requests.length, 2, 'discovery and keys, once')
})

t.test('the last keys are used while the issuer is down, for a bounded time', async t => {
  const { issuer, publish, answer, sign } = await startIssuer(t)
  const key = await makeKey('first')
  publish(key)
  const clock = stopClock(t)
  const times = { ...calm, retry: 20, refresh: 20, keep: 60_000 }
  const { keys, sentences } = newKeys(t, issuer, times)
  await keys.open()
  const verify = jwtVerifier({ issuer, audience, keys, onRefused: () => {} })
  const token = await sign(key)
  answer((_request, response) => response.writeHead(500).end())
  await until(() => sentences.length > 0)
  t.match(sentences[0], /the status is 500\. The last ones stay in use for up to [\d.]+ minutes\.$/)
  t.strictSame(await verify(token, []), { name: 'alice', id: 'jwt alice' })
  t.strictSame(verify(token, []), { name: 'alice', id: 'jwt alice' }, 'remembered')

  clock.advance(60_000)
  await sleep(100)
  t.ok(keys.current, 'not before the end of that time')
  clock.advance(1)
  await until(() => keys.current === undefined)
  t.match(sentences[1], /JWTs get 503/)
  await t.rejects(
    Promise.resolve(verify(token, [])),
    { message: /cannot check this token now/ },
    'also a remembered token'
  )
  publish(key)
  await until(() => keys.current !== undefined)
  t.strictSame(await verify(token, []), { name: 'alice', id: 'jwt alice' })
})

t.test('a key that cannot be used refuses its own tokens only', async t => {
  const { issuer, publish, sign } = await startIssuer(t)
  const [good, bad, other] = await Promise.all(
    [makeKey('good'), makeKey('bad'), makeKey('short', 'RS256')]
  )
  const short = generateKeyPairSync(
    'rsa', { modulusLength: 1024 }
  ).publicKey.export({ format: 'jwk' })
  publish(
    good,
    { ...bad, jwk: { ...bad.jwk, x: 'AAAA' } },
    { ...other, jwk: { ...short, alg: 'RS256', kid: 'short' } }
  )
  const { keys } = newKeys(t, issuer)
  await keys.open()
  const reasons: string[] = []
  const verify = jwtVerifier({ issuer, audience, keys, onRefused: reason => reasons.push(reason) })
  t.strictSame(await verify(await sign(good), []), { name: 'alice', id: 'jwt alice' })
  t.equal(await verify(await sign(bad), []), undefined)
  t.equal(await verify(await sign(other), []), undefined)
  t.match(reasons, [/^this key of the issuer cannot be used: ./, /it has less than 2048 bits$/])
})

t.test('close() during a read stops the reads in the background', async t => {
  const { issuer, answer, requests } = await startIssuer(t)
  answer((_request, response) => setTimeout(() => response.writeHead(500).end(), 50))
  const { keys } = newKeys(t, issuer, { ...calm, retry: 10 })
  const opening = keys.open()
  keys.close()
  await opening
  await sleep(100)
  t.equal(requests.length, 1)
})
