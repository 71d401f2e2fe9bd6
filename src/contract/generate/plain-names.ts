// Gives component schemas names that OpenAPI allows. Files of any name become such schemas when they are bundled.
import { isSchemaObject } from '../schema/index.ts'
import type { Description } from './description.ts'

const start = '#/components/schemas/'

interface Plain {
  document: Description
  /** The names that schemas had, by reference. */
  formerNames: ReadonlyMap<string, string>
}

/**
 * A copy of a bundled description in which the names of schemas have only letters, digits, `.`, `-` and `_` (OpenAPI 3.1,
 * section 4.8.7), and all references and mappings follow: `List<Pet>` is `List_Pet_`. Of other names, ajv resolves no
 * reference.
 */
export function withPlainNames (document: Description): Plain {
  const renamed = plainNames(Object.keys(document.components?.schemas ?? {}))
  if (renamed.size === 0) return { document, formerNames: new Map() }
  const follow = (text: unknown) => {
    if (typeof text !== 'string' || !text.startsWith(start)) return text
    const [token = '', ...part] = text.slice(start.length).split('/')
    const name = renamed.get(decoded(token))
    return name === undefined ? text : [start + name, ...part].join('/')
  }
  const { components, ...rest } = JSON.parse(JSON.stringify(document), (key, value: unknown) => {
    if (key === '$ref') return follow(value)
    if (key !== 'discriminator' || !isSchemaObject(value) || !isSchemaObject(value.mapping)) return value
    const targets = Object.entries(value.mapping).map(([tag, target]) => [tag, renamed.get(String(target)) ?? follow(target)])
    return { ...value, mapping: Object.fromEntries(targets) }
  }) as Description & { components: { schemas: object } }
  const schemas = Object.entries(components.schemas).map(([name, schema]) => [renamed.get(name) ?? name, schema])
  return {
    document: { ...rest, components: { ...components, schemas: Object.fromEntries(schemas) } },
    formerNames: new Map(Array.from(renamed, ([former, name]) => [start + name, former]))
  }
}

function plainNames (names: string[]): Map<string, string> {
  const taken = new Set(names)
  const odd = names.filter(name => !/^[\w.-]+$/.test(name))
  return new Map(odd.map(name => {
    const plain = name.replace(/[^\w.-]/gu, '_')
    let unique = plain
    for (let count = 2; taken.has(unique); count++) unique = `${plain}${count}`
    taken.add(unique)
    return [name, unique]
  }))
}

/** A token of a JSON pointer in a URI (RFC 6901, section 6). */
function decoded (token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}
