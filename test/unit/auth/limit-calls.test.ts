import t from 'tap'
import { limitCalls } from '../../../src/auth/limit-calls.ts'

t.test('at most so many calls run at once, in order, and a failure makes place for the next', async t => {
  const limit = limitCalls(2)
  const begun: number[] = []
  const ends: Array<PromiseWithResolvers<number>> = []
  const results = [0, 1, 2, 3].map(nth => {
    const end = ends[nth] = Promise.withResolvers<number>()
    return limit(() => {
      begun.push(nth)
      return end.promise
    })
  })
  t.strictSame(begun, [0, 1])
  ends[1]?.reject(new Error('broken'))
  await t.rejects(results[1] as Promise<number>, /broken/)
  t.strictSame(begun, [0, 1, 2])
  ends[0]?.resolve(10)
  ends[2]?.resolve(12)
  t.strictSame([await results[0], await results[2]], [10, 12])
  t.strictSame(begun, [0, 1, 2, 3])
  ends[3]?.resolve(13)
  t.equal(await results[3], 13)
  t.equal(await limit(async () => 14), 14)
})

t.test('a call that has waited for half a second is 503, and those behind it go on', async t => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const limit = limitCalls(1)
  const first = Promise.withResolvers<void>()
  const running = limit(() => first.promise)
  const late = limit(async () => t.fail('begun too late'))
  now = 400
  const inTime = limit(async () => 'in time')
  now = 501
  first.resolve()
  await running
  await t.rejects(late, { status: 503, message: /overloaded/ })
  t.equal(await inTime, 'in time')
})
