// A bundled description, for the emitters: its operations and the references inside it.
import type { Oas3_1Definition as Description, Oas3Operation, Oas3Parameter, Oas3PathItem } from '@redocly/openapi-core'

export type { Description }
export type Parameter = Oas3Parameter

/** The methods that a Path Item Object has fields for (OpenAPI 3.1, section 4.8.9). */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** The operations below `paths`, with the path item that each is in. Webhooks and callbacks are not served, and not here. */
export function listOperations (document: Description): Array<{ url: string, method: string, item: Oas3PathItem, operation: Oas3Operation }> {
  return Object.entries(document.paths ?? {}).flatMap(([url, path]) => {
    const item = resolve<Oas3PathItem>(document, path)
    return methods.flatMap(method => {
      const operation = item[method]
      return operation === undefined ? [] : [{ url, method, item, operation }]
    })
  })
}

/** Header parameters that are ignored, as other parts of a description say them (OpenAPI 3.1, section 4.8.12.1). */
export function isIgnored ({ in: place, name }: Parameter): boolean {
  return place === 'header' && ['accept', 'content-type', 'authorization'].includes(name.toLowerCase())
}

/** Whether a schema, or what it refers to, has a default. */
export function hasDefault (document: Description, schema: object): boolean {
  return 'default' in schema || ('$ref' in schema && hasDefault(document, resolve(document, schema)))
}

/** The member that tells a schema from its siblings, and the values that it has there. */
export interface Discriminated { property: string, values: string[] }

/**
 * The schemas that a discriminator beside `oneOf` tells apart, by reference: each by the names that are mapped to it, else
 * by its own (OpenAPI 3.1, section 4.8.25). Of two discriminators for one schema the first counts, as in openapi-typescript.
 */
export function discriminators (document: object): Map<string, Discriminated> {
  const found = new Map<string, Discriminated>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { discriminator, oneOf } = value as { discriminator?: { propertyName: string, mapping?: Record<string, string> }, oneOf?: Array<{ $ref?: string }> }
    if (discriminator?.propertyName !== undefined && Array.isArray(oneOf)) {
      const { propertyName: property, mapping = {} } = discriminator
      // A branch that is written out says itself what it is.
      for (const $ref of oneOf.flatMap(branch => branch.$ref ?? [])) {
        const mapped = Object.keys(mapping).filter(name => mapping[name] === $ref)
        if (!found.has($ref)) found.set($ref, { property, values: mapped.length > 0 ? mapped : [$ref.split('/').at(-1) as string] })
      }
    }
    Object.values(value).forEach(visit)
  }
  visit(document)
  return found
}

/** Follows a Reference Object inside the description (OpenAPI 3.1, section 4.8.23). */
export function resolve<T extends object> (document: Description, node: T | { $ref: string }): T {
  if (!('$ref' in node)) return node as T
  let target: unknown = document
  for (const key of (node.$ref as string).split('/').slice(1)) {
    target = (target as Record<string, unknown>)[decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return resolve(document, target as T)
}
