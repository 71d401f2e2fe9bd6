// JSON.parse() with exact member names, in spite of an error of V8.

type Reviver = Parameters<typeof JSON.parse>[1]
type Holder = Record<string | number, unknown>

/** Finds a name with an escape; finds some values with one, too. */
const escapedName = /\\.[^"\\]*"\s*:/s
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[[{]\s*[\]}]?|[}:]/gs

/**
 * JSON.parse(). Once V8 has read a name with a backslash, it may take that name for another one with an escape
 * (nodejs/node#63785): after `{"\\":1}` it reads `{"\n":1}` as `{"\\":1}`. Such a text is read again, with its names as
 * items of arrays.
 * @throws SyntaxError
 */
export function parseText (text: string, reviver?: Reviver): unknown {
  const value = JSON.parse(text, reviver)
  return text.includes('\\') && escapedName.test(text) ? withObjects(JSON.parse(asArrays(text), reviver)) : value
}

/** `{"a":[1]}` as `[true,"a",[false,1]]`: the first item tells whether an array stands for an object. */
function asArrays (text: string): string {
  return text.replace(token, found => {
    if (found.startsWith('"')) return found
    if (found === '}') return ']'
    if (found === ':') return ','
    return `[${found.startsWith('{')}${/[\]}]$/.test(found) ? ']' : ','}`
  })
}

/** A loop, because a parsed value may be deeper than the stack. */
function withObjects (parsed: unknown): unknown {
  const root: Holder = {}
  const pending: Array<[holder: Holder, name: string | number, parsed: unknown]> = [[root, 'value', parsed]]
  for (const [holder, name, item] of pending) {
    if (!Array.isArray(item)) {
      define(holder, name, item)
      continue
    }
    const [isObject] = item
    const value: Holder = isObject ? {} : [] as never
    define(holder, name, value)
    for (let i = 1; i < item.length; i++) {
      if (isObject) pending.push([value, item[i], item[++i]])
      else pending.push([value, i - 1, item[i]])
    }
  }
  return root.value
}

/** A member `__proto__` is a member, not the prototype. */
function define (holder: Holder, name: string | number, value: unknown): void {
  if (name !== '__proto__') holder[name] = value
  else Object.defineProperty(holder, name, { value, configurable: true, enumerable: true, writable: true })
}
