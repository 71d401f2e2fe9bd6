import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { MonotonicStore } from '../src/rate-limit.ts'

t.test('each caller has a window, which ends in time although the clock is set back', async t => {
  const store = new MonotonicStore()
  const count = (caller: string) => new Promise(resolve => store.incr(caller, (_error, result) => resolve(result), 100))
  t.match([await count('a'), await count('a'), await count('b')], [{ current: 1 }, { current: 2 }, { current: 1 }])
  const now = Date.now
  t.teardown(() => { Date.now = now })
  Date.now = () => now() - 3_600_000
  await sleep(150)
  t.strictSame(await count('a'), { current: 1, ttl: 100 })
})
