// Summaries of the samples of `npm run bench`.
import type { Figures } from './load.ts'
import type { Server } from './server.ts'
import { estimate, median, quotient } from './statistics.ts'
import type { Estimate } from './statistics.ts'

export interface Sample extends Figures { server: Server, connections: number, round: number }

/** One program with a number of connections. */
export interface Summary {
  name: string
  /** Requests per second. */
  throughput: number
  /** Throughput as a share of that of the first program, which is bare Fastify. */
  share: Estimate
  /** Milliseconds. */
  p99: number
  /** Microseconds per request. */
  cpu: Estimate
}

/** One summary for each program, in the order of the samples. */
export function summarize (samples: Sample[]): Summary[] {
  const base = samples[0]?.server.name
  return Array.from(Map.groupBy(addShares(samples, base), ({ server }) => server.name), ([name, group]) => {
    const instances = [...Map.groupBy(group, ({ server }) => server.pid).values()]
    return {
      name,
      throughput: median(group.map(({ throughput }) => throughput)),
      share: estimate(instances.map(rounds => median(rounds.map(({ share }) => share)))),
      p99: median(group.map(({ p99 }) => p99)),
      // Other processes can only add to CPU time, because they share caches and clock.
      cpu: estimate(instances.map(rounds => Math.min(...rounds.map(({ cpu }) => cpu))))
    }
  })
}

/** Compares within a round: the machine is slower in some rounds than in others. */
function addShares (samples: Sample[], base: string | undefined) {
  return [...Map.groupBy(samples, ({ round }) => round).values()].flatMap(round => {
    const whole = median(round.filter(({ server }) => server.name === base).map(({ throughput }) => throughput))
    return round.map(sample => ({ ...sample, share: sample.throughput / whole }))
  })
}

/** Rows for console.table(), by name. */
export function toTable (summaries: Summary[]): object {
  const [bare] = summaries as [Summary]
  return Object.fromEntries(summaries.map(({ name, throughput, share, p99, cpu }) => [name, {
    'requests/s': Math.round(throughput),
    'of bare': quotient(share, bare.share),
    'p99 ms': p99.toFixed(1),
    'CPU us/request': cpu.value.toFixed(1),
    'CPU x bare': quotient(cpu, bare.cpu)
  }]))
}
