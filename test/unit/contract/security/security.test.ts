// The order of the checks. challenges.test.ts has the answers to all kinds of credentials.
import t from 'tap'
import { isError, listen, logLines, startApp, token } from '../../../fixtures/app.ts'
import { exchangeOne, request } from '../../../fixtures/raw.ts'

const fern = { id: 1, name: 'fern' }

/** A request whose body is neither JSON nor declared as such. */
const invalidRequest = (authorization?: string) => ({
  method: 'POST' as const,
  url: '/plants',
  headers: { 'content-type': 'text/plain', ...authorization !== undefined && { authorization } },
  payload: 'not JSON at all'
})

t.test('two Content-Type lines are answered 415', async t => {
  const { port } = await listen((await startApp(t)).app)
  const fields = ['content-type: text/plain', 'Connection: close']
  const response = await exchangeOne(port, request(JSON.stringify(fern), fields))
  isError(t, response, 415, /more than once/, 'two lines')
})

t.test('credentials are checked before the body', async t => {
  const { app } = await startApp(t, { bodyLimit: 10 })
  const refused = await app.inject(invalidRequest())
  isError(t, refused, 401, /Authorization: Bearer/, 'no token')
  t.equal(refused.headers['www-authenticate'], 'Bearer realm="plant-store"')
  const large = { ...invalidRequest('Bearer wrong'), payload: 'x'.repeat(1000) }
  t.equal((await app.inject(large)).statusCode, 401)
  t.equal((await app.inject(invalidRequest(`Bearer ${token}`))).statusCode, 415)
})

t.test('a verifier that takes too long is answered 503', async t => {
  const { post } = await startApp(t, {
    responseTimeoutMs: 1,
    verifyToken: () => new Promise(() => {})
  })
  const message = 'The service could not check the credentials in time. Try again in a moment.'
  isError(t, await post(fern), 503, message, 'late')
})

t.test('a caller without a name is a mistake of the verifier, and undefined is none', async t => {
  const callers: Record<string, unknown> = { none: undefined, absent: null, no: false, sub: { sub: 'u1' }, yes: true }
  const { log, lines } = logLines()
  const { post } = await startApp(t, { log, verifyToken: given => callers[given] as undefined })
  for (const [given, status] of [['none', 401], ['absent', 401], ['no', 401], ['sub', 500], ['yes', 500]] as const) {
    t.equal((await post(fern, { authorization: `Bearer ${given}` })).statusCode, status, given)
  }
  t.match(lines.join(), 'The verifier bearerAuth returned a caller whose `name` is no text.')
})

t.test('a verifier may be asynchronous, and one that fails is answered 500', async t => {
  const { post } = await startApp(t, {
    verifyToken: async given => {
      if (given === 'broken') throw new Error('no answer from the issuer')
      return given === token ? { name: 'slow' } : undefined
    }
  })
  t.equal((await post(fern)).statusCode, 200)
  const wrong = await post(fern, { authorization: 'Bearer wrong' })
  isError(t, wrong, 401, 'The bearer token is not accepted.', 'wrong')
  const broken = await post(fern, { authorization: 'Bearer broken' })
  isError(t, broken, 500, /log records the cause/, 'broken')
})
