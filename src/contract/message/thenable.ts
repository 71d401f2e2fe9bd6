/** A promise of any kind: `instanceof Promise` would take that of another realm for a value. */
export function isThenable<Value> (value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function'
}
