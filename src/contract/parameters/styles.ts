// Reads values in the styles of OpenAPI 3.1.1 (section 4.8.12.4), for parameters and for forms.
// Texts are split before they are decoded: an encoded delimiter is data (RFC 6570, section 1.2).
import type { Texts } from '../message/request-texts.ts'
import { deepObjectReader } from './deep-object.ts'
import type { Notation, StyleReader } from './notation.ts'
import { faulty, type Json, pairsJson, repetition, type TextWriter } from './text-json.ts'

/** A reader for each form that the value may have: object, list and single text, in this order. */
export function styleReaders (notation: Notation): StyleReader[] {
  const { style, schema } = notation
  if (style === 'deepObject') return [deepObjectReader(notation)]
  const readers: StyleReader[] = []
  if (schema.types.has('object')) readers.push(objectReader(notation))
  if (schema.types.has('array')) readers.push(listReader(notation))
  if (schema.mayBeText) readers.push(textReader(notation))
  return readers
}

/** Whether each item or member of a value has a name and a text. */
export function isSpread ({ style, explode }: Pick<Notation, 'style' | 'explode'>): boolean {
  return style === 'form' && explode
}

export function objectReader (notation: Notation): StyleReader {
  if (isSpread(notation)) return spreadObjectReader(notation)
  const { style, explode, place, schema, decode } = notation
  // Only matrix has no equals sign before an empty text (RFC 6570, section 3.2.7).
  const needsEquals = style !== 'matrix'
  return readerOfParts(notation, 'object', (parts, writer) => {
    if (parts.length === 1 && parts[0] === '') return '{}'
    const pairs: Pair[] = []
    if (explode) {
      if (needsEquals && !parts.every(part => part.includes('='))) return unpaired
      for (const part of parts) pairs.push(splitPair(part, decode))
    } else {
      // A form may leave out the last text.
      if (parts.length % 2 === 1 && place !== 'form') return unpaired
      for (let i = 0; i < parts.length; i += 2) {
        pairs.push([decode(parts[i] as string), decode(parts[i + 1] ?? '')])
      }
    }
    return pairsJson(pairs, schema, writer)
  })
}

const unpaired = faulty('must have a name and a value for each member')

type Pair = readonly [name: string, text: string]

function splitPair (text: string, decode: (text: string) => string): Pair {
  const end = text.indexOf('=')
  return end < 0 ? [decode(text), ''] : [decode(text.slice(0, end)), decode(text.slice(end + 1))]
}

/** Reads `R=100&G=200&B=150`. */
function spreadObjectReader (notation: Notation): StyleReader {
  const { schema, isClaimed } = notation
  return (texts, writer) => {
    const names = [...schema.names]
    if (schema.hasOthers) {
      const isOther = (name: string) => !schema.names.has(name) && !isClaimed(name)
      for (const name of texts.names()) if (isOther(name)) names.push(name)
    }
    const pairs = spreadPairs(notation, texts, names)
    return pairs.length === 0 ? undefined : pairsJson(pairs, schema, writer)
  }
}

/** The pairs of these names. A cookie may hold several, with `&` in between. */
function spreadPairs ({ place, decode }: Notation, texts: Texts, names: string[]): Pair[] {
  const pairs: Pair[] = []
  for (const name of names) {
    for (const text of texts.of(name)) {
      if (place !== 'cookie') pairs.push([name, decode(text)])
      else for (const pair of `${name}=${text}`.split('&')) pairs.push(splitPair(pair, decode))
    }
  }
  return pairs
}

export function listReader (notation: Notation): StyleReader {
  const { name, schema, decode } = notation
  const toJson = (items: string[], writer: TextWriter) => {
    const item = schema.item()
    return `[${items.map(text => writer.one(text, item)).join()}]`
  }
  if (!isSpread(notation)) {
    return readerOfParts(notation, 'list', (parts, writer) => toJson(parts.map(decode), writer))
  }
  const misnamed = faulty(`must be sent as ${name}=value`)
  return (texts, writer) => {
    const pairs = spreadPairs(notation, texts, [name])
    if (pairs.length === 0) return undefined
    if (pairs.some(([sent]) => sent !== name)) return misnamed
    return toJson(pairs.map(([, text]) => text), writer)
  }
}

function textReader (notation: Notation): StyleReader {
  const { schema, decode } = notation
  return readerOfParts(notation, 'text', ([text = '', ...others], writer) => {
    return others.length > 0 ? repetition : writer.one(decode(text), schema)
  })
}

type Form = 'text' | 'list' | 'object'

/** The styles label and matrix begin with a mark, which also delimits what is exploded. */
const marks: Readonly<Record<string, string>> = { label: '.', matrix: ';' }
/** A URL has no unencoded space, and often an encoded pipe: there the delimiter cannot be data. */
const delimiters: Readonly<Record<string, RegExp>> = {
  spaceDelimited: /%20|\+/,
  pipeDelimited: /\||%7C/i
}

/** Reads a value that is in one text, from the parts that its style delimits. */
function readerOfParts (
  notation: Notation,
  form: Form,
  toJson: (parts: string[], writer: TextWriter) => Json
): StyleReader {
  const { name, place, style } = notation
  const mark = marks[style] ?? ''
  const misbegun = faulty(`must begin with "${isNamed(notation, form) ? `;${name}=` : mark}"`)
  const split = splitter(notation, form)
  // The lines of a header field are one list (RFC 9110, section 5.3).
  const mayRepeat = place === 'header' && form !== 'text'
  return (texts, writer) => {
    const sent = texts.of(name)
    if (sent.length === 0) return undefined
    if (sent.length > 1 && !mayRepeat) return repetition
    const text = sent.join()
    const parts = text.startsWith(mark) ? split(text.slice(mark.length)) : undefined
    return parts === undefined ? misbegun : toJson(parts, writer)
  }
}

/** Whether each part has the name of the parameter, and not those of members. */
function isNamed ({ style, explode }: Notation, form: Form): boolean {
  return style === 'matrix' && !(explode && form === 'object')
}

/** Returns a function that splits a text; in matrix, undefined where a part has another name. */
function splitter (notation: Notation, form: Form) {
  const { name, style, explode, decode } = notation
  const delimiter = (explode ? marks : delimiters)[style] ?? ','
  const split = (text: string) => form === 'text' ? [text] : text.split(delimiter)
  if (!isNamed(notation, form)) return split
  return (text: string): string[] | undefined => {
    const values: string[] = []
    for (const part of explode ? text.split(delimiter) : [text]) {
      const [sent = '', ...value] = part.split('=')
      if (decode(sent) !== name) return undefined
      values.push(value.join('='))
    }
    return explode ? values : split(values[0] as string)
  }
}
