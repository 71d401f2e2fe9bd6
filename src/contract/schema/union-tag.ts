// The member that tells the objects of a union apart, where the contract names no discriminator.
import {
  composedSchemas, isSchemaObject, referenced, type Schema, type Schemas
} from './schemas.ts'

/** A branch that takes objects: the schemas that apply to it. */
type Branch = ReadonlySet<Schema>

/** The name of a member that each branch of objects limits to other values, if there is one. */
export function tagName ({ anyOf, oneOf = anyOf }: Schema, schemas: Schemas): string | undefined {
  if (!Array.isArray(oneOf)) return undefined
  const branches: Branch[] = []
  for (const schema of oneOf.filter(isSchemaObject)) {
    const branch = composedSchemas(schema, schemas, ['allOf'])
    if (branch.values().some(takesObjects)) branches.push(branch)
  }
  const [first, ...others] = branches
  if (first === undefined || others.length === 0) return undefined
  for (const { properties } of first) {
    const names = Object.keys(Object(properties))
    const tag = names.find(name => tellsApart(name, branches, schemas))
    if (tag !== undefined) return tag
  }
  return undefined
}

/**
 * Adds the check of the tag to a branch, before its others: ajv finds missing members first, which
 * do not say whether the branch is meant.
 * @param rewritten the branch for ajv
 */
export function withTagCheck (
  rewritten: unknown,
  tag: string,
  branch: unknown,
  schemas: Schemas
): unknown {
  if (!isSchemaObject(rewritten) || !isSchemaObject(branch)) return rewritten
  const values = valuesOf(tag, composedSchemas(branch, schemas, ['allOf']), schemas)
  const isText = values.length > 0 && values.every(value => typeof value === 'string')
  if (!isText) return rewritten
  const { allOf = [] } = rewritten
  const check = { properties: { [tag]: { enum: values } } }
  return { ...rewritten, allOf: [check, ...allOf as object[]] }
}

function takesObjects ({ type, properties }: Schema): boolean {
  return type === 'object' || properties !== undefined
}

function tellsApart (name: string, branches: Branch[], schemas: Schemas): boolean {
  const taken = new Set<unknown>()
  for (const branch of branches) {
    const values = valuesOf(name, branch, schemas)
    if (values.length === 0 || values.some(value => taken.has(value))) return false
    for (const value of values) taken.add(value)
  }
  return true
}

/** The values that a branch allows for a member; none if it allows any. */
function valuesOf (name: string, branch: Branch, schemas: Schemas): unknown[] {
  for (const { properties } of branch) {
    const members = Object(properties) as Schema
    const member = Object.hasOwn(members, name) ? members[name] : undefined
    if (!isSchemaObject(member)) continue
    const { const: only, enum: values } = { ...referenced(schemas, member), ...member }
    if (Array.isArray(values)) return values
    if (only !== undefined) return [only]
  }
  return []
}
