import t from 'tap'
import type { NewPlant, Outcome, PlantStore } from '../../../src/plants/plant-store.ts'
import { systemClock } from '../../../src/stores/clock.ts'
import { groupCommit } from '../../../src/stores/group-commit.ts'
import type { Engine } from '../../../src/stores/engine.ts'
import { memoryEngine } from '../../../src/stores/memory.ts'

/**
 * An engine that records its batches; each stays pending until the test calls succeed() or fail().
 */
function slowEngine () {
  const batches: bigint[][] = []
  const pending: Array<PromiseWithResolvers<Outcome[]>> = []
  const engine: Engine = {
    ...memoryEngine(),
    addMany (plants: readonly NewPlant[]) {
      batches.push(plants.map(({ id }) => id))
      const batch = Promise.withResolvers<Outcome[]>()
      pending.push(batch)
      return batch.promise
    },
    // An empty batch marks the time of the call.
    close: async () => { batches.push([]) }
  }
  const waitForBatches = async (count: number) => {
    while (batches.length < count) await new Promise(setImmediate)
  }
  const succeed = () => { pending.shift()?.resolve((batches.at(-1) ?? []).map(() => 'added')) }
  return {
    engine, batches, waitForBatches, succeed, fail: (error: Error) => pending.shift()?.reject(error)
  }
}

const plant = (id: number): NewPlant => ({ id: BigInt(id), name: 'x' })

/** A clock that stands still, so that a busy machine does not end the wait for more plants. */
const clock = { ...systemClock, now: () => 0 }

t.test('one batch is in flight, and the plants that arrive meanwhile form the next one in order', async t => {
  const { engine, batches, waitForBatches, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 10 })
  const first = [store.add(plant(1)), store.add(plant(2))]
  await waitForBatches(1)
  const second = [store.add(plant(3)), store.add(plant(4)), store.add(plant(5))]
  await new Promise(setImmediate)
  t.strictSame(batches, [[1n, 2n]], 'the second batch waits for the first')
  succeed()
  t.strictSame(await Promise.all(first), ['added', 'added'])
  await waitForBatches(2)
  t.strictSame(batches, [[1n, 2n], [3n, 4n, 5n]])
  succeed()
  await Promise.all(second)
})

/**
 * Adds a plant now and one in each of the next `turns` turns of the event loop, before the store
 * counts its queue.
 * @param turnMs how long each turn takes
 */
function addByTurns (
  store: PlantStore, firstId: number, turns: number, turnMs = 0
): Array<Promise<Outcome>> {
  const outcomes: Array<Promise<Outcome>> = []
  const addNext = (id: number) => {
    // Scheduled before add(), so that it runs before the store's own setImmediate.
    if (id < firstId + turns) setImmediate(addNext, id + 1)
    outcomes.push(store.add(plant(id)))
    const until = performance.now() + turnMs
    while (performance.now() < until);
  }
  addNext(firstId)
  return outcomes
}

t.test('a batch waits while each turn of the event loop brings more plants', async t => {
  const { engine, batches, waitForBatches, succeed } = slowEngine()
  const outcomes = addByTurns(groupCommit(engine, { maxQueue: 10, clock }), 1, 3)
  await waitForBatches(1)
  t.strictSame(batches, [[1n, 2n, 3n, 4n]])
  succeed()
  await Promise.all(outcomes)
})

t.test('a batch of 64 plants does not wait for more', async t => {
  const { engine, batches, waitForBatches, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 100, clock })
  const outcomes = Array.from({ length: 62 }, (_, id) => store.add(plant(id)))
  outcomes.push(...addByTurns(store, 62, 3))
  await waitForBatches(1)
  t.equal(batches[0]?.length, 64)
  succeed()
  await waitForBatches(2)
  t.strictSame(batches[1], [64n, 65n])
  succeed()
  await Promise.all(outcomes)
})

t.test('a batch does not wait for slow turns of the event loop', async t => {
  const { engine, batches, waitForBatches, succeed } = slowEngine()
  const outcomes = addByTurns(groupCommit(engine, { maxQueue: 10 }), 1, 5, 3)
  await waitForBatches(1)
  t.ok((batches[0] as bigint[]).length < 6, `${batches[0]?.length} plants`)
  while (batches.flat().length < 6) {
    succeed()
    await new Promise(setImmediate)
  }
  succeed()
  t.strictSame(new Set(await Promise.all(outcomes)), new Set(['added']))
})

t.test('a failed batch rejects the calls of that batch only', async t => {
  const { engine, waitForBatches, succeed, fail } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 10 })
  const first = Promise.allSettled([store.add(plant(1)), store.add(plant(2))])
  await waitForBatches(1)
  const second = store.add(plant(3))
  const cause = new Error('disk full')
  fail(cause)
  const message = 'The service could not confirm that the plant is stored. Sending the same plant again is safe.'
  const rejected = { status: 'rejected', reason: { name: 'StoreUnavailable', message, cause } }
  t.match(await first, [rejected, rejected])
  await waitForBatches(2)
  succeed()
  t.equal(await second, 'added')
})

t.test('plants that wait too long are rejected with the failure of the batch before', async t => {
  const { engine, batches, waitForBatches, succeed, fail } = slowEngine()
  let now = 0
  let timers: Array<() => void> = []
  const clock = {
    ...systemClock,
    now: () => now,
    setTimer (callback: () => void) {
      timers.push(callback)
      return () => { timers = timers.filter(timer => timer !== callback) }
    }
  }
  const store = groupCommit(engine, { maxQueue: 10, timeoutMs: 9000, clock })
  const rejected: string[] = []
  const add = (id: number) => store.add(plant(id)).catch(({ message, cause }) => {
    t.match(message, /^The service could not confirm that the plant is stored\. Sending the same/)
    rejected.push(`${id}: ${cause.message}: ${cause.cause?.message}`)
  })
  const look = async (at: number) => {
    now = at
    for (const timer of timers.splice(0)) timer()
    await new Promise(setImmediate)
    return rejected.splice(0)
  }
  const late = 'the store did not confirm the plant within 9000 ms'
  add(1)
  await waitForBatches(1)
  add(2)
  now = 8000
  fail(new Error('disk full'))
  await waitForBatches(2)
  add(3)
  t.strictSame(await look(8999), ['1: disk full: undefined'])
  t.strictSame(await look(9000), [`2: ${late}: disk full`])
  t.strictSame(await look(17_000), [`3: ${late}: disk full`], 'it is in the queue')
  succeed()
  await waitForBatches(3)
  t.strictSame(batches, [[1n], [2n], [3n]], 'it may still be stored')
  add(4)
  t.strictSame(await look(26_000), [`4: ${late}; see whether its disk or its server responds, or a process locks its file: undefined`], 'a batch has succeeded since')
  succeed()
  await waitForBatches(4)
  succeed()
  await store.close()
  t.strictSame(timers, [])
})

t.test('a full queue refuses the next plant at once', async t => {
  const { engine, waitForBatches, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 2 })
  const first = store.add(plant(1))
  await waitForBatches(1)
  const waiting = [store.add(plant(2)), store.add(plant(3))]
  await t.rejects(store.add(plant(4)), { name: 'StoreUnavailable', message: /overloaded/, cause: /^Error: found 2 plants waiting for the store, .* MAX_QUEUE$/ })
  succeed()
  await first
  await waitForBatches(2)
  succeed()
  t.strictSame(await Promise.all(waiting), ['added', 'added'])
})

t.test('a queue that takes its memory refuses the next plant at once, and accepts plants once it is shorter', async t => {
  const { engine, waitForBatches, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 100, maxQueueBytes: 100_000 })
  const first = store.add(plant(1))
  await waitForBatches(1)
  // Each character may take two bytes.
  const waiting = [
    store.add({ id: 2n, name: 'x'.repeat(20_000), tag: 'x'.repeat(20_000) }), store.add(plant(3))
  ]
  await t.rejects(store.add(plant(4)), { name: 'StoreUnavailable', message: /overloaded/, cause: /found plants of 100000 bytes waiting for the store$/ })
  succeed()
  await first
  await waitForBatches(2)
  const last = store.add(plant(5))
  succeed()
  t.strictSame(await Promise.all(waiting), ['added', 'added'])
  await waitForBatches(3)
  succeed()
  t.equal(await last, 'added')
})

t.test('close() waits for the queued plants before it closes the engine', async t => {
  const { engine, batches, waitForBatches, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 10 })
  const first = store.add(plant(1))
  await waitForBatches(1)
  const second = store.add(plant(2))
  const closed = store.close()
  succeed()
  await first
  await waitForBatches(2)
  t.strictSame(batches, [[1n], [2n]])
  succeed()
  await second
  await closed
  t.strictSame(batches, [[1n], [2n], []])
})

t.test('close() waits for reads and checks before it closes the engine', async t => {
  const { engine, batches } = slowEngine()
  const check = Promise.withResolvers<void>()
  const count = Promise.withResolvers<number>()
  const store = groupCommit(
    { ...engine, check: () => check.promise, count: () => count.promise }, { maxQueue: 10 }
  )
  const calls = [store.check(), t.rejects(store.count(), { name: 'StoreUnavailable' })]
  const closed = store.close()
  check.resolve()
  await calls[0]
  await new Promise(setImmediate)
  t.strictSame(batches, [], 'the count is still pending')
  count.reject(new Error('the file is gone'))
  await Promise.all([...calls, closed])
  t.strictSame(batches, [[]])
})

t.test('a failure to read is StoreUnavailable', async t => {
  const { engine } = slowEngine()
  const cause = new Error('the file is gone')
  const failing = { page: () => Promise.reject(cause), count: () => Promise.reject(cause) }
  const store = groupCommit({ ...engine, ...failing }, { maxQueue: 10 })
  const unavailable = { name: 'StoreUnavailable', message: 'The store cannot be read now.', cause }
  await t.rejects(store.page(1n, 1), unavailable)
  await t.rejects(store.count(), unavailable)
  await store.close()
  await t.rejects(
    store.page(1n, 1), { name: 'StoreUnavailable', message: 'The service is shutting down.' }
  )
})
