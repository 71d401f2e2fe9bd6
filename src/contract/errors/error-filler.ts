// Fills the schema of an error, where the names of its members say what they hold.
import { composedSchemas, type Schema, type Schemas } from '../schema/index.ts'
import type { ErrorDetails } from '../server/error-reporter.ts'
import type { RequestFault } from '../server/http-error.ts'
import { STATUS_CODES } from '../server/node-http.ts'

/** An error, or one of its faults, which has a place. */
export interface Problem extends ErrorDetails, Partial<RequestFault> {
  status: number
  message: string
}
/** Makes the value of a schema for an error. */
export type Fill = (problem: Problem) => unknown

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

/** Whether a schema admits what a member gets. */
export type Admits = (schema: Schema, fill: Fill) => boolean

/**
 * Undefined where the name of a member does not tell what it holds.
 * @param place the member; of an object, optional ones that `admits` refuses are left out
 */
export function fillerOf (
  schema: Schema,
  schemas: Schemas,
  { name = '', depth = 0, isOfFault = false, admits = (): boolean => true }: Place = {}
): Fill | undefined {
  if (depth > maxDepth) return undefined
  const below = (inner: unknown, innerName: string, isItem = isOfFault) => {
    const place = { name: innerName, depth: depth + 1, isOfFault: isItem, admits }
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
  const required = requiredIn(parts)
  for (const [member, inner] of parts.flatMap(part => Object.entries(Object(part.properties)))) {
    const fill = below(inner, member)
    if (fill === undefined || members.has(member)) continue
    if (required.has(member) || admits(Object(inner), fill)) members.set(member, fill)
  }
  return members.size === 0 ? undefined : objectFiller(members, required)
}

interface Place { name?: string, depth?: number, isOfFault?: boolean, admits?: Admits }

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
