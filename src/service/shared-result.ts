// Shares results that are expensive to make, and that anyone may ask for at any rate.

/**
 * Calls a function once for all callers of that time, and of the time in which its result is fresh.
 * @param freshMs milliseconds from the result, or from the failure
 */
export function shareResult<Result> (
  freshMs: number,
  make: () => Promise<Result>
): () => Promise<Result> {
  let latest: Promise<Result> | undefined
  return () => {
    latest ??= make().finally(() => {
      setTimeout(() => { latest = undefined }, freshMs).unref()
    })
    return latest
  }
}
