// The versions of OpenAPI: which are read, how 3.0 becomes 3.1, and what of 3.2 is not served.
import { upgrade } from '@scalar/openapi-upgrader'
import type { Document, NodeType, Oas3Rule, UserContext } from '@redocly/openapi-core'
import { type Description, visitValues } from '../description/description.ts'
import { ContractError, locate } from '../files/findings.ts'
import { kindOf } from '../../message/media-type.ts'
import { isSchemaObject, mapValues, type Schema } from '../../schema/index.ts'
import { exclusiveBounds } from '../description/normalize.ts'
import { isSequence } from '../description/plain-content.ts'
import { report, unsupported } from './unsupported-features.ts'

/** @throws ContractError for a document of another version, which the linter may not know at all */
export function throwOtherVersion ({ parsed, source }: Document): void {
  const { openapi } = Object(parsed)
  if (typeof openapi === 'string' && /^3\.[012]\.\d+(?:-\S+)?$/.test(openapi)) return
  const field = ['openapi', 'swagger'].find(name => Object.hasOwn(Object(parsed), name)) ?? ''
  const place = locate({ source, pointer: `#/${field}`, reportOnKey: field !== '' })
  throw new ContractError([`${place} ${describeVersion(parsed)}`])
}

function describeVersion (parsed: unknown): string {
  const begin = 'begin it with `openapi: 3.1.0`.'
  if (parsed === undefined || parsed === null) return `The file is empty: ${begin}`
  const { openapi, swagger } = Object(parsed)
  const given = openapi ?? swagger ?? undefined
  if (given === undefined) return `The contract must be an object with a version: ${begin}`
  // YAML takes 2.0 for the number 2.
  const version = Number.isInteger(given) ? given.toFixed(1) : JSON.stringify(given)
  const text = version.replaceAll('"', '')
  return `Not supported: ${unsupported.version} (${text})${wayOutOf(text)}.`
}

/** What to write for a version that is incomplete or has blanks; Swagger 2.0 is another format. */
function wayOutOf (version: string): string {
  const [, supported] = /^\s*(3\.[012])(?!\d)/.exec(version) ?? []
  if (supported !== undefined) return `: write ${supported}.0`
  return version === '2.0' ? ': convert the contract to OpenAPI 3' : ''
}

/** A bundled description of OpenAPI 3.0 as one of 3.1; the others stay as they are. */
export function toOpenApi31 (document: Description): Description {
  if (!document.openapi.startsWith('3.0.')) return document
  const copy = JSON.parse(JSON.stringify(document), keepFormats) as Record<string, unknown>
  const upgraded = upgrade(copy, '3.1') as unknown as Description
  visitValues(upgraded, value => {
    if (isSchemaObject(value) && value.format === keptByte) Object.assign(value, { format: 'byte' })
  })
  return upgraded
}

/** The upgrade makes an annotation of format byte, which is checked otherwise. */
const keptByte = 'byte of OpenAPI 3.0'

/** The upgrade leaves no schema of a file. Without one, a text is no stream. */
function keepFormats (key: string, value: { schema?: Schema } | undefined | string): unknown {
  if (key === 'format' && value === 'byte') return keptByte
  if (typeof value !== 'object' || !/^text\//i.test(key)) return value
  if (value?.schema?.format !== 'binary') return value
  const { format, ...schema } = value.schema
  return { ...value, schema: { ...schema, contentMediaType: 'application/octet-stream' } }
}

/**
 * What the linter expects: keywords in all forms of `formsOfOtherVersion`, unknown keywords, which
 * `warningsOf` names, and media types by name; it takes each of `components/mediaTypes` for a map
 * of media types.
 */
export function withServedForms (types: Record<string, NodeType>): Record<string, NodeType> {
  const { properties, ...schema } = types.Schema as NodeType
  const names = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']
  const forms: NodeType['properties'] = {
    ...mapValues(exclusiveBounds, () => (value: unknown) => {
      return { type: typeof value === 'boolean' ? 'boolean' : 'number' }
    }),
    type: value => {
      return Array.isArray(value) ? { type: 'array', items: { enum: names } } : { enum: names }
    }
  }
  return {
    ...types,
    Schema: {
      ...schema,
      properties: { ...properties, ...forms },
      additionalProperties: (_value, name) => name === '$ref' ? undefined : null
    },
    NamedMediaTypes: { properties: {}, additionalProperties: 'MediaType' }
  }
}

/**
 * The keywords of a schema that have their form of another version: a number or a boolean for an
 * exclusive bound, and null or a list as `type`. None of them means anything else in its own one.
 */
export function formsOfOtherVersion (schema: Schema, isOpenApi30: boolean): string[] {
  const found = Object.keys(exclusiveBounds).filter(word => {
    return isOpenApi30 ? typeof schema[word] === 'number' : typeof schema[word] === 'boolean'
  })
  const { type } = schema
  if (isOpenApi30 && (type === 'null' || Array.isArray(type))) found.push('type')
  return found
}

/** A linter rule for what OpenAPI 3.2 adds to an object and what would mislead if ignored. */
export const newIn32Rule: Oas3Rule = () => ({
  Paths: {
    PathItem: {
      MediaType (media, context) {
        for (const field of ['prefixEncoding', 'itemEncoding']) {
          if (field in media) report(context, 'positions', field, field)
        }
        reportItems(media, context, isSequence)
      },
      RequestBody: {
        MediaType (media, context) {
          reportItems(media, context, type => kindOf(type) !== 'events')
        }
      }
    }
  }
})

/** @param hasItems whether the engine reads or writes the items of a media type */
function reportItems (media: object, context: UserContext, hasItems: (type: string) => boolean) {
  const type = String(context.key)
  if ('itemSchema' in media && !hasItems(type)) report(context, 'itemSchema', 'itemSchema', type)
}
