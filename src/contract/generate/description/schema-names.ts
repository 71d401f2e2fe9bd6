// Gives all schemas to which schemas refer a name that OpenAPI allows: what is generated knows
// references to component schemas only. Files of any name become such schemas when they are
// bundled; responses, parameters and other places may have some, too.
import { unescapePointerFragment } from '@redocly/openapi-core'
import { isSchemaObject, mapValues, valueAt } from '../../schema/index.ts'
import { type Description, visitValues } from './description.ts'

const start = '#/components/schemas/'
/** Where a Media Type, Parameter or Header Object has its schema. The rest is a part of it. */
const owner = '#/(?:components/(?!schemas/)[^/]+|paths|webhooks)/([^/]+)'
const place = new RegExp(`^${owner}(?:/.*?)?/(?:schema|itemSchema)(?=/|$)`)

/** Whether a reference leads to a schema, or a part of one, outside of the component schemas. */
export function isHoisted (pointer: string): boolean {
  return place.test(pointer)
}

/**
 * A copy of a bundled description whose schemas refer to component schemas only. Their names have
 * only letters, digits, `.`, `-` and `_` (OpenAPI 3.1, section 4.8.7), and all references and
 * mappings follow: `List<Pet>` is `List_Pet_`. Of other names, ajv resolves no reference.
 * @returns also the names that schemas had, by reference
 */
export function withPlainNames (document: Description) {
  const schemas = document.components?.schemas ?? {}
  const taken = new Set<unknown>(Object.keys(schemas))
  const hoisted = hoistedNames(document, taken)
  const renamed = new Map<string, string>()
  for (const name of Object.keys(schemas)) {
    if (!/^[\w.-]+$/.test(name)) renamed.set(name, takeName(name.replace(/[^\w.-]/gu, '_'), taken))
  }
  const formerNames = new Map<string, string>()
  for (const [former, name] of renamed) formerNames.set(start + name, former)
  if (hoisted.size + renamed.size === 0) return { document, formerNames }

  const copy = withReferences(document, renamed, hoisted)
  const entries = Object.entries<unknown>(copy.components?.schemas ?? {}).map(([name, schema]) => {
    return [renamed.get(name) ?? name, schema]
  })
  for (const [pointer, name] of hoisted) {
    const end = pointer.lastIndexOf('/')
    const key = pointer.slice(end + 1)
    const holder = valueAt(copy, pointer.slice(1, end)) as Record<string, unknown>
    entries.push([name, holder[key]])
    holder[key] = { $ref: start + name }
  }
  const components = { ...copy.components, schemas: Object.fromEntries(entries) }
  return { document: { ...copy, components }, formerNames }
}

/** Names for the schemas that become components, by reference. */
function hoistedNames (document: Description, taken: Set<unknown>): Map<string, string> {
  const names = new Map<string, string>()
  visitValues(document, value => {
    const { $ref } = Object(value) as { $ref?: unknown }
    const [found, name = ''] = place.exec(String($ref)) ?? []
    if (found === undefined || names.has(found)) return
    names.set(found, takeName(name.replace(/[^\w.-]+/g, '_'), taken))
  })
  return names
}

/** A copy whose references and mappings have the new names. */
function withReferences (
  document: Description,
  renamed: ReadonlyMap<string, string>,
  hoisted: ReadonlyMap<string, string>
): Description {
  const rename = (text: unknown) => {
    if (typeof text !== 'string' || !text.startsWith(start)) return text
    const [token = '', ...part] = text.slice(start.length).split('/')
    // Bundling names a schema of another file by the token itself.
    const name = renamed.get(unescapePointerFragment(token)) ?? renamed.get(token)
    return name === undefined ? text : [start + name, ...part].join('/')
  }
  const renameTarget = (target: unknown) => renamed.get(String(target)) ?? rename(target)
  return JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key === '$ref') {
      const [found = ''] = place.exec(String(value)) ?? []
      const name = hoisted.get(found)
      return name === undefined ? rename(value) : start + name + String(value).slice(found.length)
    }
    if (key !== 'discriminator' || !isSchemaObject(value)) return value
    return mapValues(value, (inner, word) => {
      if (word === 'defaultMapping') return renameTarget(inner)
      return word === 'mapping' && isSchemaObject(inner) ? mapValues(inner, renameTarget) : inner
    })
  })
}

/** Takes a name, or the first of name2, name3 and so on that nothing has. */
export function takeName (name: string, taken: Set<unknown>): string {
  let unique = name
  for (let count = 2; taken.has(unique); count++) unique = `${name}${count}`
  taken.add(unique)
  return unique
}
