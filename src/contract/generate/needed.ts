// The components of a contract that its operations need.
import type { Contract, Operation } from '../types.ts'
import type { Schemas } from '../schema/index.ts'
import { listOperations, withoutExtensions } from './description.ts'
import type { Description } from './description.ts'

/** A contract without the components that no operation needs: those of webhooks, and those of skipped operations. */
export function withNeeded (contract: Contract): Contract {
  const { operations, schemas, securitySchemes } = contract
  const served = Object.values(operations)
  const names = new Set(served.flatMap(operation => [...schemasOf(operation, schemas)]))
  const schemes = new Set(served.flatMap(({ security }) => security.flatMap(Object.keys)))
  return { ...contract, schemas: pick(schemas, names), securitySchemes: pick(securitySchemes, schemes) }
}

/** A copy without the components that neither the operations nor the webhooks use: some may be broken. */
export function withUsedComponents (document: Description): Description {
  const { components = {}, ...rest } = document
  const ofOperations = listOperations(document).flatMap(({ operation }) => operation.security ?? [])
  const names = [document.security ?? [], ofOperations].flat().flatMap(Object.keys)
  const schemes = names.map(name => `#/components/securitySchemes/${name}`)
  const { paths = {}, webhooks } = rest
  const used = new Set([...schemes, ...componentsIn([withoutExtensions(paths), webhooks])])
  const valueOf = (place: string) => {
    const [, , kind = '', name = ''] = place.split('/')
    return (components as Record<string, Record<string, unknown>>)[kind]?.[name]
  }
  // A security scheme refers to schemes only; a broken one may seem to refer to more.
  const ofScheme = (place: string) => place.startsWith('#/components/securitySchemes/')
  for (const place of used) {
    const inner = componentsIn(valueOf(place)).filter(other => !ofScheme(place) || ofScheme(other))
    inner.forEach(other => used.add(other))
  }
  const kept = Object.entries(components as Record<string, Record<string, unknown>>).map(([kind, members]) => {
    return [kind, pick(members, new Set(Object.keys(members).filter(name => used.has(`#/components/${kind}/${name}`))))]
  })
  return { ...rest, paths: withoutExtensions(paths), components: Object.fromEntries(kept) }
}

/** The components that the references and mappings in a part of a description name. */
function componentsIn (value: unknown): string[] {
  if (typeof value === 'string') return /^#\/components\/[^/]+\/[^/]+/.exec(value) ?? []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(componentsIn) : []
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
