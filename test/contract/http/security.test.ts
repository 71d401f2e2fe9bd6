import t from 'tap'
import { isError, listen, startApp } from '../../fixtures/app.ts'
import { exchange, request } from '../../fixtures/raw.ts'

const send = (authorization?: string) => ({
  method: 'POST' as const,
  url: '/plants',
  headers: { 'content-type': 'text/plain', ...authorization !== undefined && { authorization } },
  payload: 'not JSON at all'
})

t.test('no credentials, or those of another scheme, get a bare Bearer challenge', async t => {
  const { app } = await startApp(t)
  for (const authorization of [undefined, '', 'Basic YTpi', 'Digest x', 'a-good-token', 'Bearera-good-token', 'BearerX a-good-token']) {
    const response = await app.inject(send(authorization))
    isError(t, response, 401, /Authorization: Bearer/, `${authorization}`)
    t.equal(response.headers['www-authenticate'], 'Bearer realm="plant-store"')
  }
})

t.test('an unknown or malformed token gets invalid_token', async t => {
  const { app } = await startApp(t)
  for (const authorization of ['Bearer wrong', 'Bearer', 'Bearer ', 'Bearer a-good-toke', 'Bearer a-good-tokens', 'Bearer A-GOOD-TOKEN', 'Bearer a-good-token x', 'Bearer "a-good-token"', 'Bearer a-good-token,', 'Bearer __proto__', 'Bearer constructor']) {
    const response = await app.inject(send(authorization))
    isError(t, response, 401, 'The bearer token is not accepted.', authorization)
    t.equal(response.headers['www-authenticate'], 'Bearer realm="plant-store", error="invalid_token"')
  }
})

t.test('the scheme is taken in any case and with any number of spaces', async t => {
  const { post } = await startApp(t)
  for (const authorization of ['Bearer a-good-token', 'bearer a-good-token', 'BEARER   a-good-token']) {
    t.equal((await post({ id: 1, name: 'x' }, { authorization })).statusCode, 200, authorization)
  }
})

t.test('two Authorization lines are answered 400 with invalid_request, even when both are good', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const [answer] = await exchange(port, request('{"id":1,"name":"x"}', ['authorization: Bearer a-good-token', 'Connection: close']))
  isError(t, answer as never, 400, /more than once/, 'two lines')
  t.equal(answer?.headers['www-authenticate'], 'Bearer realm="plant-store", error="invalid_request"')
})

t.test('two Content-Type lines are answered 415', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const [answer] = await exchange(port, request('{"id":1,"name":"x"}', ['content-type: text/plain', 'Connection: close']))
  isError(t, answer as never, 415, /more than once/, 'two lines')
})

t.test('credentials are checked before anything is said of the body', async t => {
  const { app } = await startApp(t, { bodyLimit: 10 })
  t.equal((await app.inject(send())).statusCode, 401)
  t.equal((await app.inject({ ...send('Bearer wrong'), payload: 'x'.repeat(1000) })).statusCode, 401)
  t.equal((await app.inject(send('Bearer a-good-token'))).statusCode, 415)
})

t.test('a verifier may take its time, and one that fails is answered 500', async t => {
  const { post } = await startApp(t, {
    verifyToken: async token => {
      if (token === 'broken') throw new Error('no answer from the issuer')
      return token === 'a-good-token' ? { name: 'slow' } : undefined
    }
  })
  t.equal((await post({ id: 1, name: 'x' })).statusCode, 200)
  isError(t, await post({ id: 1, name: 'x' }, { authorization: 'Bearer wrong' }), 401, 'The bearer token is not accepted.', 'wrong')
  isError(t, await post({ id: 1, name: 'x' }, { authorization: 'Bearer broken' }), 500, /log says why/, 'broken')
})
