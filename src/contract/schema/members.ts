// Copies of objects with other values, or with some of their members.

export function mapValues<From, To> (
  values: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To
): Record<string, To> {
  const entries = Object.entries(values)
  return Object.fromEntries(entries.map(([name, value]) => [name, change(value, name)]))
}

/** The members that a condition holds for. */
export function pick<Value> (
  values: Readonly<Record<string, Value>>,
  isPicked: (name: string) => boolean
): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isPicked(name)))
}
