// The styles of parameters, and the forms of their values as the linter sees the schema: a text, a list or an object.
import type { Oas3Parameter, UserContext } from '@redocly/openapi-core'
import { subschemas } from '../schema/index.ts'
import type { Schema } from '../schema/index.ts'

type Resolver = Pick<UserContext, 'resolve'>

const forms = ['text', 'array', 'object']

/** The styles of each place, its default first, and the forms of value that they are for (OpenAPI 3.1.1, 4.8.12.4). */
const styles: Readonly<Record<string, Readonly<Record<string, string[]>>>> = {
  path: { simple: forms, label: forms, matrix: forms },
  query: {
    form: forms,
    spaceDelimited: ['array', 'object'],
    pipeDelimited: ['array', 'object'],
    deepObject: ['object']
  },
  header: { simple: forms },
  cookie: { form: forms }
}

/** The style of a parameter, by default the first of its place. */
export function styleOf (parameter: Oas3Parameter): { style: string, explode: boolean } {
  const [first] = Object.keys(stylesOf(parameter)) as [string]
  const { style = first, explode = style === 'form' } = parameter
  return { style, explode }
}

function stylesOf ({ in: place }: Oas3Parameter): Readonly<Record<string, string[]>> {
  return styles[place as string] as NonNullable<typeof styles[string]>
}

/** Whether OpenAPI defines the style for the place, `explode` and these forms. */
export function isStyleFor (parameter: Oas3Parameter, forms: string[]): boolean {
  if (parameter.content !== undefined) return true
  const { style, explode } = styleOf(parameter)
  // Contracts leave out `explode` of deepObject, which has only one way.
  if (style === 'deepObject' ? parameter.explode === false : explode && style.endsWith('Delimited')) return false
  return forms.every(form => stylesOf(parameter)[style]?.includes(form))
}

/** The forms that members of an object may have beside a text. */
export function formsInside (style: string, explode: boolean): string[] {
  if (style === 'deepObject') return ['array', 'object']
  return style === 'form' && explode ? ['array'] : []
}

/** A schema, and the file in which its references are. */
export interface Part { schema: object, file?: string | undefined }

/** Whether a list has items other than texts, or an object has members in a form that it may not hold. */
export function isNested (parts: Part[], mayHold: string[], context: Resolver, levels = 5): boolean {
  const items = innerParts(parts, ['items'], context)
  const members = innerParts(parts, ['properties', 'patternProperties', 'additionalProperties'], context)
  const ofMembers = formsOf(members).filter(form => form !== 'text')
  if (formsOf(items).some(form => form !== 'text') || ofMembers.some(form => !mayHold.includes(form))) return true
  return ofMembers.length > 0 && levels > 0 && isNested(members, mayHold, context, levels - 1)
}

function innerParts (parts: Part[], keywords: string[], context: Resolver): Part[] {
  return partsOf(parts.flatMap(({ schema, file }) => {
    return subschemas(schema as Schema).flatMap(([keyword, inner]) => {
      return keywords.includes(keyword) ? [{ schema: inner, file }] : []
    })
  }), context)
}

/** Schemas and those that they consist of, by $ref, allOf, anyOf and oneOf. */
export function partsOf (given: Part[], { resolve }: Resolver): Part[] {
  const pending = [...given]
  const found = new Map<object, Part>()
  for (const { schema, file } of pending) {
    const { node, location } = resolve<object>(schema, file) as { node: object, location: UserContext['location'] }
    if (found.has(node)) continue
    const part = { schema: node, file: node === schema ? file : location.source.absoluteRef }
    found.set(node, part)
    for (const [keyword, inner] of subschemas(node as Schema)) {
      if (['allOf', 'anyOf', 'oneOf'].includes(keyword)) pending.push({ ...part, schema: inner })
    }
  }
  return [...found.values()]
}

/** The forms of value that schemas allow: a list, an object or a text, which everything else is. */
export function formsOf (parts: Part[]): string[] {
  const types = parts.flatMap(({ schema }) => {
    const { type } = schema as { type?: string | string[] }
    return type ?? ('properties' in schema || 'additionalProperties' in schema ? 'object' : [])
  })
  if (parts.length > 0 && types.length === 0) return ['text']
  const named = types.filter(type => type !== 'null')
  return [...new Set(named.map(type => forms.includes(type) ? type : 'text'))]
}
