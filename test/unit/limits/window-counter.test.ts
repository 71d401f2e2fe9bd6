import t, { type Test } from 'tap'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WindowCounter } from '../../../src/limits/window-counter.ts'

/** Stops the monotonic clock; the test sets it. */
function stopClock (t: Test, now: number): { now: number } {
  const clock = { now }
  const seconds = () => Math.trunc(clock.now / 1000)
  const { hrtime } = process
  // t.intercept() would record each of many calls.
  const stopped = () => [seconds(), Math.trunc((clock.now - 1000 * seconds()) * 1e6)]
  process.hrtime = stopped as typeof hrtime
  t.teardown(() => { process.hrtime = hrtime })
  return clock
}

t.test('each key has a window of one minute, which starts with its first event', async t => {
  const clock = stopClock(t, 12.75)
  const counter = new WindowCounter()
  t.strictSame(counter.count('a'), { count: 1, secondsLeft: 60 })
  clock.now += 59_000
  t.strictSame(counter.count('a'), { count: 2, secondsLeft: 1 })
  t.strictSame(counter.count('b'), { count: 1, secondsLeft: 60 })
  clock.now += 1000
  t.strictSame(counter.count('a'), { count: 1, secondsLeft: 60 }, 'a new window')
  t.strictSame(counter.count('b'), { count: 2, secondsLeft: 59 })
  clock.now += 58_999
  t.strictSame(counter.count('b'), { count: 3, secondsLeft: 1 })
  t.strictSame(counter.count('a'), { count: 2, secondsLeft: 2 })
  clock.now += 3_600_000
  t.strictSame(counter.count('b'), { count: 1, secondsLeft: 60 }, 'after an hour without events')
})

t.test('a look at a key counts nothing and starts no window', async t => {
  const clock = stopClock(t, 0)
  const counter = new WindowCounter()
  t.equal(counter.look('a'), 0)
  clock.now += 1000
  counter.count('a')
  counter.count('a')
  t.equal(counter.look('a'), 2)
  t.strictSame(counter.count('a'), { count: 3, secondsLeft: 60 })
  clock.now += 60_000
  t.equal(counter.look('a'), 0, 'after the window')
})

t.test('a window ends in time although the time of day is set back', async t => {
  const clock = stopClock(t, 1000)
  const { now } = Date
  t.intercept(Date, 'now', { value: () => now() - 3_600_000 })
  const counter = new WindowCounter()
  counter.count('a')
  clock.now += 60_000
  t.equal(counter.count('a').count, 1)
})

t.test('after the seconds left a caller gets a new window, a second earlier none', async t => {
  const clock = stopClock(t, 0)
  const outcomes = Array.from({ length: 2000 }, (_, step) => {
    const counter = new WindowCounter(WindowCounter.memoryOfFewKeys())
    clock.now = step * 61_234.567
    counter.count('a')
    const asked = clock.now + step * 29.99
    clock.now = asked
    const { secondsLeft } = counter.count('a')
    const isWhole = Number.isInteger(secondsLeft) && secondsLeft >= 1 && secondsLeft <= 60
    clock.now = asked + (secondsLeft - 1) * 1000
    const early = counter.count('a').count
    clock.now = asked + secondsLeft * 1000
    return `${isWhole}, ${early} early, ${counter.count('a').count} in time`
  })
  t.strictSame([...new Set(outcomes)], ['true, 3 early, 1 in time'])
})

t.test('49,999 keys a minute are counted exactly, in each of several minutes', async t => {
  const clock = stopClock(t, 0)
  const counter = new WindowCounter()
  const keys = Array.from({ length: 49_999 }, (_, index) => `key ${index}`)
  for (let minute = 0; minute < 3; minute++) {
    const wrong = [1, 2].flatMap(nth => keys.filter(key => {
      clock.now += 0.25
      return counter.count(key).count !== nth
    }))
    t.strictSame(wrong, [])
    clock.now += 60_000
  }
})

t.test('a thread that dies while it counts does not stop the others', async t => {
  const memory = WindowCounter.memory()
  const counters = [new WindowCounter(memory), new WindowCounter(memory)]
  t.equal(counters[0]?.count('a').count, 1)
  const lock = new Int32Array(memory, memory.byteLength - 4, 1)
  lock[0] = 1
  t.equal(counters[1]?.count('a').count, 2)
  t.equal(lock[0], 0)
})

t.test('300,000 keys take bounded memory, and no event waits for a sweep', async t => {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  const heapUsed = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  /** Nanoseconds of CPU for each of 50,000 new keys. */
  const nsForKeys = (counter: WindowCounter, from: number) => {
    const { user } = process.cpuUsage()
    for (let index = from; index < from + 50_000; index++) counter.count(`key ${index}`)
    return (process.cpuUsage().user - user) / 50
  }
  const few = new WindowCounter(WindowCounter.memoryOfFewKeys())
  const counter = new WindowCounter()
  const before = heapUsed()
  let highest = 0
  const ratios = [0, 1, 2, 3, 4, 5].map(part => {
    const nsOfFew = nsForKeys(few, 50_000 * part)
    const ns = nsForKeys(counter, 50_000 * part)
    highest = Math.max(highest, heapUsed() - before)
    return ns / nsOfFew
  })
  t.comment(`${(highest / 1e6).toFixed(1)} MB at most, CPU of a key among many by one among 32: ${ratios.map(ratio => ratio.toFixed(2)).join(', ')}`)
  t.ok(highest < 30e6, 'at most 100,000 windows')
  t.ok(Math.min(...ratios) < 5, 'a sweep would take hundreds of times as long')
  t.equal(counter.count('key 299999').count, 2, 'the latest window is known')
  t.equal(counter.count('key 0').count, 1, 'the oldest is forgotten')
})
