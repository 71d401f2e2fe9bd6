import fastify from 'fastify'
import t from 'tap'
import { parseTokens } from '../../../src/auth/token-list.ts'
import type { Principal } from '../../../src/contract/index.ts'
import { limitRate } from '../../../src/limits/rate-limit.ts'
import { startApp } from '../../fixtures/app.ts'
import { testStore } from '../../fixtures/store.ts'

const plant = { id: 1, name: 'fern' }

t.test('tokens are counted one by one, also when they have the same name', async t => {
  const tokens = parseTokens('alice:one,alice:two')
  const { post } = await startApp(t, { rateLimit: 2, verifyToken: token => tokens.get(token) })
  const statuses = async (token: string) => {
    const responses = [1, 2, 3].map(() => post(plant, { authorization: `Bearer ${token}` }))
    return (await Promise.all(responses)).map(({ statusCode }) => statusCode)
  }
  t.strictSame(await statuses('one'), [200, 200, 429])
  t.strictSame(await statuses('two'), [200, 200, 429])
})

t.test('the message of a limit of one request is singular', async t => {
  const { post } = await startApp(t, { rateLimit: 1 })
  await post(plant)
  t.match((await post(plant)).json().message, /^This token may make 1 request per minute\./)
})

t.test('of 1,000 concurrent requests exactly as many pass as the limit allows', async t => {
  // Neither connections nor a queue of the store, which a busy machine would refuse with 503.
  const store = testStore({ add: async () => 'added' })
  const { post } = await startApp(t, { rateLimit: 600, store })
  const responses = await Promise.all(Array.from({ length: 1000 }, () => post(plant)))
  const accepted = responses.filter(({ statusCode }) => statusCode === 200)
  const remaining = accepted.map(({ headers }) => Number(headers['ratelimit-remaining']))
  const countdown = Array.from({ length: 600 }, (_, index) => index)
  t.strictSame(
    remaining.sort((a, b) => a - b), countdown, 'each has another rest, and the last has 0'
  )
  t.equal(responses.filter(({ statusCode }) => statusCode === 429).length, 400)
})

t.test('responses to known callers have RateLimit fields, only a 429 has Retry-After', async t => {
  const { app, post } = await startApp(t, { rateLimit: 4, bodyLimit: 50 })
  const responses = [
    await post(plant),
    await post('{'),
    await post('x'.repeat(51)),
    await post(plant, { 'content-type': 'text/plain' }),
    await post(plant)
  ]
  t.strictSame(responses.map(({ statusCode, headers }) => [
    statusCode, headers['ratelimit-limit'], headers['ratelimit-remaining'], headers['retry-after']
  ].join()).map(text => text.replace(/59$/, '60')), ['200,4,3,', '400,4,2,', '413,4,1,', '415,4,0,', '429,4,0,60'])
  for (const { headers } of responses) t.match(headers['ratelimit-reset'], /^(60|59)$/)
  const others = [await post(plant, { authorization: 'Bearer bad' }), await app.inject('/livez')]
  for (const { headers } of others) t.notOk('ratelimit-limit' in headers)
})

t.test('callers without an identity count by name, and anonymous ones by network', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  let principals: Record<string, Principal | undefined> = {}
  app.decorateRequest('principals')
  app.addHook('onRequest', async request => { request.principals = principals })
  app.get('/', { onRequest: limitRate(100) }, () => 'fine')
  app.get('/once', { onRequest: limitRate(1) }, () => 'fine')
  const rest = async (callers: typeof principals, remoteAddress = '192.0.2.1') => {
    principals = callers
    return (await app.inject({ url: '/', remoteAddress })).headers['ratelimit-remaining']
  }
  t.equal(await rest({ user: { name: 'a' } }), '99')
  t.equal(await rest({ user: { name: 'a' } }, '192.0.2.2'), '98')
  t.equal(await rest({ user: { name: 'a', id: '1' } }), '99')
  t.equal(await rest({ user: { name: 'a' }, app: { name: 'b' } }), '99')
  t.equal(await rest({ user: { name: 'a' }, app: { name: 'c' } }), '99', 'another pair')
  t.equal(await rest({}), '99')
  t.equal(await rest({}, '2001:db8::1'), '99')
  t.equal(await rest({}, '2001:db8::2'), '98')
  await app.inject('/once')
  t.match((await app.inject('/once')).json().message, /^This address may make 1 request per minute\./)
})
