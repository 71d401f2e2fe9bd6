// A bundled description: its operations, its references, and what OpenAPI says of its parts.
import type {
  Oas3_1Definition as Description, Oas3Operation, Oas3Parameter, Oas3PathItem
} from '@redocly/openapi-core'
import { kindOf } from '../../message/media-type.ts'
import { methods, operationKeys } from '../../message/methods.ts'
import {
  composedSchemas, escapedKey, isSchemaObject, pick, type Schema, valueAt
} from '../../schema/index.ts'
import { type Content, framingFields } from '../../types/contract.ts'

export type { Description }
export type Parameter = Oas3Parameter

type Operations = Record<string, Oas3Operation>

export interface ListedOperation {
  url: string
  method: string
  item: Oas3PathItem
  /** The object that has the operation, by its method. */
  owner: Operations
  operation: Oas3Operation
}

/** The operations below `paths`, without webhooks and callbacks, which are not served. */
export function listOperations (document: Description): ListedOperation[] {
  const listed: ListedOperation[] = []
  for (const [url, path] of Object.entries(withoutExtensions(document.paths ?? {}))) {
    const item = resolve<Oas3PathItem>(document, path)
    const add = (owner: Operations, names: readonly string[]) => {
      for (const method of names) {
        const operation = owner[method]
        // The linter reports what is none.
        if (operation === undefined || !isSchemaObject(operation)) continue
        listed.push({ url, method, item, owner, operation })
      }
    }
    const others = (item.additionalOperations ?? {}) as Operations
    add(item as unknown as Operations, methods)
    add(others, Object.keys(others))
  }
  return listed
}

/** Follows a Reference Object inside the description (OpenAPI 3.1, section 4.8.23). */
export function resolve<T extends object> (document: Description, node: T | { $ref: string }): T {
  if (!('$ref' in node)) return node as T
  return resolve(document, valueAt(document, (node.$ref as string).replace(/^#/, '')) as T)
}

/**
 * Visits a part of a description and each value in it, outer values first.
 * @param path the names on the way to a value, in an array that changes
 */
export function visitValues (
  value: unknown,
  visit: (value: unknown, path: readonly string[]) => void,
  path: string[] = []
): void {
  visit(value, path)
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    path.push(name)
    visitValues(inner, visit, path)
    path.pop()
  }
}

/** The JSON pointer of names on the way to a value. */
export function pointerOf (path: ReadonlyArray<string | number>): string {
  return ['#', ...path.map(key => escapedKey(String(key)))].join('/')
}

/** Without the extensions that an object of a description may have (OpenAPI 3.1, section 4.9). */
export function withoutExtensions<Value> (values: Record<string, Value>): Record<string, Value> {
  return pick(values, name => !name.startsWith('x-'))
}

/**
 * Whether an operation has a body to which HTTP gives no meaning (RFC 9110, section 9.3.1): OpenAPI
 * 3.0 ignores it (section 4.7.10), and 3.1 does not define it (section 4.8.10).
 */
export function hasIgnoredBody ({ method, operation }: ListedOperation): boolean {
  return operation.requestBody !== undefined && ['get', 'head', 'trace'].includes(method)
}

/** The JSON pointer of an operation. */
export function operationPointer (url: string, method: string): string {
  return pointerOf(['paths', url, ...operationKeys(method)])
}

/** Of a path and then its operation; later ones override earlier ones (OpenAPI 3.1, 4.8.10). */
export function parametersOf (
  document: Description,
  { item, operation }: ListedOperation
): Parameter[] {
  const byKey = new Map<string, Parameter>()
  for (const given of [...item.parameters ?? [], ...operation.parameters ?? []]) {
    const parameter = resolve<Parameter>(document, given as Parameter)
    if (!isIgnored(parameter)) byKey.set(`${parameter.in} ${parameter.name}`, parameter)
  }
  return [...byKey.values()]
}

/** Header parameters that OpenAPI 3.1 ignores (section 4.8.12.1): other parts declare them. */
export function isIgnored ({ in: place, name }: Parameter): boolean {
  const declaredElsewhere = ['accept', 'content-type', 'authorization']
  return place === 'header' && declaredElsewhere.includes(name.toLowerCase())
}

/**
 * Header fields of answers that a handler does not send: OpenAPI ignores the first (section
 * 4.8.17), only the engine sends the others.
 */
export const fieldsOfEngine: readonly string[] = ['content-type', 'x-request-id', ...framingFields]

/** The default of a schema, or of the schema that it refers to; undefined where there is none. */
export function defaultOf (document: Description, schema: object): unknown {
  if ('default' in schema) return schema.default
  return '$ref' in schema ? defaultOf(document, resolve(document, schema)) : undefined
}

interface Value { schema?: object, content?: Content }

/** The names of the members that a schema declares, with those of its parts. */
export function membersOf (document: Description, schema: Schema): string[] {
  const parts = [...composedSchemas(schema, { '': document })]
  return parts.flatMap(({ properties }) => Object.keys(Object(properties)))
}

/** The schema of a parameter or field, or of its media type; its text may be JSON or a form. */
export function valueOf ({ schema = {}, content = {} }: Value) {
  const [first] = Object.entries(content)
  if (first === undefined) return { schema, isJson: false }
  const [type, media] = first
  const isJson = /^[^;]*[/+]json\s*(?:;|$)/i.test(type)
  const isForm = kindOf(type) === 'form'
  const schemaOfMedia = media.schema ?? (isJson || isForm ? {} : { type: 'string' })
  return { schema: schemaOfMedia, isJson, form: isForm ? media : undefined }
}
