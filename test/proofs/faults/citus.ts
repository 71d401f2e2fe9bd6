// npm run prove -- citus: no acknowledged plant is lost while the nodes of a Citus cluster are
// killed, workers fail over to their standbys, and shards move. The control, --asynchronous, must
// lose some: otherwise the faults prove nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { exitWith, parseNumber, readOptions } from '../../../scripts/options.ts'
import { type Account, compare, newAccount, sendPlants } from '../../fixtures/load.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService } from '../../fixtures/service.ts'
import { type Cluster, createPlants, hasCitus, startCluster } from './cluster/citus.ts'
import { runProof } from './cluster/proof.ts'

const options = readOptions({
  rounds: { type: 'string', default: '20' },
  /** The control. */
  asynchronous: { type: 'boolean', default: false }
})
const rounds = parseNumber('rounds', options.rounds)
const clients = 16
/** The longest time without an acknowledgement that passes. */
const maxOutageSeconds = 30

if (process.platform !== 'linux' || process.getuid?.() !== 0 || !hasCitus()) {
  exitWith('This test needs root on Linux, and PostgreSQL 15 of Debian with the extension Citus.')
}

interface Fault { name: string, strike: (cluster: Cluster, round: number) => Promise<void> }

/** The worker whose turn it is. */
function pick ({ workers }: Cluster, round: number) {
  return workers[round % workers.length] as Cluster['workers'][number]
}

const failover: Fault = {
  name: 'a worker fails over to its standby',
  async strike (cluster, round) {
    const worker = pick(cluster, round)
    worker.primary.freezeSender()
    await sleep(500)
    await worker.primary.kill()
    await cluster.failOver(worker)
  }
}

const faults: Fault[] = [
  failover,
  {
    name: 'a worker is killed',
    async strike (cluster, round) {
      const { primary } = pick(cluster, round)
      await primary.kill()
      await sleep(1000)
      await primary.start()
    }
  },
  {
    name: 'the coordinator is killed',
    async strike ({ coordinator }) {
      await coordinator.kill()
      await coordinator.start()
    }
  },
  {
    name: 'a worker is killed while shards move',
    async strike (cluster, round) {
      // The kill may interrupt it.
      const moving = moveShards(cluster, round).catch(() => {})
      await sleep(500)
      const { primary } = pick(cluster, round)
      await primary.kill()
      await primary.start()
      await moving
    }
  }
]

/** Moves a shard from one worker to the next. */
async function moveShards ({ coordinator, workers }: Cluster, round: number): Promise<void> {
  const [from, to] = [workers[round % workers.length], workers[(round + 1) % workers.length]]
  await coordinator.query(`SELECT citus_move_shard_placement(shardid, nodename, nodeport,
      nodename, ${to?.primary.port}, 'force_logical')
    FROM citus_shards WHERE nodeport = ${from?.primary.port} LIMIT 1`)
}

await runProof(main)

async function main (folder: string, cleanup: AsyncDisposableStack): Promise<boolean> {
  const { asynchronous } = options
  const cluster = await startCluster(folder, !asynchronous, cleanup)
  for (let worker = 0; worker < 2; worker++) await cluster.addWorker()
  await createPlants(cluster, 8)
  const service = await startService({ teardown: end => cleanup.defer(end) }, folder, {
    ACCESS_TOKENS: testToken, DATABASE_URL: cluster.url, LOG_LEVEL: 'info'
  })
  if (service.origin === '') throw new Error(`The service did not start: ${service.output()}`)
  const account = newAccount()
  const load = sendPlants(service.origin, account, clients, undefined, 5)
  const repeats = checkRepeats(service.origin, account)
  let longest = 0
  for (let round = 0; round < rounds; round++) {
    if (round === Math.floor(rounds / 2)) await grow(cluster, account)
    const fault = asynchronous ? failover : faults[round % faults.length] as Fault
    const outage = await playRound(fault.name, account, () => fault.strike(cluster, round))
    longest = Math.max(longest, outage)
  }
  await Promise.all([load.stop(), repeats.stop()])
  const { lost, problems } = await inspect(cluster, account)
  const { conflicts, unchanged, wrong } = repeats.counts
  console.log(`${rounds} rounds: acknowledged ${account.acknowledged.size}, lost ${lost}, ` +
    `at most ${longest.toFixed(1)} s without an acknowledgement; ` +
    `${conflicts} conflicts and ${unchanged} repetitions answered as such`)
  if (wrong.size > 0) problems.push(`answered otherwise: ${JSON.stringify([...wrong])}`)
  if (longest > maxOutageSeconds) problems.push(`more than ${maxOutageSeconds} s of outage`)
  for (const problem of problems) console.log(problem)
  if (asynchronous) return lost > 0
  return lost === 0 && problems.length === 0
}

/** Adds a worker, and moves its share of the shards to it. */
async function grow (cluster: Cluster, account: Account): Promise<void> {
  const outage = await playRound('a worker is added and gets its shards', account, async () => {
    await cluster.addWorker()
    await cluster.coordinator.query(
      "SELECT rebalance_table_shards('plants', shard_transfer_mode => 'force_logical')"
    )
  })
  const rows = await cluster.coordinator.query<{ count: string }>(
    'SELECT count(*) FROM citus_shards GROUP BY nodeport'
  )
  console.log(`  shards of each worker: ${rows.map(({ count }) => count).join()}`)
  if (outage > maxOutageSeconds) throw new Error('the service stopped while shards moved')
}

/** @returns the longest time without an acknowledgement, in seconds */
async function playRound (
  name: string, { acknowledged }: Account, strike: () => Promise<void>
): Promise<number> {
  await acknowledgeMore(acknowledged)
  let { size } = acknowledged
  let since = performance.now()
  let longest = 0
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - since)
    if (acknowledged.size > size) since = performance.now()
    size = acknowledged.size
  }, 10)
  await strike()
  await acknowledgeMore(acknowledged)
  clearInterval(timer)
  const outage = longest / 1000
  console.log(`acknowledged ${String(acknowledged.size).padStart(6)}  ` +
    `${outage.toFixed(1).padStart(4)} s without an acknowledgement  ${name}`)
  return outage
}

async function acknowledgeMore (acknowledged: ReadonlySet<bigint>): Promise<void> {
  const target = acknowledged.size + 200
  const until = performance.now() + 120_000
  while (acknowledged.size < target) {
    if (performance.now() > until) throw new Error('the service acknowledges no more plants')
    await sleep(20)
  }
}

/** Repeats acknowledged plants, the same and changed, and counts the responses. */
function checkRepeats (origin: string, { acknowledged, sent }: Account) {
  const stopped = new AbortController()
  const counts = { conflicts: 0, unchanged: 0, wrong: new Map<string, number>() }
  async function run (): Promise<void> {
    while (!stopped.signal.aborted) {
      await sleep(20)
      const [id] = acknowledged.values().drop(Math.floor(Math.random() * acknowledged.size))
      const plant = sent.get(id ?? -1n)
      if (plant === undefined) continue
      const isSame = Math.random() < 0.5
      const name = isSame ? plant.name : 'another'
      const body = `{"id":${id},"name":"${name}","tag":"${plant.tag}"}`
      const { status } = await postPlant(origin, testToken, body)
      if (status === 200 && isSame) counts.unchanged++
      else if (status === 409 && !isSame) counts.conflicts++
      else if (status !== 503) {
        const answer = `${status} to ${isSame ? 'the same plant' : 'another plant'}`
        counts.wrong.set(answer, (counts.wrong.get(answer) ?? 0) + 1)
      }
    }
  }
  const running = run()
  return {
    counts,
    async stop () {
      stopped.abort()
      await running
    }
  }
}

/** Compares all plants with those acknowledged. */
async function inspect ({ coordinator }: Cluster, account: Account) {
  const stored = await coordinator.query<{ id: string, name: string, tag: string }>(
    'SELECT id, name, tag FROM plants'
  )
  const plants = stored.map(({ id, name, tag }) => ({ id: BigInt(id), name, tag }))
  const { lost, changed } = compare(account, plants)
  const problems: string[] = []
  const repeated = plants.length - new Set(plants.map(({ id }) => id)).size
  if (repeated > 0) problems.push(`${repeated} plants are stored more than once`)
  if (changed.length > 0) problems.push(`${changed.length} plants are stored with another content`)
  const unexpected = [...account.statuses.keys()].filter(status => ![200, 503].includes(status))
  if (unexpected.length > 0) problems.push(`unexpected statuses: ${unexpected.join()}`)
  return { lost: lost.length, problems }
}
