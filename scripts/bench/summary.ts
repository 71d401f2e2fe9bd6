// The table of a bench under load: each server beside the first one, and what a comparison with
// another checkout says.
import type { Server } from './harness.ts'
import type { LoadFigures } from './load.ts'
import { estimate, type Estimate, median, quotient, verdict } from './statistics.ts'

export interface LoadSample extends LoadFigures { server: Server, load: string, round: number }

/** Requests per second and milliseconds of one program, and its estimates beside the first. */
interface Summary { throughput: number, p99: number, share: Estimate, cpu: Estimate }

/**
 * Prints a row for each program, in the order of the samples.
 * @param against the checkout of the programs that are named `PROGRAM of CHECKOUT`, or empty
 */
export function printSummaries (samples: LoadSample[], against: string): void {
  const rows: Record<string, object> = {}
  const bases = findBases(samples)
  const summaries = new Map<string, Summary>()
  for (const [name, group] of Map.groupBy(samples, ({ server }) => server.name)) {
    summaries.set(name, summarize(group, bases))
  }
  const [first] = summaries.values()
  for (const [name, { throughput, share, p99, cpu }] of summaries) {
    rows[name] = {
      'requests/s': Math.round(throughput),
      'of first': quotient(share, (first as Summary).share),
      'p99 ms': p99.toFixed(1),
      'CPU us/request': cpu.value.toFixed(1),
      'CPU of first': quotient(cpu, (first as Summary).cpu)
    }
  }
  console.table(rows)
  for (const [name, { cpu }] of summaries) {
    const before = summaries.get(`${name} of ${against}`)
    if (before === undefined) continue
    const share = quotient(cpu, before.cpu)
    console.log(`${name}: CPU ${share} of ${against}: ${verdict(cpu, before.cpu)}`)
  }
}

/** The throughput of the first program by round: the machine is slower in some rounds. */
function findBases (samples: LoadSample[]): Map<number, number> {
  const ofFirst = samples.filter(({ server }) => server.name === samples[0]?.server.name)
  const bases = new Map<number, number>()
  for (const [round, group] of Map.groupBy(ofFirst, ({ round }) => round)) {
    bases.set(round, median(group.map(({ throughput }) => throughput)))
  }
  return bases
}

function summarize (samples: LoadSample[], bases: Map<number, number>): Summary {
  const shares: number[] = []
  const cpus: number[] = []
  for (const instance of Map.groupBy(samples, ({ server }) => server.pid).values()) {
    const ofBases = instance.map(({ throughput, round }) => throughput / (bases.get(round) ?? NaN))
    shares.push(median(ofBases))
    // Other processes can only add to CPU time, because they share caches and clock.
    cpus.push(Math.min(...instance.map(({ cpu }) => cpu)))
  }
  return {
    throughput: median(samples.map(({ throughput }) => throughput)),
    p99: median(samples.map(({ p99 }) => p99)),
    share: estimate(shares),
    cpu: estimate(cpus)
  }
}
