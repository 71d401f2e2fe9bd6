import t from 'tap'
import { isError, listen, startApp } from '../../fixtures/app.ts'
import { exchangeOne, request } from '../../fixtures/raw.ts'

const fern = { id: 1, name: 'fern' }
const realm = 'Bearer realm="plant-store"'

/** A request whose body is neither JSON nor declared as such. */
const invalidRequest = (authorization?: string) => ({
  method: 'POST' as const,
  url: '/plants',
  headers: { 'content-type': 'text/plain', ...authorization !== undefined && { authorization } },
  payload: 'not JSON at all'
})

t.test('a request without a bearer token is answered 401 with a bare Bearer challenge', async t => {
  const { app } = await startApp(t)
  const others = ['', 'Basic YTpi', 'Digest x', 'a-good-token', 'Bearera-good-token', 'BearerX a-good-token']
  for (const authorization of [undefined, ...others]) {
    const response = await app.inject(invalidRequest(authorization))
    isError(t, response, 401, /Authorization: Bearer/, `${authorization}`)
    t.equal(response.headers['www-authenticate'], realm)
  }
})

t.test('an unknown or malformed token is answered 401 with invalid_token', async t => {
  const { app } = await startApp(t)
  const refused = [
    'Bearer wrong',
    'Bearer',
    'Bearer ',
    'Bearer a-good-toke',
    'Bearer a-good-tokens',
    'Bearer A-GOOD-TOKEN',
    'Bearer a-good-token x',
    'Bearer "a-good-token"',
    'Bearer a-good-token,',
    'Bearer __proto__',
    'Bearer constructor'
  ]
  for (const authorization of refused) {
    const response = await app.inject(invalidRequest(authorization))
    isError(t, response, 401, 'The bearer token is not accepted.', authorization)
    t.equal(response.headers['www-authenticate'], `${realm}, error="invalid_token"`)
  }
})

t.test('the name of the scheme is accepted in any case and before any number of spaces', async t => {
  const { post } = await startApp(t)
  for (const authorization of ['Bearer a-good-token', 'bearer a-good-token', 'BEARER   a-good-token']) {
    t.equal((await post(fern, { authorization })).statusCode, 200, authorization)
  }
})

t.test('two Authorization lines are answered 400 with invalid_request, even when both are valid', async t => {
  const { port } = await listen((await startApp(t)).app)
  const fields = ['authorization: Bearer a-good-token', 'Connection: close']
  const response = await exchangeOne(port, request(JSON.stringify(fern), fields))
  isError(t, response, 400, /more than once/, 'two lines')
  t.equal(response.headers['www-authenticate'], `${realm}, error="invalid_request"`)
})

t.test('two Content-Type lines are answered 415', async t => {
  const { port } = await listen((await startApp(t)).app)
  const fields = ['content-type: text/plain', 'Connection: close']
  const response = await exchangeOne(port, request(JSON.stringify(fern), fields))
  isError(t, response, 415, /more than once/, 'two lines')
})

t.test('credentials are checked before the body', async t => {
  const { app } = await startApp(t, { bodyLimit: 10 })
  t.equal((await app.inject(invalidRequest())).statusCode, 401)
  const large = { ...invalidRequest('Bearer wrong'), payload: 'x'.repeat(1000) }
  t.equal((await app.inject(large)).statusCode, 401)
  t.equal((await app.inject(invalidRequest('Bearer a-good-token'))).statusCode, 415)
})

t.test('a verifier may be asynchronous, and one that fails is answered 500', async t => {
  const { post } = await startApp(t, {
    verifyToken: async token => {
      if (token === 'broken') throw new Error('no answer from the issuer')
      return token === 'a-good-token' ? { name: 'slow' } : undefined
    }
  })
  t.equal((await post(fern)).statusCode, 200)
  const wrong = await post(fern, { authorization: 'Bearer wrong' })
  isError(t, wrong, 401, 'The bearer token is not accepted.', 'wrong')
  const broken = await post(fern, { authorization: 'Bearer broken' })
  isError(t, broken, 500, /log records the cause/, 'broken')
})
