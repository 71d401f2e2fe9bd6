// Removes what a contract does not name from the body of a request: its memory would last as long
// as the request, and a body of 64 KiB may become 1.4 MB.
import { pick } from './members.ts'
import { composedSchemas, type Schema, type Schemas } from './schemas.ts'

/** Keywords by which an object, and its TypeScript type, have members not in `properties`. */
const openKeywords = [
  'additionalProperties', 'unevaluatedProperties', 'patternProperties', 'anyOf', 'oneOf', 'if',
  'dependentSchemas'
]

/**
 * Returns a function that removes the undeclared members of a valid value, but only of its
 * outermost object. The type of a handler's body does not have them.
 */
export function removeUndeclared (schema: Schema, schemas: Schemas): (value: unknown) => unknown {
  const names = declaredNames(schema, schemas)
  if (names === undefined) return value => value
  return value => {
    const object = value as Record<string, unknown>
    for (const name in object) if (!names.has(name)) return pick(object, name => names.has(name))
    return object
  }
}

/** Undefined when an object may have other members, or when the schema is not one of an object. */
function declaredNames (schema: Schema, schemas: Schemas): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  for (const part of composedSchemas(schema, schemas, ['allOf'])) {
    const isOpen = openKeywords.some(keyword => keyword in part && part[keyword] !== false)
    if (isOpen) return undefined
    for (const name of Object.keys(part.properties ?? {})) names.add(name)
  }
  return names.size === 0 ? undefined : names
}

/** Removes members called __proto__, at any depth: by them, Object.assign() sets a prototype. */
export function removeProto (value: unknown): void {
  const objects = new Set<object>([Object(value)])
  for (const object of objects) {
    Reflect.deleteProperty(object, '__proto__')
    for (const member of Object.values(object)) {
      if (typeof member === 'object' && member !== null) objects.add(member)
    }
  }
}
