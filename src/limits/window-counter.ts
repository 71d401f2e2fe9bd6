// Counts events per key in windows of one minute, for RATE_LIMIT and FAILED_AUTH_LIMIT. All threads
// share the counts.
import { hash } from 'node:crypto'

export const windowMs = 60_000

export interface Window {
  /** Events so far, with the one that was just counted. */
  count: number
  /** Seconds until the window ends, rounded up: a caller who waits so long is never too early. */
  secondsLeft: number
}

const manySlots = 2 ** 18
/** The window of a key is in one of the slots from the place that its hash names. */
const slotsOfKey = 32
const bytesOfSlot = 20
const lock = { free: 0, held: 1, awaited: 2 }
/** Milliseconds after which the thread that holds the lock must have died. */
const lockMs = 100

/**
 * Counts exactly while fewer than 50,000 keys start a window in a minute; beyond that the oldest
 * windows are forgotten. A window starts with the first event of its key. Neither a timer nor a
 * sweep removes the ended ones: new windows replace them.
 */
export class WindowCounter {
  readonly #slots: number
  /** Bits of the hash of each key. */
  readonly #keys: Float64Array
  /** Whole milliseconds of the monotonic clock. */
  readonly #ends: Float64Array
  readonly #counts: Uint32Array
  readonly #lock: Int32Array

  /** Memory for the counts, which several threads may share. */
  static memory (slots = manySlots): SharedArrayBuffer {
    return new SharedArrayBuffer(slots * bytesOfSlot + 4)
  }

  /** Memory for keys that no other key replaces. */
  static memoryOfFewKeys (): SharedArrayBuffer {
    return WindowCounter.memory(slotsOfKey)
  }

  constructor (memory = WindowCounter.memory()) {
    const slots = (memory.byteLength - 4) / bytesOfSlot
    this.#slots = slots
    this.#keys = new Float64Array(memory, 0, slots)
    this.#ends = new Float64Array(memory, slots * 8, slots)
    this.#counts = new Uint32Array(memory, slots * 16, slots)
    this.#lock = new Int32Array(memory, slots * 20, 1)
  }

  count (key: string): Window {
    const bits = bitsOf(key)
    const now = monotonicMs()
    this.#acquire()
    const slot = this.#slotOf(bits, now)
    const count = ++(this.#counts[slot] as number)
    const secondsLeft = Math.ceil(((this.#ends[slot] as number) - now) / 1000)
    this.#release()
    return { count, secondsLeft }
  }

  /** Returns the events of a key so far, without counting one. */
  look (key: string): number {
    const slot = this.#find(bitsOf(key), monotonicMs())
    return slot === undefined ? 0 : this.#counts[slot] as number
  }

  /** The slot of a key's window; starts a window in the place of an ended one, or of the oldest. */
  #slotOf (bits: number, now: number): number {
    const known = this.#find(bits, now)
    if (known !== undefined) return known
    let oldest = bits % this.#slots
    for (const slot of this.#slotsOf(bits)) {
      if ((this.#ends[slot] as number) < (this.#ends[oldest] as number)) oldest = slot
    }
    this.#keys[oldest] = bits
    this.#ends[oldest] = now + windowMs
    this.#counts[oldest] = 0
    return oldest
  }

  #find (bits: number, now: number): number | undefined {
    for (const slot of this.#slotsOf(bits)) {
      if (this.#keys[slot] === bits && (this.#ends[slot] as number) > now) return slot
    }
    return undefined
  }

  * #slotsOf (bits: number): Generator<number> {
    for (let nth = 0; nth < slotsOfKey; nth++) yield (bits + nth) % this.#slots
  }

  #acquire (): void {
    if (Atomics.compareExchange(this.#lock, 0, lock.free, lock.held) === lock.free) return
    while (Atomics.exchange(this.#lock, 0, lock.awaited) !== lock.free) {
      if (Atomics.wait(this.#lock, 0, lock.awaited, lockMs) === 'timed-out') return
    }
  }

  #release (): void {
    const state = Atomics.exchange(this.#lock, 0, lock.free)
    if (state === lock.awaited) Atomics.notify(this.#lock, 0, 1)
  }
}

/** 48 bits of SHA-256: two of 50,000 keys have the same with a probability of 1 in 200,000. */
function bitsOf (key: string): number {
  return Number.parseInt(hash('sha256', key).slice(0, 12), 16)
}

/** The time of day may be set back, and performance.now() is another one in each thread. */
function monotonicMs (): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + Math.trunc(nanoseconds / 1e6)
}
