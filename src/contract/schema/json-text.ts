// JSON.parse() with exact member names, in spite of an error of V8.
import { randomUUID } from 'node:crypto'

type Reviver = Parameters<typeof JSON.parse>[1]
type Holder = Record<string | number, unknown>

/** Finds a name with an escape; finds some values with one, too. */
const escapedName = /\\.[^"\\]*"\s*:/s

/** The first item of an array that stands for an object: no client can guess it. */
const marker = randomUUID()

/**
 * JSON.parse(). Once V8 has read a name with a backslash, it may take that name for another one
 * with an escape (nodejs/node#63785): after `{"\\":1}` it reads `{"\n":1}` as `{"\\":1}`. Such a
 * text is read again, with its names as items of arrays.
 * @throws SyntaxError
 */
export function parseText (text: string, reviver?: Reviver): unknown {
  const value = JSON.parse(text, reviver)
  const isAmbiguous = text.includes('\\') && escapedName.test(text)
  return isAmbiguous ? withObjects(JSON.parse(asArrays(text), reviver)) : value
}

/** The closing quote of a string. */
export function endOfString (text: string, start: number): number {
  let end = start + 1
  for (; text[end] !== '"'; end++) if (text[end] === '\\') end++
  return end
}

/** A valid text in which `{"a":[1]}` is `["marker","a",[1]]`. */
function asArrays (text: string): string {
  const parts: string[] = []
  let copied = 0
  const replace = (start: number, by: string) => {
    parts.push(text.slice(copied, start), by)
    copied = start + 1
  }
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (character === '"') i = endOfString(text, i)
    else if (character === '{') replace(i, isEmpty(text, i) ? `["${marker}"` : `["${marker}",`)
    else if (character === '}') replace(i, ']')
    else if (character === ':') replace(i, ',')
  }
  return parts.join('') + text.slice(copied)
}

const closing = /\s*\}/y

function isEmpty (text: string, start: number): boolean {
  closing.lastIndex = start + 1
  return closing.test(text)
}

/** Changes the parsed arrays in place. A loop, because they may be deeper than the stack. */
function withObjects (value: unknown): unknown {
  const root = { value }
  const pending: Holder[] = [root]
  for (const holder of pending) {
    for (const name of Object.keys(holder)) {
      const inner = holder[name]
      if (!Array.isArray(inner)) continue
      const item = inner[0] === marker ? toObject(inner) : inner as never
      holder[name] = item
      pending.push(item)
    }
  }
  return root.value
}

const memberAttributes = { configurable: true, enumerable: true, writable: true }

/** A member `__proto__` is a member, not the prototype. */
function toObject (names: unknown[]): Holder {
  const object: Holder = {}
  for (let i = 1; i < names.length; i += 2) {
    const [name, value] = [names[i] as string, names[i + 1]]
    if (name !== '__proto__') object[name] = value
    else Object.defineProperty(object, name, { ...memberAttributes, value })
  }
  return object
}
