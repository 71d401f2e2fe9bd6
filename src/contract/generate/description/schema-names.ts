// Gives component schemas names that OpenAPI allows. Files of any name become such schemas when
// they are bundled.
import { unescapePointerFragment } from '@redocly/openapi-core'
import { isSchemaObject, mapValues } from '../../schema/index.ts'
import type { Description } from './description.ts'

const start = '#/components/schemas/'

interface Plain {
  document: Description
  /** The names that schemas had, by reference. */
  formerNames: ReadonlyMap<string, string>
}

/**
 * A copy of a bundled description in which the names of schemas have only letters, digits, `.`, `-`
 * and `_` (OpenAPI 3.1, section 4.8.7), and all references and mappings follow: `List<Pet>` is
 * `List_Pet_`. Of other names, ajv resolves no reference.
 */
export function withPlainNames (document: Description): Plain {
  const renamed = plainNames(Object.keys(document.components?.schemas ?? {}))
  const formerNames = new Map<string, string>()
  for (const [former, name] of renamed) formerNames.set(start + name, former)
  if (renamed.size === 0) return { document, formerNames }

  const follow = (text: unknown) => {
    if (typeof text !== 'string' || !text.startsWith(start)) return text
    const [token = '', ...part] = text.slice(start.length).split('/')
    // Bundling names a schema of another file by the token itself.
    const name = renamed.get(unescapePointerFragment(token)) ?? renamed.get(token)
    return name === undefined ? text : [start + name, ...part].join('/')
  }
  const followName = (target: unknown) => renamed.get(String(target)) ?? follow(target)
  const copy = JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key === '$ref') return follow(value)
    if (key !== 'discriminator' || !isSchemaObject(value)) return value
    return mapValues(value, (inner, word) => {
      if (word === 'defaultMapping') return followName(inner)
      return word === 'mapping' && isSchemaObject(inner) ? mapValues(inner, followName) : inner
    })
  }) as Description & { components: { schemas: object } }
  const schemas = Object.entries(copy.components.schemas).map(([name, schema]) => {
    return [renamed.get(name) ?? name, schema]
  })
  copy.components.schemas = Object.fromEntries(schemas)
  return { document: copy, formerNames }
}

/** A name for each that OpenAPI does not allow. */
function plainNames (names: string[]): Map<string, string> {
  const taken = new Set(names)
  const plain = new Map<string, string>()
  for (const name of names) {
    if (/^[\w.-]+$/.test(name)) continue
    plain.set(name, takeName(name.replace(/[^\w.-]/gu, '_'), taken))
  }
  return plain
}

/** Takes a name, or the first of name2, name3 and so on that nothing has. */
export function takeName (name: string, taken: Set<unknown>): string {
  let unique = name
  for (let count = 2; taken.has(unique); count++) unique = `${name}${count}`
  taken.add(unique)
  return unique
}
