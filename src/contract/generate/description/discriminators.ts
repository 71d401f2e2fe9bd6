// The discriminators of a description: completes them, so that all who read them agree, and lists
// the schemas that they distinguish.
import type { Oas3Discriminator } from '@redocly/openapi-core'
import { didYouMean } from '../../message/did-you-mean.ts'
import { composedSchemas, isSchemaObject, type Schema } from '../../schema/index.ts'
import { type Description, membersOf, pointerOf, visitValues } from './description.ts'

type Branch = Readonly<{ $ref?: string }>

/**
 * A copy of a description with references in all mappings of discriminators (OpenAPI 3.1, section
 * 4.8.25). Names of schemas become references, and a target that does not exist goes: the linter
 * reports it.
 * @param formerNames the names of schemas that were renamed, by reference
 */
export function withMappings (
  document: Description,
  formerNames: ReadonlyMap<string, string>
): Description {
  const names = Object.keys(document.components?.schemas ?? {})
  const references = new Map(names.map(name => [name, `#/components/schemas/${name}`]))
  const known = new Set(references.values())
  // Also drops what a reference such as `#/constructor` finds in the parser's objects.
  const copy = JSON.parse(JSON.stringify(document)) as Description
  visitDiscriminators(copy, ({ schema, discriminator: { mapping = {}, ...rest } }) => {
    const fallback = references.get(rest.defaultMapping ?? '')
    if (fallback !== undefined) rest.defaultMapping = fallback
    const targets: Array<[tag: string, $ref: string]> = []
    for (const [tag, target] of Object.entries(mapping)) {
      const $ref = references.get(target) ?? target
      if (known.has($ref)) targets.push([tag, $ref])
    }
    const named = new Set(targets.map(([, $ref]) => $ref))
    for (const $ref of branchesOf(schema)) {
      if (named.has($ref)) continue
      for (const tag of ownTags(document, $ref, rest.propertyName, formerNames)) {
        targets.push([tag, $ref])
      }
    }
    const byTag = new Map(targets)
    schema.discriminator = rest
    if (byTag.size > 0) schema.discriminator = { ...rest, mapping: Object.fromEntries(byTag) }
    // Two schemas with the same value: the value selects neither.
    if (byTag.size < targets.length) delete schema.discriminator
  })
  return copy
}

function isDiscriminator (value: unknown): value is Oas3Discriminator {
  return isSchemaObject(value) && typeof value.propertyName === 'string'
}

/** A discriminator, the schema that has it, and its place. */
interface Place {
  schema: Record<string, unknown>
  discriminator: Oas3Discriminator
  path: readonly string[]
}

function visitDiscriminators (document: Description, visit: (place: Place) => void): void {
  visitValues(document, (schema, path) => {
    if (!isSchemaObject(schema) || !isDiscriminator(schema.discriminator)) return
    visit({ schema, discriminator: schema.discriminator, path: [...path, 'discriminator'] })
  })
}

/** What discriminators say that their schemas refuse, as sentences by their place. */
export function discriminatorWarnings (document: Description) {
  const found: Array<{ pointer: string, sentence: string }> = []
  visitDiscriminators(document, ({ schema, discriminator, path }) => {
    const { propertyName: property, mapping = {} } = discriminator
    for (const [tag, target] of Object.entries(mapping)) {
      const $ref = String(target).includes('/') ? target : `#/components/schemas/${target}`
      const values = ownValues(document, $ref, property)
      if (values.size === 0 || values.has(tag)) continue
      const sentence = `The value \`${tag}\` of a discriminator selects a schema whose own ` +
        `\`${property}\` refuses it.`
      found.push({ pointer: pointerOf([...path, 'mapping', tag]), sentence })
    }
    const members = branchesOf(schema).flatMap($ref => membersOf(document, { $ref }))
    if (members.length === 0 || members.includes(property)) return
    const sentence = `No schema of this discriminator has the member \`${property}\`.` +
      didYouMean(property, members)
    found.push({ pointer: pointerOf([...path, 'propertyName']), sentence })
  })
  return found
}

/** The references in `oneOf`. An inline branch has no name that could select it. */
function branchesOf ({ oneOf }: Schema): string[] {
  const branches = Array.isArray(oneOf) ? oneOf as Branch[] : []
  return branches.map(({ $ref }) => $ref).filter($ref => typeof $ref === 'string')
}

/**
 * The values that select a schema that no mapping names: those that it allows for the property. The
 * name of a component counts only if the schema allows any value, or if the component is renamed.
 */
function ownTags (
  document: Description,
  $ref: string,
  property: string,
  formerNames: ReadonlyMap<string, string>
): string[] {
  const values = [...ownValues(document, $ref, property)]
  const texts = values.filter(value => typeof value === 'string')
  const former = formerNames.get($ref)
  return texts.length > 0 || former === undefined ? texts : [former]
}

/** The values that a schema lists for a property. */
function ownValues (document: Description, $ref: string, property: string): Set<unknown> {
  const values = new Set<unknown>()
  const schemas = { '': document }
  for (const { properties } of composedSchemas({ $ref }, schemas)) {
    const declared = composedSchemas(Object(Object(properties)[property]), schemas, [])
    for (const { const: only = [], enum: listed = only } of declared) {
      for (const value of [listed].flat()) values.add(value)
    }
  }
  return values
}

/**
 * The discriminator property of a schema, and the values that select it. A default is selected
 * without the property, too, and by all values but these.
 */
export interface Distinction { property: string, values: string[], isDefault: boolean }

/**
 * The schemas that a discriminator beside `oneOf` distinguishes, by reference. Of two
 * discriminators for one schema the first counts, as in openapi-typescript.
 */
export function distinctionsIn (document: Description): Map<string, Distinction> {
  const found = new Map<string, Distinction>()
  visitDiscriminators(document, ({ schema, discriminator }) => {
    const { propertyName: property, mapping = {}, defaultMapping } = discriminator
    const branches = branchesOf(schema)
    for (const $ref of branches) {
      if (found.has($ref)) continue
      const isDefault = $ref === defaultMapping
      const others = branches.filter(other => other !== $ref)
      const values = (isDefault ? others : [$ref]).flatMap(one => selectorsOf(one, mapping))
      found.set($ref, { property, values, isDefault })
    }
  })
  return found
}

/** The names that are mapped to a schema, else its own name (OpenAPI 3.1, section 4.8.25). */
function selectorsOf ($ref: string, mapping: Record<string, string>): string[] {
  const mapped = Object.keys(mapping).filter(name => mapping[name] === $ref)
  return mapped.length > 0 ? mapped : [$ref.split('/').at(-1) as string]
}
