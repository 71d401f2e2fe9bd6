// What the keywords of a validation record about a value. A branch that fails takes it back.
import type { Declared } from './ajv-rewriter.ts'
import type { Integer } from './int64.ts'
import type { Key } from './json.ts'

/** An object of an answer, its place, and the members that one schema declares for it. */
export interface Described { object: object, holder: object, key: Key, declared: Declared }

/** What checks of a value record. `inner` has what the checks of recursion.ts inside of it do. */
export interface Records {
  integers: Integer[]
  described: Described[]
  /** Whether an object has the method toJSON(), or a member that one of its schemas lacks. */
  hasUndeclared: boolean
  inner: Records[]
}

export function noRecords (): Records {
  return { integers: [], described: [], hasUndeclared: false, inner: [] }
}

/** The records and all inside of them, each once: two branches may have the same. */
export function withInner (records: Records): Iterable<Records> {
  if (records.inner.length === 0) return [records]
  const found = new Set([records])
  for (const { inner } of found) for (const records of inner) found.add(records)
  return found
}

export function describedIn (records: Records): readonly Described[] {
  if (records.inner.length === 0) return records.described
  return [...withInner(records)].flatMap(({ described }) => described)
}
