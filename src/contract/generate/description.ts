// A bundled description, for the emitters: its operations and the references inside it.
import type { Oas3_1Definition as Description, Oas3Operation, Oas3Parameter, Oas3PathItem } from '@redocly/openapi-core'
import { framingFields } from '../types.ts'
import { valueAt } from '../schema/index.ts'

export type { Description }
export type Parameter = Oas3Parameter

/** The methods that a Path Item Object has fields for (OpenAPI 3.2, section 4.8). */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const

interface ListedOperation { url: string, method: string, item: Oas3PathItem, operation: Oas3Operation }

/** The operations below `paths`, with their path items; without webhooks and callbacks, which are not served. */
export function listOperations (document: Description): ListedOperation[] {
  return Object.entries(withoutExtensions(document.paths ?? {})).flatMap(([url, path]) => {
    const item = resolve<Oas3PathItem & { query?: Oas3Operation }>(document, path)
    return methods.flatMap(method => {
      const operation = item[method]
      return operation === undefined ? [] : [{ url, method, item, operation }]
    })
  })
}

/** Without the extensions that an object of a description may have (OpenAPI 3.1, section 4.9). */
export function withoutExtensions<Value> (values: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith('x-')))
}

/** The extensions of an object of a description. */
export function extensionsOf (object: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name.startsWith('x-')))
}

/** Header parameters that OpenAPI 3.1 ignores (section 4.8.12.1): other parts of a description declare them. */
export function isIgnored ({ in: place, name }: Parameter): boolean {
  return place === 'header' && ['accept', 'content-type', 'authorization'].includes(name.toLowerCase())
}

/** Header fields of answers: OpenAPI ignores the first (section 4.8.17), only the engine sends the others. */
export const fieldsOfEngine: readonly string[] = ['content-type', 'x-request-id', ...framingFields]

/** The default of a schema, or of the schema that it refers to; undefined where there is none. */
export function defaultOf (document: Description, schema: object): unknown {
  if ('default' in schema) return schema.default
  return '$ref' in schema ? defaultOf(document, resolve(document, schema)) : undefined
}

interface Value { schema?: object, content?: Readonly<Record<string, { schema?: object }>> }

/** The schema of a parameter or header field, by itself or in its one media type, and whether its text is JSON. */
export function valueOf ({ schema = {}, content = {} }: Value): { schema: object, isJson: boolean } {
  const [media] = Object.entries(content)
  if (media === undefined) return { schema, isJson: false }
  const isJson = /^[^;]*[/+]json\s*(?:;|$)/i.test(media[0])
  return { schema: media[1].schema ?? (isJson ? {} : { type: 'string' }), isJson }
}

/** The discriminator property of a schema, and the values that select it. */
export interface Discriminated { property: string, values: string[] }

/**
 * The schemas that a discriminator beside `oneOf` distinguishes, by reference. Of two discriminators for one schema the
 * first counts, as in openapi-typescript.
 */
export function discriminators (document: object): Map<string, Discriminated> {
  const found = new Map<string, Discriminated>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { discriminator, oneOf } = value as Union
    if (discriminator?.propertyName !== undefined && Array.isArray(oneOf)) {
      const { propertyName: property, mapping = {} } = discriminator
      // An inline branch has no name that could select it.
      for (const $ref of oneOf.flatMap(branch => branch.$ref ?? [])) {
        if (!found.has($ref)) found.set($ref, { property, values: selectorsOf($ref, mapping) })
      }
    }
    Object.values(value).forEach(visit)
  }
  visit(document)
  return found
}

interface Union {
  discriminator?: { propertyName: string, mapping?: Record<string, string> }
  oneOf?: Array<{ $ref?: string }>
}

/** The names that are mapped to a schema, else its own name (OpenAPI 3.1, section 4.8.25). */
function selectorsOf ($ref: string, mapping: Record<string, string>): string[] {
  const mapped = Object.keys(mapping).filter(name => mapping[name] === $ref)
  return mapped.length > 0 ? mapped : [$ref.split('/').at(-1) as string]
}

/** Follows a Reference Object inside the description (OpenAPI 3.1, section 4.8.23). */
export function resolve<T extends object> (document: Description, node: T | { $ref: string }): T {
  if (!('$ref' in node)) return node as T
  return resolve(document, valueAt(document, (node.$ref as string).replace(/^#/, '')) as T)
}
