// Sums up the events of a flood.

/**
 * Returns a function to call for each event. It reports the first event at once, and then at most
 * once a minute how many there were, with the last one.
 */
export function oncePerMinute<Event = void> (
  report: (count: number, last: Event) => void
): (event: Event) => void {
  let count = 0
  let lastReport = -Infinity
  return event => {
    count++
    if (performance.now() - lastReport < 60_000) return
    report(count, event)
    lastReport = performance.now()
    count = 0
  }
}
