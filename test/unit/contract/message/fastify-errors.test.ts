import fastify from 'fastify'
import t from 'tap'
import { answerErrors } from '../../../../src/contract/message/fastify-errors.ts'
import {
  authorization, isError, json, listen, logLines, startApp, testReporter
} from '../../../fixtures/app.ts'
import { exchangeOne, request } from '../../../fixtures/raw.ts'
import { testStore } from '../../../fixtures/store.ts'

const fern = '{"id":1,"name":"fern"}'

t.test('a body that is not JSON is in neither the response nor the log', async t => {
  const { log, lines } = logLines()
  const { post } = await startApp(t, { log })
  for (const body of [
    '{"id":1,"password":hunter2}', 'hunter2', '{"name":"hunter2"', '["hunter2" "x"]'
  ]) {
    t.notMatch((await post(body)).body, /hunter2/, body)
  }
  t.equal(lines.length, 4)
  t.notMatch(lines.join(''), /hunter2/)
})

t.test('an address that cannot be decoded is answered 400', async t => {
  const { app } = await startApp(t)
  for (const url of ['/%zz', '/plants%', '/%ff%fe']) {
    const response = await app.inject({ method: 'POST', url })
    isError(t, response, 400, 'The path of the request has invalid percent-encoding.', url)
  }
})

t.test('an unauthenticated request with a large body is answered 401', async t => {
  const { port } = await listen((await startApp(t)).app)
  const body = `{"id":1,"name":"${'x'.repeat(1e6)}"}`
  const bytes = request(body, ['Connection: close']).replace(authorization, 'Bearer bad')
  t.equal((await exchangeOne(port, bytes)).statusCode, 401)
})

t.test('a failure is answered 500; only the log has its cause and the request', async t => {
  const { log, lines } = logLines()
  const store = testStore({ add: () => Promise.reject(new Error('a secret of the disk')) })
  const { app } = await startApp(t, { log, store })
  const response = await app.inject({
    method: 'POST',
    url: '/plants?access_token=hidden',
    headers: { authorization, 'content-type': json },
    payload: fern
  })
  isError(t, response, 500, /^The service failed. Its log records the cause\.$/, '500')
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] as string), {
    level: 50,
    method: 'POST',
    path: '/plants',
    status: 500,
    id: String,
    err: { message: 'a secret of the disk' }
  })
  await app.inject({ method: 'POST', url: '/plants' })
  t.match(JSON.parse(lines[1] as string), { level: 30, status: 401 })
  t.notMatch(lines.join(''), 'hidden', 'the log has no query')
})

t.test('an unexpected error in Fastify is answered 500; only the log has its message', async t => {
  const { log, lines } = logLines()
  const app = fastify()
  t.teardown(() => app.close())
  answerErrors(app, testReporter(log))
  app.get('/', () => { throw new Error('a secret') })
  isError(
    t, await app.inject('/'), 500, 'The service failed. Its log records the cause.', 'failure'
  )
  t.match(JSON.parse(lines[0] as string), { err: { message: 'a secret' } })
})

t.test('a client that disconnects in the middle of its body is a 400', async t => {
  const { log, lines } = logLines()
  const app = fastify()
  answerErrors(app, testReporter(log))
  app.get('/', () => { throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' }) })
  const problem = 'The length of the body does not match Content-Length.'
  isError(t, await app.inject('/'), 400, problem, 'disconnected')
  t.match(JSON.parse(lines[0] as string), { status: 400 })
})
