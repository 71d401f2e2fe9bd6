import type { FastifyRequest } from 'fastify'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/service/app.ts'
import { HttpError } from '../../../src/contract/index.ts'
import { exceedsFailures, limitFailures } from '../../../src/limits/failed-auth.ts'
import { WindowCounter } from '../../../src/limits/window-counter.ts'
import {
  authorization, isError, json, listen, logLines, startApp, token
} from '../../fixtures/app.ts'
import { exchange, request } from '../../fixtures/raw.ts'

async function startLimited (t: Test, options: Partial<AppOptions> = {}) {
  const { log, lines } = logLines()
  const { app } = await startApp(t, { failedAuthLimit: 2, log, ...options })
  type Fields = Record<string, string>
  const post = (token: string, remoteAddress = '192.0.2.1', fields: Fields = {}) => app.inject({
    method: 'POST',
    url: '/plants',
    remoteAddress,
    headers: { authorization: `Bearer ${token}`, 'content-type': json, ...fields },
    payload: { id: 1, name: 'fern' }
  })
  const statuses = async (responses: Array<ReturnType<typeof post>>) => {
    return (await Promise.all(responses)).map(({ statusCode }) => statusCode)
  }
  const messages = () => lines.map(line => JSON.parse(line).msg)
  return { app, post, statuses, messages }
}

const notAccepted = 'The bearer token is not accepted.'

t.test('an address past the limit gets 429 with Retry-After; a valid token passes', async t => {
  const { post } = await startLimited(t)
  for (const nth of [1, 2]) isError(t, await post('bad'), 401, notAccepted, `failure ${nth}`)
  const response = await post('bad')
  const message = `${notAccepted} An address may fail 2 times per minute: ` +
    'Retry-After gives the seconds to wait.'
  isError(t, response, 429, message, 'failure 3')
  t.equal(response.headers['retry-after'], '60')
  t.equal(response.headers['www-authenticate'], undefined)
  t.equal((await post(token)).statusCode, 200)
  t.equal((await post('bad')).statusCode, 429)
  t.equal((await post('bad', '192.0.2.2')).statusCode, 401, 'another address')
})

t.test('a network past the limit is known by then, and no other one', async t => {
  const counts = WindowCounter.memory()
  const limit = limitFailures(2, counts)
  const exceeds = exceedsFailures(2, counts)
  const from = (ip: string) => ({ ip, socket: {} }) as FastifyRequest
  for (const expected of [false, false, true]) {
    limit(new HttpError(401, notAccepted), from('192.0.2.1'))
    t.equal(exceeds(from('192.0.2.1')), expected)
  }
  t.equal(exceeds(from('192.0.2.2')), false)
})

t.test('of 1,000 concurrent failures exactly as many get 401 as the limit allows', async t => {
  const { app, messages } = await startLimited(t, { failedAuthLimit: 600 })
  const { origin } = await listen(app)
  const send = (_: unknown, index: number) => {
    const headers = {
      authorization: index % 10 === 0 ? authorization : 'Bearer bad', 'content-type': json
    }
    return fetch(`${origin}/plants`, { method: 'POST', headers, body: '{"id":1,"name":"fern"}' })
  }
  const responses = await Promise.all(Array.from({ length: 1000 }, send))
  const count = (wanted: number) => responses.filter(({ status }) => status === wanted).length
  t.strictSame([200, 401, 429].map(count), [100, 600, 300])
  await Promise.all(responses.map(response => response.text()))
  t.equal(messages().length, 600, 'no 429 has a line in the log')
})

t.test('missing and repeated credentials count, 403 and failures of a verifier do not', async t => {
  const verdicts: Record<string, () => undefined | 'forbidden'> = {
    weak: () => 'forbidden',
    late: () => { throw new HttpError(503, 'The issuer does not answer.') }
  }
  const verifyToken = (token: string) => verdicts[token]?.()
  const { app, post, statuses } = await startLimited(t, { verifyToken })
  t.strictSame(await statuses([1, 2, 3].map(() => post('weak'))), [403, 403, 403])
  t.strictSame(await statuses([1, 2, 3].map(() => post('late'))), [503, 503, 503])
  const missing = [1, 2, 3].map(() => post('', '192.0.2.2', { authorization: '' }))
  t.strictSame(await statuses(missing), [401, 401, 429])
  const { port } = await listen(app)
  const twice = request('', [`Authorization: ${authorization}`, 'Connection: close'])
  const repeated = [
    await exchange(port, twice), await exchange(port, twice), await exchange(port, twice)
  ]
  t.strictSame(repeated.flat().map(({ statusCode }) => statusCode), [400, 400, 429])
})

t.test('the log sums up errors of anonymous callers, not failures or known callers', async t => {
  const verifyToken = (given: string) => {
    if (given === 'late') throw new HttpError(503, 'The issuer does not answer.')
    if (given === 'broken') throw new Error('a defect')
    return given === token ? { name: 'test' } : undefined
  }
  const { app, post, messages } = await startLimited(t, { verifyToken })
  for (const url of ['/a', '/b', '/plants', '/c', '/%zz']) {
    await app.inject({ url, remoteAddress: '192.0.2.1' })
  }
  t.strictSame(messages(), ['There is nothing at /a.', 'There is nothing at /b.'])
  t.equal((await post('bad')).statusCode, 401, 'only failed authentication counts for 429')
  await post('late')
  await post('broken')
  await post(token, '192.0.2.1', { 'content-type': 'text/plain' })
  await app.close()
  t.match(messages().slice(2), [
    'The service failed. Its log records the cause.',
    /^The body must be sent as/,
    /^192\.0\.2\.1: 5 refused requests/
  ])
})

t.test('each network gets one line, a minute after its first 429 or at shutdown', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { app, post, statuses, messages } = await startLimited(t)
  const ipv6 = ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:3', '2001:db8::4']
  const addresses = ['192.0.2.1', '::ffff:192.0.2.1', ...ipv6]
  t.strictSame(
    await statuses(addresses.map(address => post('bad', address))), [401, 401, 401, 401, 429, 429]
  )
  await post('bad', '192.0.2.1')
  t.strictSame(messages(), Array(4).fill(notAccepted))
  mock.timers.tick(59_999)
  t.equal(messages().length, 4)
  mock.timers.tick(1)
  const rest = 'no line in this log. FAILED_AUTH_LIMIT allows 2 a minute to a network without ' +
    'accepted credentials, or with too many requests.'
  const one = `192.0.2.1: 1 refused request has ${rest}`
  t.strictSame(messages().slice(4), [`2001:db8:0:0::/64: 2 refused requests have ${rest}`, one])
  mock.timers.tick(600_000)
  t.equal(messages().length, 6)
  await post('bad')
  mock.timers.tick(60_000)
  await post('bad')
  await app.close()
  t.strictSame(messages().slice(6), [one, one], 'the next minute and the shutdown')
})

t.test('a flood from many networks gets at most 100 such lines', async t => {
  const { app, post, messages } = await startLimited(t, { failedAuthLimit: 1 })
  for (let index = 0; index < 150; index++) {
    for (const token of ['bad', 'worse']) await post(token, `192.0.2.${index}`)
  }
  t.equal(messages().length, 150)
  t.match((await post('bad')).json().message, /An address may fail once per minute: /)
  await app.close()
  const lines = messages().slice(150)
  t.equal(lines.length, 100)
  t.match(lines[98], /^192\.0\.2\.98: 1 refused request has/)
  t.match(lines[99], /^other networks: 51 refused requests have/)
})

t.test('only a trusted proxy may name the address of the caller', async t => {
  const from = (address: string) => ({ 'x-forwarded-for': `203.0.113.9, ${address}` })
  const { post, statuses } = await startLimited(t, { trustProxy: ['192.0.2.0/24'] })
  const names = ['198.51.100.1', '198.51.100.2', '198.51.100.2', '198.51.100.2']
  t.strictSame(
    await statuses(names.map(name => post('bad', '192.0.2.7', from(name)))), [401, 401, 401, 429]
  )
  t.strictSame(
    await statuses(names.map(name => post('bad', '192.0.3.7', from(name)))), [401, 401, 429, 429]
  )
  const { post: postDirectly, statuses: direct } = await startLimited(t)
  const sent = names.map(name => postDirectly('bad', '192.0.2.7', from(name)))
  t.strictSame(await direct(sent), [401, 401, 429, 429])
})
