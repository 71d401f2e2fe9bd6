import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import t from 'tap'
import { operations } from '../generated/operations.ts'
import { StoreUnavailable } from '../src/plants/plant-store.ts'
import type { Outcome } from '../src/plants/plant-store.ts'
import { isError, listen, logLines, startApp } from './fixtures/app.ts'
import { request } from './fixtures/raw.ts'
import { testStore } from './fixtures/store.ts'

const plant = { id: 1, name: 'fern' }

t.test('without a rate limit any number of requests is answered', async t => {
  const { post } = await startApp(t)
  for (let request = 0; request < 20; request++) t.equal((await post(plant)).statusCode, 200)
})

t.test('past the rate limit a token is answered 429 with Retry-After, other tokens are not', async t => {
  const { post } = await startApp(t, { rateLimit: 2, verifyToken: name => name === 'bad' ? undefined : { name } })
  for (const nth of [1, 2]) t.equal((await post(plant)).statusCode, 200, `request ${nth}`)
  const response = await post(plant)
  isError(t, response, 429, 'This token may make 2 requests a minute. Retry-After says when to go on.', 'third')
  t.match(Number(response.headers['retry-after']), 60)
  t.equal((await post(plant, { authorization: 'Bearer another' })).statusCode, 200)
  for (const nth of [1, 2, 3]) t.equal((await post(plant, { authorization: 'Bearer bad' })).statusCode, 401, `stranger ${nth} is not counted`)
})

t.test('the contract declares every status that the operation answers', async t => {
  const add = async (outcome: Outcome | Error) => {
    const store = testStore({ add: async () => { if (outcome instanceof Error) throw outcome; return outcome } })
    return (await startApp(t, { store })).post
  }
  const { post } = await startApp(t, { bodyLimit: 50, rateLimit: 7 })
  const answers = [
    await post(plant), await post('{'), await post(plant, { authorization: '' }), await post({ id: 1, name: 'x' }), await post('x'.repeat(51)),
    await post(plant, { 'content-type': 'text/plain' }), await post(plant), await post(plant), await post(plant),
    await (await add(new Error()))(plant), await (await add(new StoreUnavailable('Not now.')))(plant)
  ]
  t.strictSame([...new Set(answers.map(answer => answer.statusCode))].sort(), Object.keys(operations.createPlant.responses).map(Number))
  for (const answer of answers.filter(({ statusCode }) => statusCode === 503 || statusCode === 429)) t.match(Number(answer.headers['retry-after']), Number)
})

t.test('a request under way while the application closes is answered, and ends its connection', async t => {
  const outcome = Promise.withResolvers<Outcome>()
  const reached = Promise.withResolvers<void>()
  const store = testStore({ add: () => { reached.resolve(); return outcome.promise } })
  const { app } = await startApp(t, { store })
  const { origin } = await listen(app)
  const answer = fetch(`${origin}/plants`, { method: 'POST', headers: { authorization: 'Bearer a-good-token', 'content-type': 'application/json' }, body: JSON.stringify(plant) })
  await reached.promise
  const began = performance.now()
  const closed = app.close()
  outcome.resolve('added')
  t.equal((await answer).status, 200)
  await closed
  t.ok(performance.now() - began < 5000, 'an idle connection does not hold the end up')
  await t.rejects(fetch(origin), 'nothing listens any more')
})

t.test('a connection that never said anything does not wait for its time to be up', async t => {
  const { app } = await startApp(t)
  const { port } = await listen(app)
  const accepted = once(app.server, 'connection')
  connect(port, '127.0.0.1').on('error', () => {}).resume()
  await accepted
  const began = performance.now()
  await app.close()
  t.ok(performance.now() - began < 2000)
})

t.test('connections that are silent, idle or stuck in a request do not hold the end up for long', async t => {
  const { app } = await startApp(t, { arriveWithinMs: { header: 500, whole: 500 }, answerWithinMs: 30_000 })
  const { port } = await listen(app)
  const sockets = await Promise.all(['', 'POST /pla', request('{"id":1,"name":"x"}'), request('{"id":1,"name":"x"}').slice(0, -3)].map(async text => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(text)
    return socket.on('error', () => {}).resume()
  }))
  const closed = sockets.map(socket => new Promise(resolve => socket.once('close', resolve)))
  const began = performance.now()
  await app.close()
  await Promise.all(closed)
  t.ok(performance.now() - began < 3000)
})

t.test('/livez and /readyz answer anybody, and ready is only who can keep plants', async t => {
  const { app } = await startApp(t)
  t.match(await app.inject('/livez'), { statusCode: 200, body: '{"status":"alive"}' })
  t.match(await app.inject('/readyz'), { statusCode: 200, body: '{"status":"ready"}' })

  const { log, lines } = logLines()
  const store = testStore({ check: () => Promise.reject(new Error('the disk is gone')) })
  const broken = await startApp(t, { store, log })
  const response = await broken.app.inject('/readyz')
  isError(t, response, 503, 'The store cannot promise to keep plants at the moment.', 'broken')
  t.equal(response.headers['retry-after'], '1')
  t.match(JSON.parse(lines[0] as string), { path: '/readyz', err: { message: 'the disk is gone' } })
  t.equal((await broken.app.inject('/livez')).statusCode, 200)
})

t.test('a service that closes is not ready, and answers what it owes', async t => {
  const outcome = Promise.withResolvers<Outcome>()
  const reached = Promise.withResolvers<void>()
  const store = testStore({ add: () => { reached.resolve(); return outcome.promise } })
  const { app } = await startApp(t, { store })
  const { port } = await listen(app)
  // A connection that was there before, and has a request under way.
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let answers = ''
  socket.on('data', text => { answers += text }).write(request('{"id":1,"name":"x"}'))
  await reached.promise
  const closed = app.close()
  while (app.server.listening) await new Promise(setImmediate)
  socket.write('GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise(resolve => setTimeout(resolve, 50))
  outcome.resolve('added')
  await Promise.all([closed, once(socket, 'close')])
  t.match(answers, /200 OK[^]*"name":"x"[^]*503 Service Unavailable[^]*Connection: close[^]*The service is shutting down\./i)
})

t.test('a request that is never answered does not hold the end up for ever', async t => {
  const reached = Promise.withResolvers<void>()
  const store = testStore({ add: () => { reached.resolve(); return new Promise<Outcome>(() => {}) } })
  const { app } = await startApp(t, { store, arriveWithinMs: { header: 200, whole: 200 }, answerWithinMs: 400 })
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1').on('error', () => {}).resume()
  socket.write(request('{"id":1,"name":"x"}'))
  await reached.promise
  await app.close()
  t.pass('closed')
})

t.test('the contract shows what the specification shows', async t => {
  const { app } = await startApp(t)
  const contract = (await app.inject('/docs/json')).json()
  t.match(contract, {
    openapi: '3.1.0',
    info: { title: 'Plant Store', version: '1.0.0', license: { name: 'MIT' } },
    servers: [{ url: '{base_url}' }],
    security: [{ bearerAuth: [] }],
    components: {
      securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Plant: { required: ['name'], properties: { name: { type: 'string' }, tag: { type: 'string' } } },
        NewPlant: { allOf: [{ $ref: '#/components/schemas/Plant' }, { required: ['id'], properties: { id: { type: 'integer', format: 'int64' } } }] },
        Error: { required: ['error', 'message'], properties: { error: { type: 'integer', format: 'int32' }, message: { type: 'string' } } }
      }
    }
  })
  t.strictSame(Object.keys(contract.paths), ['/plants'])
  t.strictSame(Object.keys(contract.paths['/plants']), ['post'])
  const { requestBody, responses } = contract.paths['/plants'].post
  t.match(requestBody, { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/NewPlant' } } } })
  t.match(responses['200'], { content: { 'application/json': { schema: { $ref: '#/components/schemas/Plant' } } } })
  t.match(responses['400'], { description: 'unexpected error', content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } })
})

t.test('the README and docs/ name every npm script, and no other', async t => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const texts = ['README.md', ...globSync('docs/*.md')].map(file => readFileSync(file, 'utf8')).join('\n')
  const named = [...texts.matchAll(/npm (?:run (?:--silent )?([a-z:]+)|(start|test)\b)/g)].map(([, name, short]) => name ?? short as string)
  // Nobody has to name lint: npm test runs it.
  t.strictSame(new Set([...named, 'lint']), new Set(Object.keys(scripts)))
})
