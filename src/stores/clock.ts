// Time as the stores see it. A simulation replaces it to replay schedules.

export interface Clock {
  /** Milliseconds since an arbitrary moment; never goes back. */
  now: () => number
  /** Resolves in the next turn of the event loop. */
  nextTurn: () => Promise<void>
  /** Calls back once after a time, which may be over. Returns a function that prevents it. */
  setTimer: (callback: () => void, milliseconds: number) => () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  nextTurn: () => new Promise(resolve => setImmediate(resolve)),
  setTimer (callback, milliseconds) {
    // Node prints a warning for a time that is over: a host that did not respond ends waits late.
    const timer = setTimeout(callback, Math.max(milliseconds, 0))
    return () => clearTimeout(timer)
  }
}
