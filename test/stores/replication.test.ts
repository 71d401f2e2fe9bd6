// PostgreSQL with a synchronous standby: an answer rests on the standby, whatever fails in between.
import t from 'tap'
import type { Test } from 'tap'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import { openStore } from '../../src/stores/open.ts'
import { startOwnPostgres } from '../fixtures/postgres.ts'

const fern = { id: 1n, name: 'fern' }
const oak = { id: 1n, name: 'oak' }

async function open (t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

/** The outcome, or the code of the error. */
const settled = (adding: Promise<string>): Promise<string> => adding.catch(error => error.name)

t.test('a plant that is stored but on no standby is neither unchanged nor in conflict', async t => {
  const server = await startOwnPostgres(t)
  const [first, second, third] = await Promise.all([open(t, server.url), open(t, server.url), open(t, server.url)])
  await server.requireStandby('nobody')
  const adding = settled(first.add(fern))
  await server.commitWaits()
  await server.kill()
  await server.start()
  t.strictSame(await server.query('SELECT id FROM plants'), [{ id: '1' }], 'the crash has made it visible')
  const outcomes = await Promise.all([adding, settled(second.add(fern)), settled(third.add(oak))])
  t.strictSame(outcomes, ['StoreUnavailable', 'StoreUnavailable', 'StoreUnavailable'])
  await server.requireNoStandby()
  t.strictSame([await second.add(fern), await third.add(oak)], ['unchanged', 'conflict'])
})

t.test('a cancelled wait for the standby fails the batch', async t => {
  const server = await startOwnPostgres(t)
  const store = await open(t, server.url)
  await server.requireStandby('nobody')
  const adding = t.rejects(store.add(fern), { name: 'StoreUnavailable', cause: /canceling wait for synchronous replication/ })
  await server.commitWaits()
  await server.query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
  await adding
  await server.requireNoStandby()
  t.equal(await store.add(fern), 'unchanged', 'the server had committed it')
})

t.test('without its standby, and with its connection terminated, a call fails within its deadline', async t => {
  const server = await startOwnPostgres(t)
  const [waiting, terminated] = await Promise.all([open(t, server.url), open(t, server.url)])
  await server.requireStandby('nobody')
  const began = performance.now()
  const first = settled(terminated.add(fern))
  await server.commitWaits()
  await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
  t.strictSame(await Promise.all([first, settled(waiting.add({ id: 2n, name: 'ivy' }))]), ['StoreUnavailable', 'StoreUnavailable'])
  t.ok(performance.now() - began < 9000, `${Math.round(performance.now() - began)} ms`)
  await server.requireNoStandby()
  t.strictSame([await terminated.add(fern), await waiting.add({ id: 2n, name: 'ivy' })], ['unchanged', 'unchanged'])
})
