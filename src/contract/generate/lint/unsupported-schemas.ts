// Reports the features of schemas that this service does not serve.
import type { Oas3Schema, UserContext } from '@redocly/openapi-core'
import { escapedKey, references, type Schema } from '../../schema/index.ts'
import { report } from './unsupported-features.ts'

const dialects = [
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://spec.openapis.org/oas/3.2/dialect/2025-09-17',
  'https://json-schema.org/draft/2020-12/schema'
]

/** @param field of the description or of a schema */
export function reportDialect (node: object, field: string, context: UserContext): void {
  const uri = (node as Schema)[field]
  if (uri === undefined || dialects.includes(String(uri).replace(/#$/, ''))) return
  report(context, 'dialect', field, uri)
}

export function reportSchema (schema: Schema, context: UserContext): void {
  const { type, format, $id, $schema } = schema
  for (const word of ['$anchor', '$dynamicAnchor', '$dynamicRef']) {
    if (word in schema) report(context, 'anchor', word, word)
  }
  if ($id !== undefined && isBase(schema, context)) report(context, 'id', '$id', $id)
  if (typeof $schema === 'string') reportDialect(schema, '$schema', context)
  if (format === 'int64' && !mayBeInt64([type].flat())) report(context, 'int64', 'format')
}

/**
 * Whether the $id of a schema changes what a $ref in it means (JSON Schema 2020-12 core, section
 * 8.2.1), or may be what a relative $ref elsewhere in the file means.
 */
function isBase (schema: Schema, { location, resolve }: UserContext): boolean {
  const isFile = location.pointer === '#/'
  if (!isFile && !URL.canParse(String(schema.$id))) return true
  for (const $ref of references(schema)) {
    const [file = ''] = $ref.split('#')
    if (URL.canParse(file) || (file === '' && isFile)) continue
    const target = resolve<Schema>({ $ref: file }).node
    const meant = URL.parse(file, String(schema.$id))?.href
    if (file === '' || meant === undefined || meant !== target?.$id) return true
  }
  return false
}

/** The default of a discriminator is one of the schemas that it distinguishes. */
export function reportDefault (schema: object, schemas: object, context: UserContext): void {
  const { discriminator, oneOf } = schema as Oas3Schema
  const name = discriminator?.defaultMapping
  if (name === undefined || oneOf === undefined) return
  const target = Object.hasOwn(schemas, name) ? `#/components/schemas/${escapedKey(name)}` : name
  const isBranch = oneOf.some(branch => {
    return '$ref' in branch && [branch.$ref, decodeURIComponent(branch.$ref)].includes(target)
  })
  if (!isBranch) report(context, 'defaultMapping', 'discriminator', name)
}

/** A number or a string, or one of them and null. */
function mayBeInt64 (types: unknown[]): boolean {
  const others = types.filter(type => type !== 'null')
  if (others.length !== 1 || types.length > 2) return false
  return ['integer', 'number', 'string'].includes(String(others[0]))
}
