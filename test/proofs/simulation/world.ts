// Virtual time. One seed decides when everything happens, so that the same seed always gives the
// same schedule.
import type { Clock } from '../../../src/stores/clock.ts'

export interface World {
  clock: Clock
  /** Calls back after a time. Returns a function that prevents it. */
  after: (milliseconds: number, callback: () => void) => () => void
  sleep: (milliseconds: number) => Promise<void>
  /** A fraction from 0 up to 1. */
  random: () => number
  /** A number between two others. */
  between: (low: number, high: number) => number
  chance: (probability: number) => boolean
  pick: <Item>(items: readonly [Item, ...Item[]]) => Item
  count: (name: string) => void
  /** Writes to the log if someone reads it. */
  note: (line: () => string) => void
  /** Runs until nothing is left to happen, or until a moment. */
  run: (untilMs: number) => Promise<void>
}

export interface Recording {
  counts: Map<string, number>
  /** One line for each event; undefined saves the time. */
  log: string[] | undefined
}

interface Event { at: number, callback: (() => void) | undefined }

/** How late a timer fires, and how long a turn of the event loop takes. */
export const latenessMs = { timer: 4, turn: 1 }

export function createWorld (seed: number, { counts, log }: Recording): World {
  const random = createRandom(seed)
  const between = (low: number, high: number) => low + (high - low) * random()
  /** The next event is the last. */
  const events: Event[] = []
  let now = 0

  function after (milliseconds: number, callback: () => void): () => void {
    const event: Event = { at: now + milliseconds, callback }
    let low = 0
    for (let high = events.length; low < high;) {
      const middle = (low + high) >>> 1
      if ((events[middle] as Event).at > event.at) low = middle + 1
      else high = middle
    }
    events.splice(low, 0, event)
    return () => { event.callback = undefined }
  }

  const sleep = (milliseconds: number) => new Promise<void>(resolve => after(milliseconds, resolve))
  return {
    clock: {
      now: () => now,
      nextTurn: () => sleep(between(0, latenessMs.turn)),
      setTimer: (callback, milliseconds) => after(Math.max(0, milliseconds) + between(0, latenessMs.timer), callback)
    },
    after,
    sleep,
    random,
    between,
    chance: probability => random() < probability,
    pick: items => items[Math.floor(random() * items.length)] ?? items[0],
    count: name => { counts.set(name, (counts.get(name) ?? 0) + 1) },
    note: line => log?.push(`${now.toFixed(1).padStart(9)} ms  ${line()}`),
    async run (untilMs) {
      await promisesSettled()
      for (let event = events.pop(); event !== undefined && event.at <= untilMs; event = events.pop()) {
        if (event.callback === undefined) continue
        now = event.at
        event.callback()
        await promisesSettled()
      }
    }
  }
}

/** Resolves when no promise has anything left to do; Node runs ticks only then. */
function promisesSettled (): Promise<void> {
  return new Promise(resolve => process.nextTick(resolve))
}

/** The splitmix32 generator: it makes unrelated sequences of neighbouring seeds. */
function createRandom (seed: number): () => number {
  let state = seed | 0
  return () => {
    state = state + 0x9e3779b9 | 0
    let mixed = state ^ state >>> 16
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return ((mixed ^ mixed >>> 15) >>> 0) / 2 ** 32
  }
}
