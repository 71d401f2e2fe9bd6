import t from 'tap'
import { systemClock } from '../../../src/stores/clock.ts'
import { retry } from '../../../src/stores/retry.ts'

t.test('a wait that ends after the timeout leaves no negative time for the last try', async t => {
  let now = 0
  const timers: number[] = []
  const clock = {
    ...systemClock,
    now: () => now,
    setTimer (callback: () => void, ms: number) {
      timers.push(ms)
      // The wait between the two tries ends 1 ms late.
      if (ms !== 50 || timers.length !== 2) return () => {}
      now += ms + 1
      callback()
      return () => {}
    }
  }
  const failed = new Error('failed')
  const attempt = () => Promise.reject(failed)
  await t.rejects(retry(attempt, { timeoutMs: 50, isTransient: () => true, clock }), failed)
  t.strictSame(timers, [50, 50, 0])
})
