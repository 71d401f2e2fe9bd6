// The example microblog: pages, scopes, events, and the hooks of its extensions.
import fastify from 'fastify'
import { createHmac } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { get } from 'node:http'
import t, { type Test } from 'tap'
import { buildMicroblog } from '../../../../src/contract/examples/microblog/app.ts'
import { eventsOf, type FeedEvents } from '../../../../src/contract/examples/microblog/events.ts'
import { idempotencyHooks } from '../../../../src/contract/examples/microblog/idempotency.ts'
import { rateLimitHook } from '../../../../src/contract/examples/microblog/rate-limit.ts'
import { listen } from '../../../fixtures/app.ts'

const tokens = new Map([
  ['ann', { name: 'ann', scopes: ['read:statuses', 'write:statuses'] }],
  ['bob', { name: 'bob', scopes: ['read:statuses', 'write:statuses'] }],
  ['reader', { name: 'reader', scopes: ['read:statuses'] }]
])

async function startBlog (t: Test) {
  let time = 0
  const app = await buildMicroblog({ tokens, signingSecret: 'secret', now: () => time })
  t.teardown(() => app.close())
  const send = async (token: string, method: 'GET' | 'POST' | 'DELETE', path: string, more: object = {}) => {
    const { headers = {}, ...rest } = more as { headers?: object }
    const authorization = `Bearer ${token}`
    const url = `/api/v1${path}`
    const response = await app.inject({ method, url, headers: { authorization, ...headers }, ...rest })
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(response.body) }
  }
  return {
    app,
    send,
    post: (status: string, headers = {}, token = 'ann') => send(token, 'POST', '/statuses', { payload: { status }, headers }),
    /** Lets a minute pass, for the rate limit. */
    wait: () => { time += 60_000 }
  }
}

t.test('the timeline comes in pages, and Link leads to the next one', async t => {
  const { post, send, wait } = await startBlog(t)
  for (const content of ['1', '2', '3', '4', '5']) {
    t.match(await post(content), { status: 200, body: { id: content, account: 'ann', content } })
    wait()
  }
  const pages: string[][] = []
  let path: string | undefined = '/timelines/public?limit=2'
  while (path !== undefined) {
    const { body, headers } = await send('reader', 'GET', path)
    pages.push(body.map(({ id }: { id: string }) => id))
    path = /<\/api\/v1([^>]+)>; rel="next"/.exec(String(headers.link))?.[1]
  }
  t.strictSame(pages, [['5', '4'], ['3', '2'], ['1']])
  t.match(await send('reader', 'GET', '/timelines/public?max_id=1'), { status: 200, body: [] })
  t.match(await send('reader', 'GET', '/timelines/public?limit=41'), { status: 400 })
})

t.test('a token needs the scopes of the operation', async t => {
  const { post } = await startBlog(t)
  const forbidden = await post('x', {}, 'reader')
  t.equal(forbidden.status, 403)
  t.match(forbidden.headers['www-authenticate'], /error="insufficient_scope".*scope="write:statuses"/)
  t.match(await post('x', {}, 'unknown'), { status: 401 })
})

t.test('a status is deleted by its author', async t => {
  const { post, send } = await startBlog(t)
  await post('x')
  t.match(await send('bob', 'DELETE', '/statuses/1'), { status: 403, body: { error: /Only its author/ } })
  t.match(await send('ann', 'DELETE', '/statuses/1'), { status: 200, body: { id: '1' } })
  t.match(await send('ann', 'DELETE', '/statuses/1'), { status: 404, body: { error: /no such status/ } })
})

t.test('a body with the signature of its bytes is handled, and no other', async t => {
  const { app, post } = await startBlog(t)
  await post('x')
  const refuse = async (payload: string, signature: string | undefined) => {
    const headers = { 'content-type': 'application/json', ...signature !== undefined && { 'x-signature-256': signature } }
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/api/v1/moderation/refusals', headers, payload })
    return [statusCode, body]
  }
  const sign = (payload: string, secret = 'secret') => createHmac('sha256', secret).update(payload).digest('hex')
  const body = '{ "id":\t"1" }'
  const refused = [403, '{"error":"The signature does not fit the body."}']
  t.strictSame(await refuse(body, sign(body, 'other')), refused)
  t.strictSame(await refuse(body, sign(body).slice(2)), refused)
  t.strictSame(await refuse('{ "id": "1" }', sign(body)), refused, 'the same value in other bytes')
  t.match(await refuse(body, undefined), [401])
  t.match(await refuse('{"id":1}', sign('{"id":1}')), [400], 'the contract is checked, too')
  t.strictSame(await refuse(body, sign(body)), [204, ''])
  t.match(await refuse(body, sign(body)), [404])
})

t.test('clients receive each status when it is published or deleted', async t => {
  const { app, post, send } = await startBlog(t)
  const { port } = await listen(app)
  const headers = { authorization: 'Bearer reader' }
  const path = '/api/v1/streaming/public'
  const request = get({ port, path, headers })
  const [response] = await once(request, 'response')
  t.equal(response.headers['content-type'], 'text/event-stream')
  response.setEncoding('utf8')
  const next = async () => (await once(response, 'data'))[0]
  const status = '{"id":"1","account":"ann","content":"hello"}'
  let event = next()
  await post('hello')
  t.equal(await event, `event: update\ndata: ${status}\n\n`)
  event = next()
  await send('ann', 'DELETE', '/statuses/1')
  t.equal(await event, 'event: delete\ndata: 1\n\n')
  request.destroy()
})

t.test('the events of a client that goes away end at once', async t => {
  const feed = new EventEmitter<FeedEvents>()
  const iterator = eventsOf(feed)[Symbol.asyncIterator]()
  const next = iterator.next()
  await iterator.return?.()
  t.strictSame(await next, { value: undefined, done: true })
  t.equal(feed.listenerCount('event'), 0)
})

t.test('a caller has so many requests in a minute as x-rate-limit says', async t => {
  const { post, send, wait } = await startBlog(t)
  for (const content of ['1', '2', '3']) t.match(await post(content), { status: 200 })
  const limited = await post('4')
  t.match(limited, { status: 429, headers: { 'retry-after': '60' }, body: { error: 'At most 3 requests in a minute.' } })
  t.match(await post('4', {}, 'bob'), { status: 200 }, 'each caller has a limit')
  t.match(await send('ann', 'GET', '/timelines/public'), { status: 200 }, 'other operations have none')
  wait()
  t.match(await post('4'), { status: 200 })
})

t.test('an anonymous caller is limited by its address', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  app.get('/', { onRequest: rateLimitHook(1, () => 0) }, () => 'fine')
  const from = async (remoteAddress: string) => (await app.inject({ url: '/', remoteAddress })).statusCode
  t.strictSame([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.2')], [200, 429, 200])
})

t.test('a request with a known Idempotency-Key gets the first answer and changes nothing', async t => {
  const { post, send } = await startBlog(t)
  const headers = { 'idempotency-key': 'a' }
  const first = await post('hello', headers)
  const again = await post('hello', headers)
  t.strictSame([again.status, again.body, again.headers['content-type']],
    [200, first.body, first.headers['content-type']])
  t.match(await post('other', headers), { status: 422, body: { error: /another body/ } })
  t.match(await post('hello', headers, 'bob'), { status: 200, body: { id: '2' } }, 'of each caller')
  t.match((await send('ann', 'GET', '/timelines/public')).body.length, 2)
})

t.test('a request with the key of one that is not answered yet gets 409, and of one that failed is tried again', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  const arrived = Promise.withResolvers<void>()
  const outcome = Promise.withResolvers<string>()
  const answers = [outcome.promise, 'second']
  app.post('/', idempotencyHooks(), async () => {
    arrived.resolve()
    return answers.shift()
  })
  const post = () => app.inject({ method: 'POST', url: '/', headers: { 'idempotency-key': 'a' } })
  const first = post()
  first.catch(() => {})
  await arrived.promise
  t.match(await post(), { statusCode: 409 })
  outcome.reject(new Error('no'))
  t.match(await first, { statusCode: 500 })
  t.match(await post(), { statusCode: 200, body: 'second' })
})
