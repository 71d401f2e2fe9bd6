// Finds how a contract writes errors, so that the engine's own errors look the same.
import { kindOf, sentType } from './message/media-type.ts'
import {
  type Compile, composedSchemas, readJson, type Schema, type Schemas
} from './schema/index.ts'
import type { ErrorReporter } from './server/error-reporter.ts'
import { STATUS_CODES } from './server/node-http.ts'
import type { Contract } from './types/contract.ts'

type ErrorShape = Pick<ErrorReporter, 'errorBody' | 'contentType'>

/** The shape of Fastify's errors. */
export const plainShape: ErrorShape = {
  errorBody: (statusCode, message) => ({ statusCode, error: STATUS_CODES[statusCode], message })
}

/**
 * The shape that most of a contract's errors have, where the names of its members say what they
 * hold: a status, a title or a sentence. Without errors in JSON, it is the shape of Fastify's.
 * @returns undefined if no error of the contract can be filled so
 */
export function errorShape (contract: Contract, compile: Compile): ErrorShape | undefined {
  const { schemas } = contract
  const medias = errorMediaOf(contract)
  if (medias.length === 0) return plainShape
  for (const { type, schema } of medias) {
    const errorBody = (status: number, message: string) => {
      return valueFor(schema, schemas, status, message) as object
    }
    const sample = Buffer.from(JSON.stringify(errorBody(400, 'A sentence.') ?? null))
    if (readJson(compile(schema), sample).fault === undefined) {
      return { errorBody, contentType: sentType(type) }
    }
  }
  return undefined
}

interface ErrorMedia { type: string, schema: Schema, uses: number }

/** The media types and schemas of errors in JSON, those of most responses first. */
function errorMediaOf ({ operations }: Contract): ErrorMedia[] {
  const found = new Map<string, ErrorMedia>()
  for (const { responses } of Object.values(operations)) {
    for (const [key, { content = {} }] of Object.entries(responses)) {
      if (!/^(?:[45]|default)/.test(key)) continue
      for (const [type, { schema = {} }] of Object.entries(content)) {
        if (kindOf(type) !== 'json') continue
        const name = JSON.stringify([type, schema])
        const media = found.get(name) ?? { type, schema: schema as Schema, uses: 0 }
        media.uses++
        found.set(name, media)
      }
    }
  }
  return [...found.values()].toSorted((a, b) => b.uses - a.uses)
}

/** What members of errors hold, by their names in lower case and without underscores. */
const statusNames = /^(?:status|statuscode|code|errorcode|error|httpstatus)$/
const titleNames = /^(?:title|error|reason|name|status|code|errorcode)$/
const sentenceNames = /^(?:message|detail|details|description|errordescription|msg|errormessage)$/
/** Errors that contain themselves are not followed. */
const maxDepth = 4

/** A value of the schema that says what is wrong; undefined where its name does not tell. */
function valueFor (
  schema: Schema,
  schemas: Schemas,
  status: number,
  message: string,
  name = '',
  depth = 0
): unknown {
  if (depth > maxDepth) return undefined
  const below = (inner: unknown, innerName: string) => {
    return valueFor(Object(inner), schemas, status, message, innerName, depth + 1)
  }
  const parts = [...composedSchemas(schema, schemas)]
  const types = parts.flatMap(({ type }) => type ?? [])
  const plainName = name.toLowerCase().replaceAll('_', '')
  if (types.includes('integer') || types.includes('number')) {
    return statusNames.test(plainName) ? status : undefined
  }
  if (types.includes('string')) {
    if (sentenceNames.test(plainName) || depth === 0) return message
    if (plainName === 'type') return 'about:blank'
    return titleNames.test(plainName) ? STATUS_CODES[status] : undefined
  }
  const items = parts.find(part => part.items !== undefined)?.items
  if (items !== undefined) {
    const item = below(items, 'message')
    return item === undefined ? undefined : [item]
  }
  const members: Record<string, unknown> = {}
  for (const [member, inner] of parts.flatMap(part => Object.entries(Object(part.properties)))) {
    const value = below(inner, member)
    if (value !== undefined) members[member] ??= value
  }
  // In `{ error: string }` it is the only place for a sentence.
  const hasSentence = Object.values(members).includes(message)
  if (typeof members.error === 'string' && !hasSentence) members.error = message
  return Object.keys(members).length > 0 ? members : undefined
}
