// Reports parameters and header fields that have no text in their style. The form of a value, as
// the linter sees the schema, is a text, an array or an object.
import type { Oas3Parameter, UserContext } from '@redocly/openapi-core'
import { composing, mapValues, type Schema, schemasIn } from '../../schema/index.ts'
import type { Media } from '../../types/contract.ts'
import { isIgnored, valueOf } from '../description/description.ts'
import { report } from './unsupported-features.ts'

type Value = Parameters<typeof valueOf>[0]

/** The styles of each place, its default first (OpenAPI 3.1.1, section 4.8.12.4). */
const styles: Readonly<Record<string, string[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form']
}

export function reportParameter (parameter: Oas3Parameter, context: UserContext): void {
  if (isIgnored(parameter)) return
  const { name, in: place } = parameter
  if (name === '__proto__') report(context, 'proto', 'name')
  if ((place === 'header' || place === 'cookie') && !isToken(name)) {
    report(context, 'headerName', 'name', name)
  }
  if (String(place) === 'querystring') return reportQuerystring(parameter, context)
  const allowed = styles[place as string] as [string, ...string[]]
  const { style = allowed[0], explode = style === 'form' } = parameter
  const forms = reportValue(parameter, context, style, explode)
  if (parameter.content !== undefined) return
  if (!allowed.includes(style) || !isDefined(style, forms, explode, parameter.explode)) {
    report(context, 'style', 'style', style)
  }
}

/** Beside a form, content is JSON or a text. */
function reportQuerystring (parameter: Oas3Parameter, context: UserContext): void {
  if (parameter.content === undefined) report(context, 'querystring')
  else if (valueOf(parameter as Value).form === undefined) reportValue(parameter as Value, context)
}

/** RFC 9110, section 5.6.2. */
export function isToken (name: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name)
}

/** Whether OpenAPI defines the style for these forms and `explode`. */
function isDefined (style: string, forms: string[], explode: boolean, given?: boolean): boolean {
  if (style.endsWith('Delimited')) return !explode && !forms.includes('text')
  // Contracts leave out `explode` of deepObject, which has only one way, and use it for any value.
  return style !== 'deepObject' || given !== false
}

/** Reports a value that has no text. Returns the forms of the value, none of JSON. */
export function reportValue (
  value: Value,
  context: UserContext,
  style = 'simple',
  explode = false
): string[] {
  const { schema, isJson } = valueOf(withMedia(value, context))
  const parts = isJson ? [] : composedParts([{ schema }], context)
  const forms = formsOf(parts)
  if (value.content !== undefined) {
    if (forms.some(form => form !== 'text')) report(context, 'parameterContent', 'content')
  } else if (style !== 'deepObject' && isNested(parts, style === 'form' && explode, context)) {
    report(context, 'nestedParameter', 'schema')
  }
  return forms
}

/** A value with its media types in place of references to them. */
function withMedia (value: Value, { resolve }: UserContext): Value {
  const { content } = value
  if (content === undefined) return value
  // A reference to nothing ends the visit: another rule reports it.
  return { ...value, content: mapValues(content, media => resolve<Media>(media).node as Media) }
}

/** A schema, and the file in which its references are. */
interface Part { schema: object, file?: string | undefined }

/** Whether an array has items other than texts, or an object a member that it may not hold. */
function isNested (parts: Part[], mayHoldLists: boolean, context: UserContext): boolean {
  const items = formsOf(innerParts(parts, ['items'], context))
  if (items.some(form => form !== 'text')) return true
  const members = innerParts(parts, memberKeywords, context)
  const nested = formsOf(members).filter(form => form !== 'text')
  if (!nested.every(form => mayHoldLists && form === 'array')) return true
  return nested.length > 0 && isNested(members, false, context)
}

const memberKeywords = ['properties', 'patternProperties', 'additionalProperties']

function innerParts (parts: Part[], keywords: string[], context: UserContext): Part[] {
  const inner: Part[] = []
  for (const { schema, file } of parts) {
    for (const part of schemasIn(schema as Schema, keywords)) inner.push({ schema: part, file })
  }
  return composedParts(inner, context)
}

interface Resolved { node: object, location: UserContext['location'] }

/** Schemas and those that they consist of, by $ref, allOf, anyOf and oneOf. */
function composedParts (given: Part[], { resolve }: UserContext): Part[] {
  const pending = [...given]
  const found = new Map<object, Part>()
  for (const { schema, file } of pending) {
    // A reference to nothing ends the visit: another rule reports it.
    const { node, location } = resolve<object>(schema, file) as Resolved
    if (found.has(node)) continue
    const part = { schema: node, file: node === schema ? file : location.source.absoluteRef }
    found.set(node, part)
    for (const inner of schemasIn(node as Schema, composing)) {
      pending.push({ ...part, schema: inner })
    }
  }
  return [...found.values()]
}

function formsOf (parts: Part[]): string[] {
  const found = new Set<string>()
  for (const { schema } of parts) {
    // A boolean schema has no words.
    const { type, ...words } = schema as { type?: string | string[] }
    const isObject = 'properties' in words || 'additionalProperties' in words
    for (const name of [type ?? (isObject ? 'object' : [])].flat()) {
      found.add(['null', 'array', 'object'].includes(name) ? name : 'text')
    }
  }
  if (parts.length > 0 && found.size === 0) return ['text']
  found.delete('null')
  return [...found]
}
