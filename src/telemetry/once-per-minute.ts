// Sums up the events of a flood.

/**
 * Returns a function to call for each event. It reports the first event at once, and then at most
 * once a minute how many there were.
 */
export function oncePerMinute (report: (count: number) => void): () => void {
  let count = 0
  let lastReport = -Infinity
  return () => {
    count++
    if (performance.now() - lastReport < 60_000) return
    report(count)
    lastReport = performance.now()
    count = 0
  }
}
