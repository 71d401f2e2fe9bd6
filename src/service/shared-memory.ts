// Memory that the threads of the service share: counts for limits and metrics, and signs of life.
import { WindowCounter } from '../limits/window-counter.ts'
import { metricsMemory, type MetricsMemory } from '../telemetry/metrics-recorder.ts'

export interface SharedMemory {
  /** Threads that serve HTTP. */
  threads: number
  /** Requests of each token. */
  requests: SharedArrayBuffer
  /** Requests of each network without accepted credentials. */
  failures: SharedArrayBuffer
  /** Lines in the log of each network and of each cause. */
  lines: SharedArrayBuffer
  /** Lines in the log of all networks, and of all causes. */
  totals: SharedArrayBuffer
  /** Open connections of each thread. */
  connections: Int32Array<SharedArrayBuffer>
  /** Each thread counts up each second, and with each request. */
  beats: Int32Array<SharedArrayBuffer>
  metrics: MetricsMemory
  /** The second of the last line about a store that is not ready, or 0. */
  failing: Int32Array<SharedArrayBuffer>
  /** 1 once the log warns of a proxy that TRUST_PROXY does not name. */
  warnedOfProxy: Int32Array<SharedArrayBuffer>
}

export function createSharedMemory (threads: number): SharedMemory {
  // A failed thread may still be finishing its requests beside its successor.
  const rows = 2 * threads
  return {
    threads,
    requests: WindowCounter.memory(),
    failures: WindowCounter.memory(),
    lines: WindowCounter.memory(),
    totals: WindowCounter.memoryOfFewKeys(),
    connections: new Int32Array(new SharedArrayBuffer(4 * rows)),
    beats: new Int32Array(new SharedArrayBuffer(4 * rows)),
    metrics: metricsMemory(rows),
    failing: new Int32Array(new SharedArrayBuffer(4)),
    warnedOfProxy: new Int32Array(new SharedArrayBuffer(4))
  }
}
