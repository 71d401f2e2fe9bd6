// Time as the stores see it. A simulation replaces it to replay schedules.

export interface Clock {
  /** Milliseconds since an arbitrary moment; never goes back. */
  now: () => number
  /** Resolves in the next turn of the event loop. */
  nextTurn: () => Promise<void>
  /** Calls back once after a time. Returns a function that prevents it. */
  setTimer: (callback: () => void, milliseconds: number) => () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  nextTurn: () => new Promise(resolve => setImmediate(resolve)),
  setTimer (callback, milliseconds) {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  }
}
