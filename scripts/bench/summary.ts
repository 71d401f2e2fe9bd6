// The table of the throughput bench: each server beside the first one, which is bare Fastify.
import type { Server } from './harness.ts'
import type { LoadFigures } from './load.ts'
import { estimate, type Estimate, median, quotient } from './statistics.ts'

export interface LoadSample extends LoadFigures { server: Server, load: string, round: number }

/** Requests per second and milliseconds of one program, and its estimates beside the first. */
interface Summary { throughput: number, p99: number, share: Estimate, cpu: Estimate }

/** Prints a row for each program, in the order of the samples. */
export function printSummaries (samples: LoadSample[]): void {
  const rows: Record<string, object> = {}
  const bases = findBases(samples)
  let bare: Summary | undefined
  for (const [name, group] of Map.groupBy(samples, ({ server }) => server.name)) {
    const summary = summarize(group, bases)
    bare ??= summary
    rows[name] = {
      'requests/s': Math.round(summary.throughput),
      'of bare': quotient(summary.share, bare.share),
      'p99 ms': summary.p99.toFixed(1),
      'CPU us/request': summary.cpu.value.toFixed(1),
      'CPU x bare': quotient(summary.cpu, bare.cpu)
    }
  }
  console.table(rows)
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
