// Sums up the events of a flood.

/** Adds an event, or reports at once those that have no report. */
export interface Summary<Event> { add: (event: Event) => void, close: () => void }

/**
 * Reports the first event at once, and then at most once a minute how many there were, with the
 * last one. Each thread has its own minutes.
 */
export function oncePerMinute<Event = void> (
  report: (count: number, last: Event) => void
): Summary<Event> {
  let count = 0
  let last: Event
  let timer: NodeJS.Timeout | undefined
  function write (): void {
    timer = undefined
    if (count === 0) return
    report(count, last)
    count = 0
    timer = setTimeout(write, 60_000).unref()
  }
  return {
    add (event) {
      count++
      last = event
      if (timer === undefined) write()
    },
    close () {
      clearTimeout(timer)
      write()
    }
  }
}
