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
export interface Fault {
  path: string
  problem: string
  /** The member of the value that is missing, or must not be there. */
  member?: string
}

export type Key = string | number

/**
 * Numbers that a double may round, by their object or array and key: bigints of an answer, sources
 * of a text.
 */
export type ExactNumbers = ReadonlyMap<unknown, ReadonlyMap<Key, bigint | string>>

/** The holder of a value, which has doubles for the numbers in `exact`. */
export interface Root {
  value: unknown
  exact?: ExactNumbers
  /** Whether the text may have a member called __proto__. */
  mayHaveProto?: boolean
}

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
  if (!isText && !isUtf8(json)) return faulty(`is not valid UTF-8 at ${placeOfInvalid(json)}`)
  const text = isText ? json : utf8.decode(json)
  const root: Root = { value: undefined }
  const escapedNames: string[] = []
  try {
    root.value = parseText(text, undefined, escapedNames)
  } catch (error) {
    if (error instanceof RangeError) return faulty(`${tooDeep}: ${error.message}`)
    return faulty(`is not valid JSON: ${faultIn(text, String(error))}`)
  }
  if (mayHaveLoneSurrogate(text) && hasLoneSurrogate(root)) {
    return faulty(`contains half of a surrogate pair at ${placeIn(text, halfPairIn(text))}`)
  }
  // The name may have escapes.
  if (text.includes('__proto__') || text.includes('\\u00')) root.mayHaveProto = true
  if (longOrExponent.test(text)) root.exact = sourcesOf(text, root, escapedNames)
  return root
}

export const tooDeep = 'is nested too deeply'

function faulty (problem: string): { fault: Fault } {
  return { fault: { path: '', problem } }
}

/** V8's message may quote the text, which must not reach the log: shows only one character. */
function faultIn (text: string, message: string): string {
  const [, found = unexpectedIn(text)] = /at position (\d+)/.exec(message) ?? []
  const position = Number(found)
  return `unexpected ${shown(text.codePointAt(position))} at ${placeIn(text, position)}`
}

function placeIn (text: string, position: number): string {
  // Without the second halves of surrogate pairs: editors count characters.
  const before = text.slice(0, position).replace(/[\udc00-\udfff]/g, '')
  const line = text.includes('\n') ? `line ${before.split('\n').length}, ` : ''
  return `${line}column ${before.length - before.lastIndexOf('\n')}`
}

const replacement = Buffer.from('\ufffd')

/** The place of the first bytes that are not UTF-8: decoded, they are U+FFFD. */
function placeOfInvalid (json: Uint8Array): string {
  const bytes = Buffer.from(json)
  const text = bytes.toString()
  let position = text.indexOf('\ufffd')
  let offset = Buffer.byteLength(text.slice(0, position))
  // The text may have the character itself.
  while (bytes.subarray(offset, offset + replacement.length).equals(replacement)) {
    const next = text.indexOf('\ufffd', position + 1)
    offset += Buffer.byteLength(text.slice(position, next))
    position = next
  }
  return placeIn(text, position)
}

/** Whole pairs, halves of one, and all other escapes. */
const escapes =
  /\\u[dD][89abAB][^]{2}\\u[dD][c-fC-F][^]{2}|\\u(?<half>[dD][89a-fA-F][^]{2})|\\[^]/g

function halfPairIn (text: string): number {
  return Number(text.matchAll(escapes).find(({ groups }) => groups?.half !== undefined)?.index)
}

function shown (code?: number): string {
  if (code === undefined) return 'end'
  const isPrintable = code > 0x20 && code < 0x7f
  return isPrintable ? `'${String.fromCharCode(code)}'` : `U+${code.toString(16).padStart(4, '0')}`
}

/** What comes before a character that begins no value, or the end. */
const beforeNoValue = /(?:^|[:,])[ \t\r\n]*(?![ \t\r\n\d{[-])|\[[ \t\r\n]*(?![ \t\r\n\d{[\]-])|$/

/** Where a value should begin but does not: V8's only error without a position. */
function unexpectedIn (text: string): number {
  // Numbers stand for strings and words.
  const parts: string[] = []
  let copied = 0
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', copied)) {
    const end = endOfString(text, start) + 1
    parts.push(text.slice(copied, start), '0'.repeat(end - start))
    copied = end
  }
  const bare = parts.join('') + text.slice(copied)
  const numbers = bare.replace(/true|false|null/g, word => '0'.repeat(word.length))
  const { index, 0: before } = beforeNoValue.exec(numbers) as RegExpExecArray
  return index + before.length
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
