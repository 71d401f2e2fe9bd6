import t from 'tap'
import { guard } from '../../src/contract/answers.ts'
import { createValidator } from '../../src/contract/validator.ts'
import type { Outcome } from '../../src/plants/plant-store.ts'
import { isError, startApp } from '../fixtures/app.ts'

const store = (add: () => Promise<Outcome>) => ({ add, all: async function * () {}, check: async () => {}, close: async () => {} })

t.test('an answer that does not come in time is 503 with Retry-After, and what comes later is dropped', async t => {
  const late = Promise.withResolvers<Outcome>()
  const { post } = await startApp(t, { answerWithin: 50, store: store(() => late.promise) })
  const response = await post({ id: 1, name: 'x' })
  isError(t, response, 503, /could not answer in time.*asking again is safe/, 'late')
  t.equal(response.headers['retry-after'], '1')
  late.resolve('added')
  await late.promise
})

t.test('an error that comes too late is dropped as well', async t => {
  const late = Promise.withResolvers<Outcome>()
  const { post } = await startApp(t, { answerWithin: 50, store: store(() => late.promise) })
  t.equal((await post({ id: 1, name: 'x' })).statusCode, 503)
  late.reject(new Error('too late'))
  await late.promise.catch(() => {})
})

t.test('the guard lets pass what the contract declares, and nothing else', async t => {
  const check = guard('readLeaf', {
    method: 'GET',
    url: '/leaf',
    security: [],
    responses: { 200: { schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer', format: 'int64' } } } }, 204: {} }
  }, createValidator({}))
  check({ status: 200, body: { n: 9007199254740993n } })
  check({ status: 204 })
  const causes: Array<[Parameters<typeof check>[0], string]> = [
    [{ status: 201, body: {} }, 'readLeaf answered 201 with a body, which the contract does not declare'],
    [{ status: 404 }, 'readLeaf answered 404, which the contract does not declare'],
    [{ status: 204, body: {} }, 'readLeaf answered 204 with a body, which the contract does not declare'],
    [{ status: 200 }, 'readLeaf answered 200, whose body must be an object'],
    [{ status: 200, body: null }, 'readLeaf answered 200, whose body must be an object'],
    [{ status: 200, body: {} }, 'readLeaf answered 200, whose body must have the member "n"'],
    [{ status: 200, body: { n: '1' } }, 'readLeaf answered 200, whose body at n must be an integer from -9223372036854775808 to 9223372036854775807']
  ]
  for (const [answer, message] of causes) {
    t.throws(() => check(answer), { code: 'internal', message: 'The service failed; its log says why.', cause: { message } }, message)
  }
})
