// Finds how a contract writes errors, so that the engine's own errors look the same.
import { kindOf, sentType } from '../message/media-type.ts'
import {
  type Compile, composedSchemas, readJson, type Schema, type Schemas
} from '../schema/index.ts'
import type { ErrorDetails, ErrorReporter } from '../server/error-reporter.ts'
import type { RequestFault } from '../server/http-error.ts'
import { STATUS_CODES } from '../server/node-http.ts'
import type { Contract } from '../types/contract.ts'

type ErrorShape = Pick<ErrorReporter, 'errorBody' | 'contentType'>

/** The shape of Fastify's errors. */
export const plainShape: ErrorShape = {
  errorBody: (statusCode, message) => ({ statusCode, error: STATUS_CODES[statusCode], message })
}

/**
 * The shape that most of a contract's errors have, where the names of its members say what they
 * hold: a status, a title, a sentence, and what else `ofErrors` below knows. Without errors in
 * JSON, it is the shape of Fastify's.
 * @returns what is wrong with the first error if none can be filled so
 */
export function errorShape (contract: Contract, compile: Compile): ErrorShape | string {
  let first: string | undefined
  for (const { type, schema } of errorMediaOf(contract)) {
    const fill = fillerOf(schema, contract.schemas)
    const problem = fill === undefined ? unknownNames : faultOfSamples(fill, schema, compile)
    first ??= problem
    if (fill === undefined || problem !== undefined) continue
    return {
      errorBody: (status, message, details) => fill({ ...details, status, message }) as object,
      contentType: sentType(type)
    }
  }
  return first ?? plainShape
}

const unknownNames = 'no member is a status, a title or a sentence'

/** The media type of most errors of a contract; undefined where none is JSON. */
export function errorType (contract: Contract): string | undefined {
  const [first] = errorMediaOf(contract)
  return first && sentType(first.type)
}

/** What is wrong with a body that no error schema of the contract admits. */
export function errorFault (
  body: object,
  contract: Contract,
  compile: Compile
): string | undefined {
  let first: string | undefined
  for (const { schema } of errorMediaOf(contract)) {
    const problem = faultIn(body, schema, compile)
    if (problem === undefined) return undefined
    first ??= problem
  }
  return first
}

function faultIn (body: unknown, schema: Schema, compile: Compile): string | undefined {
  const { fault } = readJson(compile(schema), Buffer.from(JSON.stringify(body)))
  return fault && `${fault.path === '' ? 'it' : `"${fault.path}"`} ${fault.problem}`
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

/** An error, or one of its faults, which has a place. */
interface Problem extends ErrorDetails, Partial<RequestFault> { status: number, message: string }
/** Makes the value of a schema for an error. */
type Fill = (problem: Problem) => unknown

const sample: Problem = {
  status: 400, message: 'A sentence.', requestId: '00000000-0000-4000-8000-000000000000', faults: []
}
const sampleFault: RequestFault = { in: 'body', path: '/member', message: 'A sentence.' }

function faultOfSamples (fill: Fill, schema: Schema, compile: Compile): string | undefined {
  return faultIn(fill(sample), schema, compile) ??
    faultIn(fill({ ...sample, faults: [sampleFault] }), schema, compile)
}

const fillStatus: Fill = ({ status }) => status
const fillTitle: Fill = ({ status }) => STATUS_CODES[status]
const fillSentence: Fill = ({ message }) => message
/** The whole request has the empty path. */
const fillPath: Fill = ({ path = '' }) => path
const fillKeys: Fill = ({ in: place, path = '' }) => [place, ...path.split('/')].filter(Boolean)

type ByName = ReadonlyArray<[names: RegExp, Fill]>

const always: ByName = [
  [/^(?:message|detail|details|description|errordescription|msg|errormessage)$/, fillSentence],
  [/^(?:requestid|traceid|correlationid)$/, ({ requestId }) => requestId],
  [/^timestamp$/, () => new Date().toISOString()]
]
/** What texts of errors hold, by their names in lower case and without underscores. */
const ofErrors: ByName = [
  ...always,
  [/^type$/, () => 'about:blank'],
  [/^(?:title|error|reason|name|status|code|errorcode)$/, fillTitle]
]
const placeNames = /^(?:path|pointer|field|property|parameter|param|name|loc|location)$/
/** What texts of the items of a list hold, if one of them is a place. */
const ofFaults: ByName = [
  ...always, [placeNames, fillPath], [/^reason$/, fillSentence], [/^(?:title|error)$/, fillTitle]
]
const statusNames = /^(?:status|statuscode|code|errorcode|error|httpstatus)$/
/** Errors that contain themselves are not followed. */
const maxDepth = 4

/** Those that fill a place, and lists of those. */
const placing = new WeakSet<Fill>([fillPath, fillKeys])
const faultLists = new WeakSet<Fill>()

/** Undefined where the name of a member does not tell what it holds. */
function fillerOf (
  schema: Schema,
  schemas: Schemas,
  { name = '', depth = 0, isOfFault = false } = {}
): Fill | undefined {
  if (depth > maxDepth) return undefined
  const below = (inner: unknown, innerName: string, isItem = isOfFault) => {
    const place = { name: innerName, depth: depth + 1, isOfFault: isItem }
    return fillerOf(Object(inner), schemas, place)
  }
  const parts = [...composedSchemas(schema, schemas)]
  const types = parts.flatMap(({ type }) => type ?? [])
  const plainName = name.toLowerCase().replaceAll('_', '')
  if (types.includes('integer') || types.includes('number')) {
    return statusNames.test(plainName) ? fillStatus : undefined
  }
  if (types.includes('string')) {
    if (depth === 0) return fillSentence
    return (isOfFault ? ofFaults : ofErrors).find(([names]) => names.test(plainName))?.[1]
  }
  const items = parts.find(part => part.items !== undefined)?.items
  if (items !== undefined) {
    if (isOfFault && placeNames.test(plainName)) return fillKeys
    const ofFault = below(items, 'message', true)
    const isFaultList = ofFault !== undefined && placing.has(ofFault)
    return listFiller(isFaultList ? ofFault : below(items, 'message'), isFaultList)
  }
  const members = new Map<string, Fill>()
  for (const [member, inner] of parts.flatMap(part => Object.entries(Object(part.properties)))) {
    const fill = below(inner, member)
    if (fill !== undefined && !members.has(member)) members.set(member, fill)
  }
  return members.size === 0 ? undefined : objectFiller(members, requiredIn(parts))
}

function requiredIn (parts: readonly Schema[]): Set<unknown> {
  return new Set(parts.flatMap(({ required }) => required ?? []))
}

function listFiller (fill: Fill | undefined, isFaultList: boolean): Fill | undefined {
  if (fill === undefined) return undefined
  const list: Fill = problem => {
    const { faults } = problem
    if (faults.length === 0) return [fill(problem)]
    return faults.map(fault => fill({ ...problem, ...fault }))
  }
  if (isFaultList) faultLists.add(list)
  return list
}

function objectFiller (members: Map<string, Fill>, required: ReadonlySet<unknown>): Fill {
  const hasSentence = members.values().some(fill => fill === fillSentence)
  // In `{ error: string }` it is the only place for a sentence.
  if (members.get('error') === fillTitle && !hasSentence) members.set('error', fillSentence)
  const object: Fill = problem => {
    const filled: Record<string, unknown> = {}
    for (const [member, fill] of members) {
      const hasNone = faultLists.has(fill)
        ? hasSentence && problem.faults.length === 0
        : placing.has(fill) && problem.path === undefined
      if (hasNone && !required.has(member)) continue
      filled[member] = hasNone && faultLists.has(fill) ? [] : fill(problem)
    }
    return filled
  }
  if (members.values().some(fill => placing.has(fill))) placing.add(object)
  return object
}
