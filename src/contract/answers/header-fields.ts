// Writes the value of a header field as text: in style simple or as JSON (OpenAPI 3.1, section 4.8.21).
import { parseText, writeDeclared } from '../schema/index.ts'
import type { Validated } from '../schema/index.ts'
import type { Header } from '../types.ts'

/**
 * The items of a list, or one text.
 * @param declared from the validation: members that the schema does not declare are not sent, as in a body
 */
export function headerTexts (
  value: unknown,
  { explode = false, isJson = false }: Partial<Header> = {},
  declared: Extract<Validated, { value: unknown }>['declared'] = []
): string[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isJson && !isObject) return [value].flat().map(String)
  const json = writeDeclared(value, declared)
  if (isJson) return [inAscii(json)]
  const members = value as Record<string, unknown>
  const pairs = Object.keys(parseText(json) as object).map(name => `${name}${explode ? '=' : ','}${members[name]}`)
  return [pairs.join()]
}

/** Node writes header fields in Latin-1 (RFC 9110, section 5.5). */
function inAscii (json: string): string {
  return json.replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
