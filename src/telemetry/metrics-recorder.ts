// What one thread counts for /metrics.
import { Histogram, histogramMemory } from './histogram.ts'

/**
 * Requests that got 503 because of overload or a full queue of the store, connections beyond the
 * limit, failed authentications and failed batches.
 */
export const counters = [
  'overload', 'queue', 'connections', 'failedAuthentications', 'failedBatches'
] as const
export type Counter = typeof counters[number]

/** OpenTelemetry advises those from 0.005 for the duration of requests; a commit is faster. */
const seconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10
]
const plants = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
/** Routes, methods and statuses that occur together. */
const maxSeries = 1024

export type MetricsMemory = ReturnType<typeof metricsMemory>

/** @param rows twice the number of threads: a failed thread may run beside its successor */
export function metricsMemory (rows: number) {
  const floats = (count: number) => new Float64Array(new SharedArrayBuffer(8 * count))
  return {
    rows,
    requests: histogramMemory(seconds, rows, maxSeries),
    batches: histogramMemory(plants, rows, 1),
    commits: histogramMemory(seconds, rows, 1),
    delays: histogramMemory(seconds, rows, 1),
    /** For each thread its counters. */
    counters: floats(rows * counters.length),
    /** For each thread the plants that wait for storage. */
    queued: floats(rows)
  }
}

/** Methods that are labels. A client may invent others. */
const methods = [
  '_OTHER', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH',
  'QUERY'
]

/** A route, from 0 for none, a method and a status below 1,000 as one number above 0. */
function seriesKey (route: number, method: string, status: number): number {
  const index = Math.max(0, methods.indexOf(method))
  return (route * methods.length + index) * 1000 + status
}

export function readSeriesKey (
  key: number
): { route: number, method: string, status: number } {
  const rest = Math.floor(key / 1000)
  return {
    route: Math.floor(rest / methods.length),
    method: methods[rest % methods.length] as string,
    status: key % 1000
  }
}

/** Milliseconds between two looks at the event loop. */
const sampleMs = 50

/** Writes the row of one thread. */
export class Recorder {
  readonly #requests: Histogram
  readonly #batches: Histogram
  readonly #commits: Histogram
  readonly #delays: Histogram
  readonly #counters: Float64Array
  readonly #queued: Float64Array
  readonly #thread: number

  constructor (memory: MetricsMemory, thread: number) {
    const { requests, batches, commits, delays, queued } = memory
    this.#requests = new Histogram(requests, thread)
    this.#batches = new Histogram(batches, thread)
    this.#commits = new Histogram(commits, thread)
    this.#delays = new Histogram(delays, thread)
    this.#counters = memory.counters.subarray(thread * counters.length)
    this.#queued = queued
    this.#thread = thread
  }

  /** @param route its index from 1; 0 for none */
  responded (route: number, method: string, status: number, ms: number): void {
    this.#requests.observe(seriesKey(route, method, status), ms / 1000)
  }

  committed (plants: number, ms: number): void {
    this.#batches.observe(1, plants)
    this.#commits.observe(1, ms / 1000)
  }

  queued (plants: number): void {
    this.#queued[this.#thread] = plants
  }

  count (counter: Counter): void {
    const index = counters.indexOf(counter)
    this.#counters[index] = this.#counters[index] as number + 1
  }

  /** Measures how late timers are. Returns a function that stops it. */
  watchEventLoop (): () => void {
    let due = performance.now() + sampleMs
    const timer = setInterval(() => {
      const now = performance.now()
      this.#delays.observe(1, Math.max(0, now - due) / 1000)
      due = now + sampleMs
    }, sampleMs).unref()
    return () => clearInterval(timer)
  }
}
