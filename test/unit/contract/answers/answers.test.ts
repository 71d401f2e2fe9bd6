import t from 'tap'
import type { Outcome } from '../../../../src/plants/plant-store.ts'
import { isError, logLines, startApp } from '../../../fixtures/app.ts'
import { testStore } from '../../../fixtures/store.ts'

t.test('a late handler is answered 503 with Retry-After, its response is dropped', async t => {
  const late = Promise.withResolvers<Outcome>()
  const store = testStore({ add: () => late.promise })
  const { log, lines } = logLines()
  const { post } = await startApp(t, { responseTimeoutMs: 50, store, log })
  const response = await post({ id: 1, name: 'x' })
  isError(t, response, 503, /may have taken effect; sending the same request again is safe\.$/, 'late')
  t.equal(response.headers['retry-after'], '1')
  t.match(lines, [/"err":{[^}]*"message":"no response of the handler within 50 ms"/])
  late.resolve('added')
  await late.promise
})

t.test('an error that a handler throws too late is dropped', async t => {
  const late = Promise.withResolvers<Outcome>()
  const store = testStore({ add: () => late.promise })
  const { post } = await startApp(t, { responseTimeoutMs: 50, store })
  t.equal((await post({ id: 1, name: 'x' })).statusCode, 503)
  late.reject(new Error('too late'))
  await late.promise.catch(() => {})
})
