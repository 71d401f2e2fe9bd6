// Reads a field of a form, or a body of text, as JSON, a number or a boolean before a string.
import { parseText, readJson, type Validated } from '../schema/index.ts'
import { scalarJson } from './text-json.ts'
import type { TextSchema } from './text-schema.ts'

/** A text as JSON, and whether it is valid. */
type FieldValue = Validated & { json: string }

/** The first valid reading of a text, or the fault of the first. */
export function readField (text: string, schema: TextSchema, isJson = false): FieldValue {
  let first: FieldValue | undefined
  for (const json of readingsOf(text, schema, isJson)) {
    const value = { ...readJson(schema.validator(), json), json }
    if (value.fault === undefined) return value
    first ??= value
  }
  return first as FieldValue
}

/** The JSON of a text. It is validated only if the types allow several readings. */
export function fieldJson (text: string, schema: TextSchema): string {
  const readings = readingsOf(text, schema, false)
  return readings.size === 1 ? [...readings].join() : readField(text, schema).json
}

function readingsOf (text: string, schema: TextSchema, isJson: boolean): Set<string> {
  const { types } = schema
  const readings = new Set<string>()
  const mayBeJson = isJson || types.has('object') || schema.item() !== undefined
  if (mayBeJson && isJsonText(text)) readings.add(text)
  readings.add(scalarJson(text, types))
  if (types.size === 0 || types.has('string')) readings.add(JSON.stringify(text))
  return readings
}

function isJsonText (text: string): boolean {
  try {
    parseText(text)
    return true
  } catch {
    return false
  }
}
