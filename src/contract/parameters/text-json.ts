// Writes texts as JSON by their schema; parsing and validating that keeps integers exact.
import { escapedKey, type Fault, shorten } from '../schema/index.ts'
import type { TextSchema } from './text-schema.ts'

/** The JSON of a value, or why there is none. */
export type Json = string | Fault

/** Writes one text, or those of one name. What the contract does not declare has no schema. */
export interface TextWriter {
  one (text: string, schema: TextSchema | undefined): string
  several (texts: readonly string[], schema: TextSchema | undefined): Json
}

export function faulty (problem: string): Fault {
  return { path: '', problem }
}

/** The fault of a member as one of the object around it. */
export function faultIn (name: string, { path, problem }: Fault): Fault {
  return { path: shorten(escapedKey(name)) + (path && `/${path}`), problem }
}

export const repetition = faulty('is sent more than once')

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/

/** A number (RFC 8259, section 6) or a boolean where a value may have this type, else a string. */
export function scalarJson (text: string, types: ReadonlySet<string>): string {
  if ((types.has('integer') || types.has('number')) && number.test(text)) return text
  const isBoolean = types.has('boolean') && (text === 'true' || text === 'false')
  return isBoolean ? text : JSON.stringify(text)
}

/** The JSON of an object of these members, or the first fault of one. */
export function objectJson (members: Iterable<readonly [name: string, json: Json]>): Json {
  const texts: string[] = []
  for (const [name, json] of members) {
    if (typeof json !== 'string') return faultIn(name, json)
    texts.push(`${JSON.stringify(name)}:${json}`)
  }
  return `{${texts.join()}}`
}

/** The JSON of an object whose members have these texts. */
export function pairsJson (
  pairs: ReadonlyArray<readonly [name: string, text: string]>,
  schema: TextSchema,
  writer: TextWriter
): Json {
  const members = new Map<string, Json>()
  for (const [name, ofName] of Map.groupBy(pairs, ([name]) => name)) {
    members.set(name, writer.several(ofName.map(([, text]) => text), schema.member(name)))
  }
  return objectJson(members)
}
