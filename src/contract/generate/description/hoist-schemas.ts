// Makes components of the schemas in responses, parameters and other places to which schemas refer:
// what is generated knows references to component schemas only.
import { valueAt } from '../../schema/index.ts'
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

  const follow = (reference: string) => {
    const [found = ''] = place.exec(reference) ?? []
    const name = names.get(found)
    return name === undefined ? reference : schemas + name + reference.slice(found.length)
  }
  const copy = JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    return key === '$ref' && typeof value === 'string' ? follow(value) : value
  }) as Description
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
