// Parses JSON without rounding: checks UTF-8, and keeps the text of numbers beyond a double.
import { isUtf8 } from 'node:buffer'
import { endOfString, parseText } from './json-text.ts'

declare global {
  // ECMA-262, JSON.parse source text access; TypeScript 5.9 does not know it yet.
  interface JSON {
    rawJSON (text: string): object
  }
}

/** A problem of a value, as the end of a sentence. `path` is a JSON pointer without its slash. */
export interface Fault { path: string, problem: string }

export type Key = string | number

/**
 * Numbers that a double may round, by their object or array and key: bigints of an answer, sources
 * of a text.
 */
export type ExactNumbers = ReadonlyMap<unknown, ReadonlyMap<Key, bigint | string>>

/** The holder of a value, which has doubles for the numbers in `exact`. */
export interface Root { value: unknown, exact?: ExactNumbers }

const utf8 = new TextDecoder()

const escapedSurrogate = /\\u[dD][89a-fA-F]/
/** Escapes of surrogate pairs and of all other characters. */
const wholeEscapes =
  /\\(?:u[dD][89abAB][^]{2}\\u[dD][c-fC-F][^]{2}|[^u]|u(?![dD][89a-fA-F]))/g
// A double holds every number of fifteen digits that has no exponent.
const longOrExponent = /\d(?:[\d.]{15}|[eE][-+\d])/

/**
 * Parses a JSON text (RFC 8259). Ignores a byte order mark; the last of duplicate members counts.
 * @returns a fault when the bytes are not UTF-8, not JSON, or contain half of a surrogate pair
 * (RFC 7493, section 2.1)
 */
export function parseJson (
  json: Uint8Array | string
): Root & { fault?: undefined } | { fault: Fault } {
  const isText = typeof json === 'string'
  if (!isText && !isUtf8(json)) return faulty('is not valid UTF-8')
  const text = isText ? json : utf8.decode(json)
  const root: Root = { value: undefined }
  const escapedNames: string[] = []
  try {
    root.value = parseText(text, undefined, escapedNames)
  } catch (error) {
    return faulty(`is not valid JSON${positionIn(String(error))}`)
  }
  if (mayHaveLoneSurrogate(text) && hasLoneSurrogate(root)) {
    return faulty('contains a lone surrogate in a string')
  }
  if (longOrExponent.test(text)) root.exact = sourcesOf(text, root, escapedNames)
  return root
}

function faulty (problem: string): { fault: Fault } {
  return { fault: { path: '', problem } }
}

/** V8's message may quote the text, which must not reach the log: keep only the position. */
function positionIn (message: string): string {
  const [, position] = /at position (\d+)/.exec(message) ?? []
  return position === undefined ? '' : ` at position ${position}`
}

function mayHaveLoneSurrogate (text: string): boolean {
  return escapedSurrogate.test(text) && escapedSurrogate.test(text.replace(wholeEscapes, ''))
}

/** A loop, because a parsed value may be deeper than the stack. */
function hasLoneSurrogate (root: Root): boolean {
  const pending: unknown[] = [root]
  for (const item of pending) {
    if (typeof item === 'string' && !item.isWellFormed()) return true
    if (typeof item !== 'object' || item === null) continue
    if (!Array.isArray(item)) for (const key of Object.keys(item)) pending.push(key)
    for (const member of Object.values(item)) pending.push(member)
  }
  return false
}

interface Place { holder: unknown, key: Key }

/**
 * Follows a valid JSON text and its parsed value side by side, and lists the sources of the numbers
 * that a double may round. A reviver of JSON.parse would be shorter, but takes up to a microsecond
 * for every element. An array holds the outer places, because a text may be deeper than the stack.
 */
function sourcesOf (text: string, root: Root, escapedNames: string[]): ExactNumbers {
  const names = escapedNames.values()
  const sources = new Map<unknown, Map<Key, string>>()
  const outer: Place[] = []
  let place: Place = { holder: root, key: 'value' }
  let string = ''
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string
    if (character === '{' || character === '[') {
      outer.push(place)
      place = { holder: valueIn(place), key: character === '[' ? 0 : '' }
    } else if (character === '}' || character === ']') {
      place = outer.pop() as Place
    } else if (character === ',') {
      if (typeof place.key === 'number') place.key++
    } else if (character === '"') {
      const end = endOfString(text, i)
      string = text.slice(i + 1, end)
      i = end
    } else if (character === ':') {
      place.key = string.includes('\\') ? names.next().value as string : string
    } else if (numberStart.has(character)) {
      const end = endOfNumber(text, i)
      note(sources, place, text.slice(i, end))
      i = end - 1
    }
  }
  return sources
}

/** May be undefined or inherited where a later duplicate member replaced the value: never read. */
function valueIn ({ holder, key }: Place): unknown {
  const hasMembers = typeof holder === 'object' && holder !== null
  return hasMembers ? (holder as Record<Key, unknown>)[key] : undefined
}

const numberStart = new Set('-0123456789')
const numberCharacters = new Set('-0123456789.+eE')

function endOfNumber (text: string, start: number): number {
  let end = start + 1
  while (numberCharacters.has(text[end] as string)) end++
  return end
}

function note (sources: Map<unknown, Map<Key, string>>, place: Place, source: string): void {
  const { holder, key } = place
  const ofHolder = sources.get(holder)
  // The last of duplicate members counts.
  if (!longOrExponent.test(source)) ofHolder?.delete(key)
  else if (ofHolder !== undefined) ofHolder.set(key, source)
  else sources.set(holder, new Map<Key, string>().set(key, source))
}

/** An answer's value with doubles for bigints, which ajv does not know. */
export function toDoubles (value: unknown): Root {
  const exact = new Map<unknown, ReadonlyMap<Key, bigint>>()
  const note = (copy: object, bigints: ReadonlyMap<Key, bigint>) => exact.set(copy, bigints)
  return Object.assign(replaceBigints({ value }, Number, note) as Root, { exact })
}

/**
 * A value with others for its bigints. Copies what it changes.
 * @param onCopy gets each copy that has had bigints, and these by key
 */
export function replaceBigints (
  value: unknown,
  replace: (integer: bigint) => unknown,
  onCopy: (copy: object, bigints: ReadonlyMap<Key, bigint>) => void = () => {}
): unknown {
  if (typeof value === 'bigint') return replace(value)
  if (typeof value !== 'object' || value === null || writesItself(value)) return value
  const members = value as Record<string, unknown>
  let copy: typeof members | undefined
  let bigints: Map<Key, bigint> | undefined
  for (const name of Object.keys(members)) {
    const member = members[name]
    if (typeof member !== 'bigint' && typeof member !== 'object') continue
    const replaced = replaceBigints(member, replace, onCopy)
    if (replaced === member) continue
    copy ??= Array.isArray(value) ? [...value] as never : { ...members }
    copy[name] = replaced
    if (typeof member !== 'bigint') continue
    bigints ??= new Map()
    bigints.set(Array.isArray(value) ? Number(name) : name, member)
  }
  if (copy !== undefined && bigints !== undefined) onCopy(copy, bigints)
  return copy ?? value
}

/** Whether JSON.stringify() calls a method of the value, as for a Date. */
export function writesItself (value: object): value is { toJSON: (key: string) => unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}
