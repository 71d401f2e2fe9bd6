// npm run prove -- cluster: no acknowledged plant is lost in a failover of a real cluster of three
// machines. Each round is one fault under load; then the new primary must have every acknowledged
// plant. The control, --asynchronous, must lose some: otherwise the faults prove nothing.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseNumber, readOptions, exitWith } from '../../../scripts/options.ts'
import type { NewPlant } from '../../../src/plants/plant-store.ts'
import { type Account, compare, newAccount, sendPlants, smallPlant } from '../../fixtures/load.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { startService } from '../../fixtures/service.ts'
import type { Card } from './cluster/network.ts'
import { type Cluster, type Member, missingPackages, startCluster } from './cluster/patroni.ts'

const options = readOptions({
  /** 20 by default, 6 with --asynchronous. */
  rounds: { type: 'string' },
  seed: { type: 'string', default: String(Date.now() % 1e9) },
  /** How the service finds the primary: through HAProxy, or by itself among the three hosts. */
  address: { type: 'string', default: 'haproxy' },
  /** The control. */
  asynchronous: { type: 'boolean', default: false },
  /** Keeps the folder with all logs and data. */
  keep: { type: 'boolean', default: false }
})
const { asynchronous } = options
const rounds = parseNumber('rounds', options.rounds ?? (asynchronous ? '6' : '20'))
const seed = parseNumber('seed', options.seed, 0)
const address = options.address === 'haproxy' || options.address === 'hosts'
  ? options.address
  : exitWith(`--address: ${options.address} is neither haproxy nor hosts.`)
const clients = 8
const pauseMs = 20
/** The longest time without an acknowledgement that passes. */
const maxOutageSeconds = 45
/** The longest time until the cluster is whole, after its start or the end of a fault. */
const recoverySeconds = 180

if (process.platform !== 'linux' || process.getuid?.() !== 0) {
  exitWith('This test builds network namespaces: run it as root on Linux, with Debian packages.')
}
const missing = missingPackages()
if (missing.length > 0) {
  exitWith(`This test needs more packages of Debian: apt-get install ${missing.join(' ')}`)
}

interface Fault {
  name: string
  /**
   * Returns when the fault has ended.
   * @param seconds how long the faults last that do not end by themselves
   */
  strike: (cluster: Cluster, primary: Member, seconds: number) => Promise<void>
}

const faults: Fault[] = [
  {
    name: 'cut off from the other machines, but not from the service',
    strike: (_, primary, seconds) => unplug(primary, ['peers'], seconds)
  },
  {
    name: 'cut off from everybody',
    strike: (_, primary, seconds) => unplug(primary, ['peers', 'clients'], seconds)
  },
  {
    name: 'Patroni and PostgreSQL frozen',
    async strike (_, primary, seconds) {
      primary.signal('SIGSTOP')
      await sleep(seconds * 1000)
      primary.signal('SIGCONT')
    }
  },
  { name: 'PostgreSQL killed', strike: async (_, primary) => primary.killPostgres() },
  {
    name: 'leader of etcd killed',
    async strike (cluster) {
      const leader = await cluster.etcdLeader()
      leader.killEtcd()
      await sleep(5000)
      leader.startEtcd()
    }
  },
  { name: 'switchover', strike: (cluster, primary) => cluster.switchover(primary) }
]

async function unplug (machine: Member, cards: Card[], seconds: number): Promise<void> {
  for (const card of cards) machine.unplug(card)
  await sleep(seconds * 1000)
  for (const card of cards) machine.plug(card)
}

interface Run {
  cluster: Cluster
  account: Account
  /** Lost in an earlier round. */
  forgiven: Set<bigint>
  results: Result[]
}

/** What one round found. `outage` is the longest time without an acknowledgement, in seconds. */
interface Result { fault: string, outage: number, lost: number, problems: string[] }

const interrupted = Promise.withResolvers<never>()
let exitCode = 1
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    exitCode = 130
    interrupted.reject(new Error(`Interrupted by ${signal}.`))
  })
}
const cleanup = new AsyncDisposableStack()
try {
  const passed = await Promise.race([main(), interrupted.promise])
  exitCode = passed ? 0 : 1
} catch (error) {
  console.error(describe(error))
} finally {
  await cleanup.disposeAsync()
  process.exit(exitCode)
}

async function main (): Promise<boolean> {
  const mode = asynchronous ? 'asynchronous' : 'synchronous'
  console.log(`${rounds} rounds, ${mode} replication, ` +
    `the service connects through ${address}, --seed ${seed}`)
  const folder = makeFolder()
  const cluster = startCluster(folder, !asynchronous, cleanup)
  await cluster.createDatabase(await eventually(cluster.wholePrimary))
  const service = await startService({ teardown: end => cleanup.defer(end) }, folder, {
    ACCESS_TOKENS: testToken,
    DATABASE_URL: cluster.urls[address],
    LOG_LEVEL: 'info'
  })
  if (service.origin === '') throw new Error(`The service did not start: ${service.output()}`)
  const ended = service.ended.then(result => {
    throw new Error(`The service ended (${result}): ${service.output().slice(-1000)}`)
  })
  const run: Run = { cluster, account: newAccount(), forgiven: new Set(), results: [] }
  sendPlants(service.origin, run.account, clients, smallPlant, pauseMs)
  for (const { fault, seconds } of chooseRounds(randomNumbers(seed))) {
    await Promise.race([playRound(run, fault, seconds), ended])
  }
  return summarize(run)
}

function makeFolder (): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-cluster-'))
  cleanup.defer(() => {
    if (options.keep) console.log(`The logs and the data are in ${folder}`)
    else rmSync(folder, { recursive: true, maxRetries: 5 })
  })
  // The user postgres must reach the folders in it.
  chmodSync(folder, 0o711)
  return folder
}

/** Uniform numbers from 0 to 1, the same ones for the same seed. */
function randomNumbers (seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32
    return state / 2 ** 32
  }
}

/** Each fault once in the listed order, then again and again in random order. */
function chooseRounds (random: () => number): Array<{ fault: Fault, seconds: number }> {
  // After 30 s another machine is the primary. After 20 s, the ttl of its lock, the old one may
  // still win.
  const chosen = faults.map(fault => ({ fault, seconds: 30 }))
  while (chosen.length < rounds) {
    const shuffled = faults.map(fault => ({ fault, key: random() })).sort((a, b) => a.key - b.key)
    chosen.push(...shuffled.map(({ fault }) => ({ fault, seconds: 20 + random() * 10 })))
  }
  return chosen.slice(0, rounds)
}

async function playRound (run: Run, fault: Fault, seconds: number): Promise<void> {
  const { cluster, account, forgiven, results } = run
  const before = await eventually(cluster.wholePrimary)
  await acknowledge(account, 100)
  const outages = watchOutages(account)
  await fault.strike(cluster, before, seconds)
  await eventually(cluster.wholePrimary)
  await acknowledge(account, 50)
  const outage = outages.stop()
  const { primary, lost, problems } = await eventually(() => inspect(run))
  if (outage > maxOutageSeconds) {
    problems.push(`more than ${maxOutageSeconds} s without an acknowledgement`)
  }
  for (const id of lost) forgiven.add(id)
  results.push({ fault: fault.name, outage, lost: lost.length, problems })
  const change = `primary ${before.name} -> ${primary.name}`
  console.log([
    `round ${String(results.length).padStart(2)}`,
    `acknowledged ${String(account.acknowledged.size).padStart(6)}`,
    `${outage.toFixed(1).padStart(4)} s without an acknowledgement`,
    `lost ${String(lost.length).padStart(4)}`,
    primary === before ? `primary still ${primary.name}` : change,
    fault.name
  ].join('  '))
  for (const problem of problems) console.log(`  ${problem}`)
}

/** Measures the longest time without an acknowledgement, in seconds. */
function watchOutages (account: Account): { stop: () => number } {
  let { size } = account.acknowledged
  let since = performance.now()
  let longest = 0
  const timer = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - since)
    if (account.acknowledged.size === size) return
    size = account.acknowledged.size
    since = now
  }, 10)
  return {
    stop () {
      clearInterval(timer)
      return longest / 1000
    }
  }
}

/** Resolves once the service has acknowledged more plants. */
async function acknowledge (account: Account, count: number): Promise<void> {
  const target = account.acknowledged.size + count
  await eventually(async () => {
    const { size } = account.acknowledged
    const added = count - (target - size)
    if (added < count) throw new Error(`the service acknowledged only ${added} plants`)
  })
}

interface PlantRow { id: string, name: string, tag: string | null }

/** Compares the plants on the primary with the account. */
async function inspect ({ cluster, account, forgiven }: Run) {
  const acknowledged = account.acknowledged.difference(forgiven)
  const primary = await cluster.wholePrimary()
  const rows = await primary.query<PlantRow>('SELECT id, name, tag FROM plants', 'plants')
  const isPrimary = await cluster.wholePrimary() === primary
  if (!isPrimary) throw new Error('the primary changed during the check')
  const stored = rows.map(({ id, name, tag }): NewPlant => {
    return tag === null ? { id: BigInt(id), name } : { id: BigInt(id), name, tag }
  })
  const { lost, changed } = compare({ ...account, acknowledged }, stored)
  const repeated = stored.length - new Set(stored.map(({ id }) => id)).size
  const unexpected = [...account.statuses.keys()].filter(status => ![200, 503].includes(status))
  const problems: string[] = []
  if (repeated > 0) problems.push(`${repeated} plants are stored more than once`)
  if (changed.length > 0) {
    const ids = changed.slice(0, 5).map(({ id }) => id)
    problems.push(`stored with another content, among others: ${ids.join()}`)
  }
  if (unexpected.length > 0) {
    problems.push(`unexpected statuses (0 is no response): ${unexpected.join()}`)
  }
  if (lost.length > 0 && !asynchronous) {
    problems.push(`lost, among others: ${lost.slice(0, 5).join()}`)
  }
  return { primary, lost, problems }
}

/** Tries until it succeeds. */
async function eventually<Value> (attempt: () => Promise<Value>): Promise<Value> {
  const until = performance.now() + recoverySeconds * 1000
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() > until) {
        throw new Error(`After ${recoverySeconds} s: ${describe(error)}`)
      }
      await sleep(250)
    }
  }
}

/** Prints the summary. @returns whether the run passed */
function summarize ({ results, account }: Run): boolean {
  for (const { name } of faults) {
    const own = results.filter(({ fault }) => fault === name)
    if (own.length > 0) console.log(describeResults(own), name)
  }
  console.log(describeResults(results), 'all faults')
  console.log(`acknowledged ${account.acknowledged.size}, ` +
    `limit ${maxOutageSeconds} s without an acknowledgement`)
  const failed = results.some(({ problems }) => problems.length > 0)
  if (failed) console.log('The run failed. Another one with --keep keeps the logs and the data.')
  if (!asynchronous) return !failed
  const isLossless = results.every(({ lost }) => lost === 0)
  if (isLossless) {
    console.log('The control lost nothing, so its rounds cannot tell a safe cluster from another.')
  }
  return !failed && !isLossless
}

function describeResults (results: Result[]): string {
  const lost = results.reduce((sum, { lost }) => sum + lost, 0)
  const outage = Math.max(...results.map(({ outage }) => outage))
  return [
    `rounds ${String(results.length).padStart(3)}`,
    `lost ${String(lost).padStart(4)}`,
    `at most ${outage.toFixed(1).padStart(4)} s without an acknowledgement `
  ].join('  ')
}

/** fetch() names the reason only in the cause. */
function describe (error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}
