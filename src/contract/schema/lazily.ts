// Delays work until a value needs it, and does it once.

/** Makes a result when it is first wanted. */
export function lazily<Result> (make: () => Result): () => Result {
  let made: { result: Result } | undefined
  return () => (made ??= { result: make() }).result
}

/** Caches results by the schema's JSON text. */
export function memoizeBySchema<Result> (
  compile: (schema: object) => Result
): (schema: object) => Result {
  const results = new Map<string, Result>()
  return schema => {
    const text = JSON.stringify(schema)
    const result = results.get(text) ?? compile(schema)
    results.set(text, result)
    return result
  }
}
