import t from 'tap'
import type { NewPlant, Outcome, PlantStore } from '../../src/plants/plant-store.ts'
import { groupCommit } from '../../src/stores/group-commit.ts'
import type { Engine } from '../../src/stores/group-commit.ts'

/** An engine that notes its batches and is done when the test says so. */
function slowEngine () {
  const batches: bigint[][] = []
  const pending: Array<PromiseWithResolvers<Outcome[]>> = []
  const engine: Engine = {
    addMany (plants: readonly NewPlant[]) {
      batches.push(plants.map(({ id }) => id))
      const batch = Promise.withResolvers<Outcome[]>()
      pending.push(batch)
      return batch.promise
    },
    page: async () => [],
    count: async () => 0,
    check: async () => {},
    close: async () => { batches.push([]) }
  }
  const reached = async (count: number) => { while (batches.length < count) await new Promise(setImmediate) }
  const succeed = () => { pending.shift()?.resolve((batches.at(-1) ?? []).map(() => 'added')) }
  return { engine, batches, reached, succeed, fail: (error: Error) => pending.shift()?.reject(error) }
}

const plant = (id: number): NewPlant => ({ id: BigInt(id), name: 'x' })

t.test('one batch is in flight, and what arrives meanwhile is the next, in order', async t => {
  const { engine, batches, reached, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 10 })
  const first = [store.add(plant(1)), store.add(plant(2))]
  await reached(1)
  const second = [store.add(plant(3)), store.add(plant(4)), store.add(plant(5))]
  await new Promise(setImmediate)
  t.strictSame(batches, [[1n, 2n]], 'the second waits for the first')
  succeed()
  t.strictSame(await Promise.all(first), ['added', 'added'])
  await reached(2)
  t.strictSame(batches, [[1n, 2n], [3n, 4n, 5n]])
  succeed()
  await Promise.all(second)
})

/** Adds a plant now and one in each of the next turns of the event loop, each of so many milliseconds, before the store looks. */
function addByTurns (store: PlantStore, first: number, turns: number, length = 0): Array<Promise<Outcome>> {
  const callers: Array<Promise<Outcome>> = []
  const addNext = (id: number) => {
    if (id < first + turns) setImmediate(addNext, id + 1)
    callers.push(store.add(plant(id)))
    const until = performance.now() + length
    while (performance.now() < until);
  }
  addNext(first)
  return callers
}

t.test('a batch waits while each turn of the event loop brings more', async t => {
  const { engine, batches, reached, succeed } = slowEngine()
  const callers = addByTurns(groupCommit(engine, { maxQueue: 10 }), 1, 3)
  await reached(1)
  t.strictSame(batches, [[1n, 2n, 3n, 4n]])
  succeed()
  await Promise.all(callers)
})

t.test('a batch that has enough waits no longer', async t => {
  const { engine, batches, reached, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 100 })
  const callers = Array.from({ length: 62 }, (_, id) => store.add(plant(id)))
  callers.push(...addByTurns(store, 62, 3))
  await reached(1)
  t.equal(batches[0]?.length, 64)
  succeed()
  await reached(2)
  t.strictSame(batches[1], [64n, 65n])
  succeed()
  await Promise.all(callers)
})

t.test('a batch does not wait for turns that take long', async t => {
  const { engine, batches, reached, succeed } = slowEngine()
  const callers = addByTurns(groupCommit(engine, { maxQueue: 10 }), 1, 5, 3)
  await reached(1)
  t.ok((batches[0] as bigint[]).length < 6, `${batches[0]?.length} plants`)
  while (batches.flat().length < 6) {
    succeed()
    await new Promise(setImmediate)
  }
  succeed()
  t.strictSame(new Set(await Promise.all(callers)), new Set(['added']))
})

t.test('a failing batch fails its own callers and nobody else', async t => {
  const { engine, reached, succeed, fail } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 10 })
  const first = Promise.allSettled([store.add(plant(1)), store.add(plant(2))])
  await reached(1)
  const second = store.add(plant(3))
  const cause = new Error('disk full')
  fail(cause)
  t.match(await first, Array(2).fill({ status: 'rejected', reason: { name: 'StoreUnavailable', message: 'The plant could not be stored. Sending it again is safe.', cause } }))
  await reached(2)
  succeed()
  t.equal(await second, 'added')
})

t.test('past the queue a plant is refused at once', async t => {
  const { engine, reached, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 2 })
  const first = store.add(plant(1))
  await reached(1)
  const waiting = [store.add(plant(2)), store.add(plant(3))]
  await t.rejects(store.add(plant(4)), { name: 'StoreUnavailable', message: /overloaded/ })
  succeed()
  await first
  await reached(2)
  succeed()
  t.strictSame(await Promise.all(waiting), ['added', 'added'])
})

t.test('closing waits for what is queued before it closes the engine', async t => {
  const { engine, batches, reached, succeed } = slowEngine()
  const store = groupCommit(engine, { maxQueue: 10 })
  const first = store.add(plant(1))
  await reached(1)
  const second = store.add(plant(2))
  const closed = store.close()
  succeed()
  await first
  await reached(2)
  t.strictSame(batches, [[1n], [2n]])
  succeed()
  await second
  await closed
  t.strictSame(batches, [[1n], [2n], []])
})
