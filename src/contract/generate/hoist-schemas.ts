// Makes components of the schemas in responses, parameters and other places to which schemas refer:
// what is generated knows references to component schemas only.
import { isSchemaObject, mapValues, valueAt } from '../schema/index.ts'
import { type Description, visitValues } from './description.ts'
import { takeName } from './schema-names.ts'

const schemas = '#/components/schemas/'
/** Where a Media Type, Parameter or Header Object has its schema. The rest is a part of it. */
const owner = '#/(?:components/(?!schemas/)[^/]+|paths|webhooks)/([^/]+)'
const place = new RegExp(`^${owner}(?:/.*?)?/(?:schema|itemSchema)(?=/|$)`)

/** Whether a reference leads to a schema, or a part of one, outside of the component schemas. */
export function isHoisted (pointer: string): boolean {
  return place.test(pointer)
}

/** A copy of a bundled description whose schemas refer to component schemas only. */
export function withHoistedSchemas (document: Description): Description {
  const names = new Map<string, string>()
  const taken = new Set<unknown>(Object.keys(document.components?.schemas ?? {}))
  visitValues(document, value => {
    const { $ref } = Object(value) as { $ref?: unknown }
    const [found, name = ''] = place.exec(String($ref)) ?? []
    if (found === undefined || names.has(found)) return
    names.set(found, takeName(name.replace(/[^\w.-]+/g, '_'), taken))
  })
  if (names.size === 0) return document

  const copy = withFollowed(document, names) as Description & { components?: object }
  const hoisted: Record<string, unknown> = {}
  for (const [pointer, name] of names) {
    const end = pointer.lastIndexOf('/')
    const key = pointer.slice(end + 1)
    const holder = valueAt(copy, pointer.slice(1, end)) as Record<string, unknown>
    hoisted[name] = holder[key]
    holder[key] = { $ref: schemas + name }
  }
  const components = { ...copy.components, schemas: { ...copy.components?.schemas, ...hoisted } }
  return { ...copy, components } as Description
}

/** A copy in which references lead to the new components. */
function withFollowed (value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map(item => withFollowed(item, names))
  if (!isSchemaObject(value)) return value
  return mapValues(value, (inner, key) => {
    if (key !== '$ref' || typeof inner !== 'string') return withFollowed(inner, names)
    const [found] = place.exec(inner) ?? []
    const name = found && names.get(found)
    return name === undefined ? inner : schemas + name + inner.slice(found?.length)
  })
}
