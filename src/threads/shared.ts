// What the threads of the service share: counts for its limits, and signs of life.
import { WindowCounter } from '../window-counter.ts'

export interface Shared {
  /** Threads that serve HTTP. */
  threads: number
  /** Requests of each token. */
  requests: SharedArrayBuffer
  /** Requests of each network without accepted credentials. */
  failures: SharedArrayBuffer
  /** Lines of each network in the log. */
  lines: SharedArrayBuffer
  /** Open connections of each thread. A failed thread may still be finishing its requests beside its successor. */
  connections: Int32Array<SharedArrayBuffer>
  /** Each thread counts one up each second. */
  beats: Int32Array<SharedArrayBuffer>
}

export function createShared (threads: number): Shared {
  return {
    threads,
    requests: WindowCounter.memory(),
    failures: WindowCounter.memory(),
    lines: WindowCounter.memory(),
    connections: new Int32Array(new SharedArrayBuffer(4 * 2 * threads)),
    beats: new Int32Array(new SharedArrayBuffer(4 * 2 * threads))
  }
}
