// Reads a field of a form, or a body of text, as JSON, a number or a boolean before a string.
import { parseJson, parseText, readJson, type Validated } from '../schema/index.ts'
import { scalarJson } from './text-json.ts'
import type { TextSchema } from './text-schema.ts'

/** A text as JSON, and whether it is valid. */
type FieldValue = Validated & { json: string }

/** The first valid reading of a text, or the fault of the first, or of JSON that is malformed. */
export function readField (text: string, schema: TextSchema, isJson = false): FieldValue {
  const json = firstValid(readingsOf(text, schema, isJson), schema)
  const read = { ...readJson(schema.validator(), json), json }
  const isMalformed = isJson && read.fault !== undefined && !isJsonText(text)
  return isMalformed ? { ...readJson(schema.validator(), text), json } : read
}

/** The JSON of a text. It is validated only if the types allow several readings. */
export function fieldJson (text: string, schema: TextSchema): string {
  return firstValid(readingsOf(text, schema, false), schema)
}

/** Finds no fault of a reading that is not taken: a form may have very many texts. */
function firstValid ([first, ...others]: Readings, schema: TextSchema): string {
  if (others.length === 0 || accepts(schema, first)) return first
  return others.find(json => accepts(schema, json)) ?? first
}

function accepts (schema: TextSchema, json: string): boolean {
  const root = parseJson(json)
  return root.fault === undefined && schema.validator().accepts(root)
}

type Readings = [string, ...string[]]

function readingsOf (text: string, schema: TextSchema, isJson: boolean): Readings {
  const { types } = schema
  const scalar = scalarJson(text, types)
  const readings = new Set<string>()
  const mayBeJson = isJson || types.has('object') || schema.item() !== undefined
  if (mayBeJson && isJsonText(text)) readings.add(text)
  // A text that no type takes is a string, so that its fault is found.
  if (readings.size === 0 || scalar === text) readings.add(scalar)
  if (types.size === 0 || types.has('string')) readings.add(JSON.stringify(text))
  return [...readings] as Readings
}

/** What JSON may begin with. The error of JSON.parse() takes microseconds. */
const startOfJson = /^[ \t\r\n]*["[{\d\-tfn]/

function isJsonText (text: string): boolean {
  try {
    if (!startOfJson.test(text)) return false
    parseText(text)
    return true
  } catch {
    return false
  }
}
