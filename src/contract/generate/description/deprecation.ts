// The dates of deprecated operations: the extensions x-deprecation and x-sunset, which become the
// header fields Deprecation (RFC 9745) and Sunset (RFC 8594).
import type { Oas3Operation, UserContext } from '@redocly/openapi-core'

const words = ['x-deprecation', 'x-sunset'] as const
type Dated = Oas3Operation & Partial<Record<typeof words[number], unknown>>

/** Reports dates that are none, or that contradict the operation. */
export function reportDates (operation: Oas3Operation, { report, location }: UserContext): void {
  const dated: Dated = operation
  for (const word of words) {
    const message = faultOf(word, dated)
    if (message !== undefined) report({ message, location: location.child(word).key() })
  }
}

function faultOf (word: typeof words[number], operation: Dated): string | undefined {
  // An object is an extension of somebody else.
  if (['undefined', 'object'].includes(typeof operation[word])) return undefined
  const date = toDate(operation[word])
  if (date === undefined) {
    return `${word} is no date: write it as 2026-01-31 or 2026-01-31T12:00:00Z.`
  }
  if (operation.deprecated !== true) return `${word} needs \`deprecated: true\` beside it.`
  const start = toDate(operation['x-deprecation'])
  if (start !== undefined && date < start) {
    return 'x-sunset is before x-deprecation, which RFC 9745 forbids (section 4).'
  }
  return undefined
}

/** The header fields of all responses of an operation; undefined without dates. */
export function deprecationFields (operation: Oas3Operation): Record<string, string> | undefined {
  const dated: Dated = operation
  const [start, end] = words.map(word => toDate(dated[word]))
  const fields: Record<string, string> = {}
  // A date of structured fields (RFC 9651, section 3.3.7).
  if (start !== undefined) fields.Deprecation = `@${Math.floor(start.getTime() / 1000)}`
  if (end !== undefined) fields.Sunset = end.toUTCString()
  return start ?? end ? fields : undefined
}

const dateTime = /^(\d{4}-\d\d-\d\d)(?:[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))?$/

/** A date, of which the day begins in UTC, or a date with its time (RFC 3339). */
function toDate (value: unknown): Date | undefined {
  const [text = '', day = ''] = dateTime.exec(String(value)) ?? []
  const date = new Date(text)
  // Date takes 2026-02-30 for a day of March.
  const isDay = new Date(day).getUTCDate() === Number(day.slice(-2))
  return isDay && !Number.isNaN(date.getTime()) ? date : undefined
}
