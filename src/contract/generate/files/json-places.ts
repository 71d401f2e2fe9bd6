// Finds the places of JSON pointers in a JSON text. The linter's finder makes a tree of the whole
// file, which takes ten times its size.
import { type Source, unescapePointerFragment } from '@redocly/openapi-core'

/** The offsets of a value, and of its name in an object. */
interface Part { value: number, name?: number }

const partsOf = new WeakMap<Source, Map<number, Map<string, Part>>>()

/**
 * The line and column of a value, or of the innermost one around it that the text has.
 * @param onKey whether to find its name instead
 * @throws Error for a text that is not JSON
 */
export function placeInJson (
  source: Source,
  pointer: string,
  onKey: boolean
): { line: number, col: number } {
  const text = source.body
  const known = partsOf.get(source) ?? new Map<number, Map<string, Part>>()
  partsOf.set(source, known)
  let part: Part = { value: nextToken(text, 0).start }
  for (const key of pointer.split('/').slice(1)) {
    const inner = known.get(part.value) ?? partsAt(text, part.value)
    known.set(part.value, inner)
    part = inner.get(unescapePointerFragment(key)) ?? part
  }
  const before = text.slice(0, (onKey ? part.name : undefined) ?? part.value)
  return { line: before.split('\n').length, col: before.length - before.lastIndexOf('\n') }
}

/** The members of an object or the items of an array; the first of members with the same name. */
function partsAt (text: string, start: number): Map<string, Part> {
  const parts = new Map<string, Part>()
  if (!'{['.includes(text[start] as string)) return parts
  let first = nextToken(text, start + 1)
  while (!'}]'.includes(first.token)) {
    const isMember = text[start] === '{'
    const name = isMember ? JSON.parse(first.token) as string : String(parts.size)
    const value = isMember ? nextToken(text, first.end) : first
    const part = isMember ? { value: value.start, name: first.start } : { value: value.start }
    if (!parts.has(name)) parts.set(name, part)
    first = nextToken(text, endOf(text, value))
  }
  return parts
}

interface Token { token: string, start: number, end: number }

const tokens = /[\s,:]*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|-?\d[-+.\deE]*|true|false|null)/y

function nextToken (text: string, from: number): Token {
  tokens.lastIndex = from
  const [all, token] = tokens.exec(text) ?? []
  if (all === undefined || token === undefined) throw new Error('The text is not JSON.')
  const end = from + all.length
  return { token, start: end - token.length, end }
}

/** The end of the value that begins with a token. */
function endOf (text: string, first: Token): number {
  let last = first
  let depth = 0
  while (true) {
    if ('{['.includes(last.token)) depth++
    if ('}]'.includes(last.token)) depth--
    if (depth === 0) return last.end
    last = nextToken(text, last.end)
  }
}
