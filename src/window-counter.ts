// Counts events per key in windows of one minute, for RATE_LIMIT and FAILED_AUTH_LIMIT.

export const windowMs = 60_000

/** Windows that are kept, in two generations. */
const maxWindows = 100_000

export interface Window {
  /** Events so far, with the one that was just counted. */
  count: number
  /** Whole seconds until the window ends, rounded up: a caller who waits so long is never too early. */
  secondsLeft: number
}

/**
 * Counts exactly while fewer than 50,000 keys start a window in a minute; beyond that the oldest windows are forgotten.
 * A window starts with the first event of its key. Neither a timer nor a sweep removes the ended ones: when the
 * younger generation is a minute old or full, it replaces the older one, whose windows have all ended by then.
 */
export class WindowCounter {
  #young = new Map<string, CountedWindow>()
  #old = new Map<string, CountedWindow>()
  #renewAt = 0

  count (key: string): Window {
    // The monotonic clock: a window ends in time although the time of day is set back.
    const now = Math.trunc(performance.now())
    let window = this.#young.get(key) ?? this.#old.get(key)
    if (window === undefined || now >= window.endsAt) window = this.#start(key, now)
    return { count: ++window.count, secondsLeft: Math.ceil((window.endsAt - now) / 1000) }
  }

  #start (key: string, now: number): CountedWindow {
    if (now >= this.#renewAt || this.#young.size === maxWindows / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#renewAt = now + windowMs
    }
    const window = { count: 0, endsAt: now + windowMs }
    this.#young.set(key, window)
    return window
  }
}

/** `endsAt` is in whole milliseconds of performance.now(). */
interface CountedWindow { count: number, readonly endsAt: number }
