// Finds how a contract writes errors, so that the engine's own errors look the same.
import { kindOf, sentType } from '../message/media-type.ts'
import {
  type Compile, composedSchemas, readJson, type Schema, type Schemas
} from '../schema/index.ts'
import type { ErrorReporter } from '../server/error-reporter.ts'
import { STATUS_CODES } from '../server/node-http.ts'
import type { Contract } from '../types/contract.ts'

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
  const medias = errorMediaOf(contract)
  if (medias.length === 0) return plainShape
  for (const { type, schema } of medias) {
    const fill = fillerOf(schema, contract.schemas)
    if (fill === undefined) continue
    const text = Buffer.from(JSON.stringify(fill(400, sample)))
    if (readJson(compile(schema), text).fault !== undefined) continue
    return { errorBody: fill as ErrorShape['errorBody'], contentType: sentType(type) }
  }
  return undefined
}

/** What is wrong with a body that no error schema of the contract admits. */
export function errorFault (
  body: object,
  contract: Contract,
  compile: Compile
): string | undefined {
  let problem: string | undefined
  const text = Buffer.from(JSON.stringify(body))
  for (const { schema } of errorMediaOf(contract)) {
    const { fault } = readJson(compile(schema), text)
    if (fault === undefined) return undefined
    problem ??= `${fault.path === '' ? 'it' : `"${fault.path}"`} ${fault.problem}`
  }
  return problem
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

/** Makes the value of a schema for an error. */
type Fill = (status: number, message: string) => unknown

const sample = 'A sentence.'
const fillStatus: Fill = status => status
const fillTitle: Fill = status => STATUS_CODES[status]
const fillSentence: Fill = (_status, message) => message

/** Undefined where the name of a member does not tell what it holds. */
function fillerOf (schema: Schema, schemas: Schemas, name = '', depth = 0): Fill | undefined {
  if (depth > maxDepth) return undefined
  const below = (inner: unknown, innerName: string) => {
    return fillerOf(Object(inner), schemas, innerName, depth + 1)
  }
  const parts = [...composedSchemas(schema, schemas)]
  const types = parts.flatMap(({ type }) => type ?? [])
  const plainName = name.toLowerCase().replaceAll('_', '')
  if (types.includes('integer') || types.includes('number')) {
    return statusNames.test(plainName) ? fillStatus : undefined
  }
  if (types.includes('string')) {
    if (sentenceNames.test(plainName) || depth === 0) return fillSentence
    if (plainName === 'type') return () => 'about:blank'
    return titleNames.test(plainName) ? fillTitle : undefined
  }
  const items = parts.find(part => part.items !== undefined)?.items
  if (items !== undefined) {
    const item = below(items, 'message')
    return item && ((status, message) => [item(status, message)])
  }
  const members = new Map<string, Fill>()
  for (const [member, inner] of parts.flatMap(part => Object.entries(Object(part.properties)))) {
    const fill = below(inner, member)
    if (fill !== undefined && !members.has(member)) members.set(member, fill)
  }
  // In `{ error: string }` it is the only place for a sentence.
  const hasSentence = members.values().some(fill => fill === fillSentence)
  if (members.get('error') === fillTitle && !hasSentence) members.set('error', fillSentence)
  if (members.size === 0) return undefined
  return (status, message) => {
    const filled: Record<string, unknown> = {}
    for (const [member, fill] of members) filled[member] = fill(status, message)
    return filled
  }
}
