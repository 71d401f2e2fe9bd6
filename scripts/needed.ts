// The components of a contract that its operations need.
import type { Contract, Operation } from '../src/contract/index.ts'
import type { Schemas } from '../src/contract/schema/index.ts'

/** A contract without the components that no operation needs: those of webhooks, and those of skipped operations. */
export function withNeeded (contract: Contract): Contract {
  const { operations, schemas, securitySchemes } = contract
  const served = Object.values(operations)
  const names = new Set(served.flatMap(operation => [...schemasOf(operation, schemas)]))
  const schemes = new Set(served.flatMap(({ security }) => security.flatMap(Object.keys)))
  return { ...contract, schemas: pick(schemas, names), securitySchemes: pick(securitySchemes, schemes) }
}

function pick<Value> (values: Readonly<Record<string, Value>>, names: Set<string>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)))
}

/** The names of the component schemas that an operation refers to, directly or through others. */
export function schemasOf (operation: Operation, schemas: Schemas): Set<string> {
  const names = new Set(referencesIn(operation))
  for (const name of names) referencesIn(schemas[name]).forEach(inner => names.add(inner))
  return names
}

function referencesIn (value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const own = '$ref' in value && typeof value.$ref === 'string' ? [value.$ref.replace(/#.*$/s, '')] : []
  return [...own, ...Object.values(value).flatMap(referencesIn)]
}
