// Completes the discriminators of a description, so that all its readers read them alike.
import type { Oas3Discriminator } from '@redocly/openapi-core'
import { isSchemaObject } from '../schema/index.ts'
import { resolve } from './description.ts'
import type { Description } from './description.ts'

type Schema = Readonly<Record<string, unknown>>
type Branch = Readonly<{ $ref?: string }>

/**
 * A copy of a description with references in all mappings of discriminators (OpenAPI 3.1, section 4.8.25). Names of
 * schemas become references, and what refers to nothing goes, which `supported` reports. A schema of `oneOf` that no
 * mapping names is selected by the values that it allows for the property itself; its own name counts only if it allows any.
 * @param formerNames the own names of schemas that were renamed, by reference
 */
export function withMappings (document: Description, formerNames: ReadonlyMap<string, string>): Description {
  const names = Object.keys(document.components?.schemas ?? {})
  const references = new Set(names.map(name => `#/components/schemas/${name}`))
  const toReference = (target: string) => names.includes(target) ? `#/components/schemas/${target}` : target
  return JSON.parse(JSON.stringify(document), (_key, value: unknown) => {
    if (!isSchemaObject(value) || !isDiscriminator(value.discriminator)) return value
    const { discriminator, ...schema } = value
    const { mapping = {}, ...rest } = discriminator
    const given = Object.entries(mapping).map(([tag, target]): [string, string] => [tag, toReference(target)])
    const known = given.filter(([, target]) => references.has(target))
    const named = new Set(known.map(([, target]) => target))
    const branches = (Array.isArray(schema.oneOf) ? schema.oneOf as Branch[] : []).flatMap(({ $ref }) => $ref ?? [])
    const own = branches.filter($ref => !named.has($ref)).flatMap($ref => {
      const values = valuesOf(document, { $ref }, rest.propertyName)
      const tags = values.length > 0 ? values : [formerNames.get($ref) ?? []].flat()
      return tags.map((tag): [string, string] => [tag, $ref])
    })
    const all = [...known, ...own]
    // Two schemas with the same value: the value selects neither.
    if (new Set(all.map(([tag]) => tag)).size < all.length) return schema
    return { ...value, discriminator: { ...rest, ...all.length > 0 && { mapping: Object.fromEntries(all) } } }
  }) as Description
}

function isDiscriminator (value: unknown): value is Oas3Discriminator {
  return isSchemaObject(value) && typeof value.propertyName === 'string'
}

/** The texts that a schema allows for a property, by const or enum, directly or by the schemas that it consists of. */
function valuesOf (document: Description, schema: Branch, property: string, seen = new Set<unknown>()): string[] {
  const resolved = resolve<Schema>(document, schema)
  if (seen.has(resolved)) return []
  seen.add(resolved)
  const { properties = {}, allOf = [], oneOf = [], anyOf = [] } = resolved
  const declared = (properties as Record<string, Branch>)[property]
  const { const: constant = [], enum: values = constant } = declared === undefined ? {} : resolve<Schema>(document, declared)
  const inside = [allOf, oneOf, anyOf].flat() as Branch[]
  const own = [values].flat().filter(value => typeof value === 'string')
  return [...new Set([...own, ...inside.flatMap(part => valuesOf(document, part, property, seen))])]
}
