// npm run prove -- citus-growth: plants a second on Citus with one, two and three workers, and the
// CPU of each node. The nodes share the cores of this computer, so that their CPU for a plant shows
// what more computers bring: that of each worker must fall.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { exitWith, parseNumber, parseNumbers, readOptions } from '../../../scripts/options.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { startService } from '../../fixtures/service.ts'
import { createPlants, hasCitus, type Server, startCluster } from '../faults/cluster/citus.ts'
import { runProof } from '../faults/cluster/proof.ts'

const options = readOptions({
  workers: { type: 'string', default: '1,2,3' },
  callers: { type: 'string', default: '32,256,1024' },
  rounds: { type: 'string', default: '5' }
})
const counts = parseNumbers('workers', options.workers)
const callerCounts = parseNumbers('callers', options.callers)
const rounds = parseNumber('rounds', options.rounds)
/** Two for each of three workers. */
const shards = 6

if (process.getuid?.() !== 0 || !hasCitus() || !existsSync('/usr/bin/wrk')) {
  exitWith('This proof needs root on Linux, PostgreSQL 15 of Debian with Citus, and wrk.')
}

/** Plants a second, and microseconds of CPU for a plant. */
type Figures = Record<'rate' | 'coordinator' | 'worker' | 'service' | 'wrk', number>

await runProof(main)

async function main (folder: string, cleanup: AsyncDisposableStack): Promise<boolean> {
  const cluster = await startCluster(folder, false, cleanup)
  const { coordinator } = cluster
  const nodes: Server[] = []
  while (nodes.length < Math.max(...counts)) nodes.push(await cluster.addNode())
  await createPlants(cluster, shards)
  const service = await startService({ teardown: end => cleanup.defer(end) }, folder, {
    ACCESS_TOKENS: testToken, DATABASE_URL: cluster.url, LOG_LEVEL: 'info'
  })
  await sendPlants(service.origin, 64, 5)
  const samples = new Map<string, Figures[]>()
  for (let round = 1; round <= rounds; round++) {
    for (const count of counts) {
      for (const [index, { port }] of nodes.entries()) {
        await coordinator.query(`SELECT citus_set_node_property(nodename, nodeport,
          'shouldhaveshards', ${index < count}) FROM pg_dist_node WHERE nodeport = ${port}`)
      }
      await createPlants(cluster, shards)
      await sendPlants(service.origin, 64, 1)
      for (const callers of callerCounts) {
        const figures = await measure(callers, nodes.slice(0, count))
        const key = rowOf(callers, count)
        samples.set(key, [...(samples.get(key) ?? []), figures])
      }
    }
    console.error(`round ${round} of ${rounds}`)
  }
  return report(samples)

  async function measure (callers: number, workers: Server[]): Promise<Figures> {
    const pids = [coordinator, ...workers].map(node => node.pid())
    const read = () => [...pids, Number(service.child.pid)].map(cpuTime).concat(cpuOfEnded())
    const before = read()
    const { plants, rate } = await sendPlants(service.origin, callers, 2)
    const spent = read().map((time, index) => (time - Number(before[index])) / plants)
    const [coordinatorCpu = NaN, ...others] = spent
    const [serviceCpu = NaN, wrk = NaN] = others.splice(workers.length)
    let worker = 0
    for (const cpu of others) worker += cpu / others.length
    return { rate, coordinator: coordinatorCpu, worker, service: serviceCpu, wrk }
  }
}

/** Lets wrk send plants for some seconds. */
async function sendPlants (origin: string, callers: number, seconds: number) {
  const script = join(import.meta.dirname, 'plants.lua')
  const load = ['-t1', `-c${callers}`, `-d${seconds}s`, '-s', script, `${origin}/plants`]
  const { stdout } = await promisify(execFile)('wrk', [...load, '--', testToken])
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`The load had errors:\n${stdout}`)
  const find = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1])
  return { plants: find(/(\d+) requests in/), rate: find(/Requests\/sec: +(\S+)/) }
}

/** Microseconds of CPU of a process, of its children, and of those that have ended. */
function cpuTime (pid: number): number {
  let sum = readTicks(pid, 11, 15)
  for (const child of childrenOf(pid)) sum += readTicks(child, 11, 13)
  return sum
}

/** Microseconds of CPU of the children of this process that have ended: each wrk. */
function cpuOfEnded (): number {
  return readTicks(process.pid, 13, 15)
}

/** Adds fields of /proc/PID/stat that follow the name; 0 for a process that has ended. */
function readTicks (pid: number, from: number, to: number): number {
  try {
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) (?!.*\))/s)
    // A tick is 10 milliseconds.
    let sum = 0
    for (const ticks of fields.split(' ').slice(from, to)) sum += Number(ticks) * 10_000
    return sum
  } catch {
    return 0
  }
}

function childrenOf (pid: number): number[] {
  return (readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []).map(Number)
}

function rowOf (callers: number | undefined, workers: number | undefined): string {
  return `callers ${callers}, workers ${workers}`
}

/**
 * Prints the median and the highest rate, and the least CPU, of each row.
 * @returns whether the CPU of each worker falls to three quarters from the first count to the last
 */
function report (samples: Map<string, Figures[]>): boolean {
  const rows: Record<string, Figures & { most: number }> = {}
  for (const [key, group] of samples) {
    const sorted = (name: keyof Figures) => group.map(row => row[name]).sort((a, b) => a - b)
    const least = (name: keyof Figures) => Number(sorted(name)[0]?.toFixed(1))
    rows[key] = {
      rate: Math.round(sorted('rate')[group.length >> 1] as number),
      most: Math.round(sorted('rate').at(-1) as number),
      coordinator: least('coordinator'),
      worker: least('worker'),
      service: least('service'),
      wrk: least('wrk')
    }
  }
  console.log('Plants a second (median and most), and microseconds of CPU for a plant (least)')
  console.table(rows)
  const most = callerCounts.at(-1)
  const first = rows[rowOf(most, counts[0])]
  const last = rows[rowOf(most, counts.at(-1))]
  return counts.length === 1 || Number(last?.worker) <= 0.75 * Number(first?.worker)
}
