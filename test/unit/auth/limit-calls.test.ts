import t from 'tap'
import { limitCalls } from '../../../src/auth/limit-calls.ts'

t.test('at most so many calls run at once, in order, and a failure makes place for the next', async t => {
  const limit = limitCalls(2)
  const begun: number[] = []
  const ends: Array<PromiseWithResolvers<number>> = []
  const results = [0, 1, 2, 3].map(nth => {
    const end = ends[nth] = Promise.withResolvers<number>()
    return limit(false, () => {
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
  t.equal(await limit(true, async () => 14), 14)
})

t.test('a call that has waited for half a second is 503, and those behind it go on', async t => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const limit = limitCalls(1)
  const first = Promise.withResolvers<void>()
  const running = limit(false, () => first.promise)
  const late = limit(false, async () => t.fail('begun too late'))
  now = 400
  const inTime = limit(false, async () => 'in time')
  now = 501
  first.resolve()
  await running
  await t.rejects(late, { status: 503, message: /waited more than 500 ms for the check of its token/ })
  t.equal(await inTime, 'in time')
})

t.test('calls that are last wait for all others', async t => {
  const limit = limitCalls(1)
  const first = Promise.withResolvers<void>()
  const order: string[] = []
  const calls = [
    limit(false, () => first.promise),
    limit(true, async () => { order.push('last') }),
    limit(true, async () => { order.push('the next of these') }),
    limit(false, async () => { order.push('another') })
  ]
  first.resolve()
  await Promise.all(calls)
  t.strictSame(order, ['another', 'last', 'the next of these'])
})
