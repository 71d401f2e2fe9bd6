// PostgreSQL with a synchronous standby: the store reports a plant as stored only when the standby
// has it.
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { PlantStore } from '../../../src/plants/plant-store.ts'
import { systemClock } from '../../../src/stores/clock.ts'
import { openStore } from '../../../src/stores/open.ts'
import { dialectOf } from '../../../src/stores/postgres/dialects.ts'
import { isTransient } from '../../../src/stores/postgres/errors.ts'
import { confirmCommits, type Query } from '../../../src/stores/postgres/plants.ts'
import { openPool } from '../../../src/stores/postgres/pool.ts'
import { createStatementRunner } from '../../../src/stores/postgres/statements.ts'
import { startLoopClock } from '../../fixtures/clock.ts'
import { all } from '../../fixtures/plant-store-suite.ts'
import { type OwnPostgres, startOwnPostgres } from '../../fixtures/postgres.ts'
import { startRelay } from '../../fixtures/relay.ts'

const fern = { id: 1n, name: 'fern' }
const oak = { id: 1n, name: 'oak' }
/** The weakest setting that startup accepts. */
const weakCommits = 'ALTER ROLE test SET synchronous_commit = local'

async function open (t: Test, url: string): Promise<PlantStore> {
  const store = await openStore(url, { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
}

// The tests mostly wait, so they run in parallel.
t.jobs = 6

const waitsForStandby = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

/** The outcome, or the name of the error. */
const settled = (adding: Promise<string>): Promise<string> => adding.catch(error => error.name)

t.test('a plant that no standby has yet is neither unchanged nor a conflict', { buffered: true }, async t => {
  const server = await startOwnPostgres(t)
  const [first, second, third] = await Promise.all(
    [open(t, server.url), open(t, server.url), open(t, server.url)]
  )
  await server.query(weakCommits)
  await server.requireStandby('nobody')
  const adding = settled(first.add(fern))
  await server.commitWaits()
  await server.kill()
  await server.start()
  t.strictSame(
    await server.query('SELECT id FROM plants'),
    [{ id: '1' }],
    'the plant is visible after the crash'
  )
  const outcomes = await Promise.all([adding, settled(second.add(fern)), settled(third.add(oak))])
  t.strictSame(outcomes, ['StoreUnavailable', 'StoreUnavailable', 'StoreUnavailable'])
  await server.requireNoStandby()
  t.strictSame([await second.add(fern), await third.add(oak)], ['unchanged', 'conflict'])
})

t.test('a cancelled wait for the standby fails the batch', { buffered: true }, async t => {
  const server = await startOwnPostgres(t)
  // The wait shows only as a warning, which clients with this setting do not get.
  await server.query('ALTER ROLE test SET client_min_messages = error')
  const store = await open(t, server.url)
  await server.requireStandby('nobody')
  const adding = t.rejects(store.add(fern), {
    name: 'StoreUnavailable',
    cause: /canceling wait for synchronous replication/
  })
  await server.commitWaits()
  await server.query(
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  )
  await adding
  await server.requireNoStandby()
  t.equal(await store.add(fern), 'unchanged', 'the server has committed the plant')
})

t.test('confirmCommits() waits for a statement that did not, and for one that changes nothing', { buffered: true }, async t => {
  const server = await startOwnPostgres(t)
  await (await open(t, server.url)).add(fern)
  await server.query(weakCommits)
  const runner = createStatementRunner(
    ['server'], host => openPool([server.url], host), systemClock
  )
  t.teardown(() => runner.close())
  const query: Query = (text, values = []) => runner.query(text, values, 1000)
  const confirm = () => confirmCommits(query, dialectOf({ hasCitus: false, schema: 'public' }))
  await server.requireStandby('nobody')
  for (const [times, rows] of [['first', 1], ['second', 0]] as const) {
    t.equal((await query('DELETE FROM plants RETURNING id')).length, rows, times)
    await t.rejects(confirm(), /the statement did not end in time/, times)
  }
  await server.requireNoStandby()
  await t.resolves(confirm())
})

t.test('a call without a standby or a connection fails within its deadline', { buffered: true }, async t => {
  const server = await startOwnPostgres(t)
  const [waiting, terminated] = await Promise.all([open(t, server.url), open(t, server.url)])
  await server.requireStandby('nobody')
  await t.resolves(open(t, server.url), 'a start waits for no standby')
  const elapsed = startLoopClock(t)
  const ivy = { id: 2n, name: 'ivy' }
  const first = settled(terminated.add(fern))
  await server.commitWaits()
  await server.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  )
  const outcomes = await Promise.all([first, settled(waiting.add(ivy))])
  t.strictSame(outcomes, ['StoreUnavailable', 'StoreUnavailable'])
  t.ok(elapsed() < 10_000, `${elapsed()} ms`)
  while ((await server.query(waitsForStandby)).length > 0) await sleep(10)
  t.pass('no server process waits for the standby any longer')
  await server.requireNoStandby()
  t.strictSame([await terminated.add(fern), await waiting.add(ivy)], ['unchanged', 'unchanged'])
})

t.test('a standby that becomes the primary has every plant that the store confirmed', { buffered: true }, async t => {
  t.strictSame(await lostByFailover(t, { synchronous: true, address: 'relay' }), [])
})

t.test('a store that knows both hosts finds the new primary by itself', { buffered: true }, async t => {
  t.strictSame(await lostByFailover(t, { synchronous: true, address: 'hosts' }), [])
})

t.test('a statement that reaches the standby first is tried again; two primaries are noticed', { buffered: true }, async t => {
  const primary = await startOwnPostgres(t)
  await (await openStore(primary.url, { maxQueue: 1 })).close()
  const standby = await primary.startStandby()
  const message = "SELECT pg_logical_emit_message(true, 'plant-store', '')"
  for (const statement of [message, 'INSERT INTO plants DEFAULT VALUES']) {
    const error: unknown = await standby.query(statement).catch(error => error)
    t.ok(isTransient(error), (error as Error).message)
  }
  const wayOut = /it is read-only; name the primary, or all hosts, as in postgres:\/\/user@a,b\//
  await t.rejects(openStore(standby.url, { maxQueue: 1 }), { message: wayOut })
  const [host, first] = [primary, standby].map(({ url }) => new URL(url).host) as [string, string]
  const warnings: string[] = []
  const onWarning = (warning: string) => warnings.push(warning)
  const both = primary.url.replace(host, `${first},${host}`)
  await (await openStore(both, { maxQueue: 1, onWarning })).close()
  const failures = warnings.filter(warning => !warning.startsWith('Waiting for'))
  t.strictSame(failures, [], 'a standby in a list of hosts is no failure')
  const none = primary.url.replace(host, `${first},127.0.0.1:1`)
  const noPrimary = /: it is a standby; 127\.0\.0\.1:1: nothing listens there/
  await t.rejects(openStore(none, { maxQueue: 1 }), { message: noPrimary })
  await standby.query('SELECT pg_promote()')
  await (await openStore(both, { maxQueue: 1, onWarning })).close()
  const twice = primary.url.replace(host, `${host},localhost:${new URL(primary.url).port}`)
  await (await openStore(twice, { maxQueue: 1, onWarning })).close()
  t.strictSame(warnings.filter(warning => !warning.startsWith('Waiting for')), [
    `${first} and ${host} accept writes, and each would have plants that the other lacks. ` +
      'End the one that was replaced, or make it a standby (pg_rewind or pg_basebackup).'
  ], 'two servers, but not two names of one')
})

// A control: it proves that the failover above can lose plants.
t.test('the same failover without synchronous replication loses plants', { buffered: true }, async t => {
  t.not((await lostByFailover(t, { synchronous: false, address: 'relay' })).length, 0)
})

interface Failover {
  synchronous: boolean
  /** The store reaches both servers at one address, or has a list of them. */
  address: 'relay' | 'hosts'
}

/** The confirmed plants that the new primary lacks. */
async function lostByFailover (t: Test, { synchronous, address }: Failover): Promise<bigint[]> {
  const primary = await startOwnPostgres(t)
  await (await openStore(primary.url, { maxQueue: 1 })).close()
  const standby = await primary.startStandby()
  await primary.query(weakCommits)
  if (synchronous) await primary.requireStandby('standby')
  const sender = await streamingPid(primary)
  const relay = await startRelay(t, primary.url)
  const store = await open(t, address === 'relay' ? relay.url : bothHosts(standby.url, primary.url))

  const confirmed: bigint[] = []
  const load = new AbortController()
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let id = BigInt(client); !load.signal.aborted; id += 8n) {
      await store.add({ id, name: 'fern' })
      confirmed.push(id)
    }
  })
  while (confirmed.length < 200) await sleep(5)

  process.kill(sender, 'SIGSTOP')
  await sleep(300)
  await primary.kill()
  relay.leadTo(standby.url)
  // For some time the address leads to a read-only server.
  await sleep(300)
  const before = confirmed.length
  await standby.query('SELECT pg_promote()')
  while (confirmed.length < before + 50) await sleep(5)

  load.abort()
  await Promise.all(clients)
  const ids = new Set((await all(store)).map(({ id }) => id))
  return confirmed.filter(id => !ids.has(id))
}

/** The standby comes first, so that the store has to look further from the start. */
function bothHosts (standby: string, primary: string): string {
  return primary.replace('@', `@${new URL(standby).host},`) + '?target_session_attrs=read-write'
}

/** The process that streams to the standby, once the standby has caught up. */
async function streamingPid (primary: OwnPostgres): Promise<number> {
  for (;;) {
    const [row] = await primary.query(
      "SELECT pid FROM pg_stat_replication WHERE state = 'streaming'"
    )
    if (row !== undefined) return Number(row.pid)
    await sleep(10)
  }
}
