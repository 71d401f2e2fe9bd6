// JSON.parse() with exact member names, in spite of an error of V8.
import { randomBytes } from 'node:crypto'

type Reviver = Parameters<typeof JSON.parse>[1]
type Holder = Record<string, unknown>

/** Finds a name with an escape; finds some values with one, too. */
const escapedName = /\\.[^"\\]*"\s*:/s
/** Not `"`, `\` or a control character, which a name in a JSON text has only as an escape. */
const needsEscape = /[^ !#-[\]-\uffff]/
const colon = /\s*:/y

/** A name that begins with this stands for another one: no client can guess it. */
const marker = randomBytes(9).toString('base64url')

/**
 * Far fewer than the 8,190 levels from which V8 14.6 may end the process at a syntax error. RFC
 * 8259, section 9, admits a limit.
 */
const maxDepth = 1000

/**
 * JSON.parse(). Once V8 has read a name with a backslash, it may take that name for another one
 * with an escape (nodejs/node#63785): after `{"\\":1}` it reads `{"\n":1}` as `{"\\":1}`. In such
 * a text names without escapes replace those with escapes.
 * @param names gets each name that has an escape, in the order of the text
 * @throws SyntaxError
 * @throws RangeError when the text is nested too deeply
 */
export function parseText (text: string, reviver?: Reviver, names: string[] = []): unknown {
  if (text.length > maxDepth && hasManyBrackets(text)) checkDepth(text)
  const isAmbiguous = text.includes('\\') && escapedName.test(text)
  return isAmbiguous ? parseEscaped(text, reviver, names) : JSON.parse(text, reviver)
}

/** Most texts have few, and indexOf() takes a tenth of the time of checkDepth(). */
function hasManyBrackets (text: string): boolean {
  let count = 0
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++count > maxDepth) return true
    }
  }
  return false
}

function checkDepth (text: string): void {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: at = endOfString(text, at); break
      case openBracket: case openBrace: depth++; break
      case closeBracket: case closeBrace: depth--
    }
    if (depth > maxDepth) throw new RangeError(`more than ${maxDepth} levels`)
  }
}

const [quote, openBracket, closeBracket, openBrace, closeBrace] = Buffer.from('"[]{}')

/** The closing quote of a string, or the end of a text that is not JSON. */
export function endOfString (text: string, start: number): number {
  let end = start + 1
  for (; text[end] !== '"' && end < text.length; end++) if (text[end] === '\\') end++
  return end
}

function parseEscaped (text: string, reviver: Reviver, names: string[]): unknown {
  let value: unknown
  try {
    value = JSON.parse(withoutEscapedNames(text, names), reviver)
  } catch {
    // The text is no JSON, either: this throws the error with the right position.
    return JSON.parse(text, reviver)
  }
  return names.some(name => needsEscape.test(name)) ? withNames(value, names) : value
}

/**
 * Replaces each name that has an escape by its characters; one that needs an escape by a marker
 * and its index in `names`, which gets them all.
 */
function withoutEscapedNames (text: string, names: string[]): string {
  const parts: string[] = []
  let copied = 0
  let end: number
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', end + 1)) {
    end = endOfString(text, start)
    const source = text.slice(start, end + 1)
    if (!source.includes('\\')) continue
    colon.lastIndex = end + 1
    if (!colon.test(text)) continue
    const name: string = JSON.parse(source)
    const index = names.push(name) - 1
    const replacement = needsEscape.test(name) ? `${marker}${index}` : name
    parts.push(text.slice(copied, start + 1), replacement)
    copied = end
  }
  return parts.join('') + text.slice(copied)
}

/** Changes the parsed value in place. A loop, because it may be deeper than the stack. */
function withNames (value: unknown, names: readonly string[]): unknown {
  const root = { value }
  const pending: Holder[] = [root]
  for (const holder of pending) {
    for (const key of Object.keys(holder)) {
      const inner = holder[key]
      if (typeof inner !== 'object' || inner === null) continue
      const item = restore(inner as Holder, names)
      if (item !== inner) holder[key] = item
      pending.push(item)
    }
  }
  return root.value
}

/** The same object, or a copy with the names that markers stand for. */
function restore (object: Holder, names: readonly string[]): Holder {
  if (Array.isArray(object)) return object
  const keys = Object.keys(object)
  if (!keys.some(key => key.startsWith(marker))) return object
  const copy: Holder = {}
  for (const key of keys) {
    const value = object[key]
    const isMarked = key.startsWith(marker)
    // A member __proto__ is a member, not the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { ...memberAttributes, value })
    else copy[isMarked ? names[Number(key.slice(marker.length))] as string : key] = value
  }
  return copy
}

const memberAttributes = { configurable: true, enumerable: true, writable: true }
