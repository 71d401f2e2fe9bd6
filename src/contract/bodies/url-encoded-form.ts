// Reads application/x-www-form-urlencoded as the JSON text of the object that the schema describes.
import type { Compile, Schema, Schemas } from '../schema/index.ts'
import type { Encoding, Media } from '../types.ts'
import { HttpError } from '../../server/http-error.ts'
import { toMember } from './form-field.ts'
import type { Member } from './form-field.ts'

/** A name in brackets after the name of a member, split, and what was sent under it. */
interface Entry { path: string[], text: string }

/** `a[b][c]` may nest objects; deeper ones would only cost time. */
const maxDepth = 32

/** Separators of the items of an array that is sent under one name (OpenAPI 3.1, section 4.8.12.3). */
const separators: Readonly<Record<string, RegExp>> = {
  form: /,/,
  spaceDelimited: /%20|\+/,
  pipeDelimited: /\||%7C/i
}

/**
 * Returns a function from the text of a form to JSON, to be validated as any JSON is. Without an encoding an array has a
 * pair for each item and an object is sent as JSON; `style` and `explode` choose another form (OpenAPI 3.1, section
 * 4.8.15). Names that the schema does not declare stay texts.
 */
export function formReader (media: Media, schemas: Schemas, compile: Compile): (text: string) => string {
  const form = toMember([(media.schema ?? {}) as Schema], schemas, compile)
  const encodings = Object.entries(media.encoding ?? {})
  return text => {
    const pairs = pairsOf(text)
    const members = new Map<string, string>()
    for (const [name, encoding] of encodings) {
      const member = form.member(name)
      const json = member && encoded(pairs, name, member, encoding)
      if (json !== undefined) members.set(name, json)
    }
    for (const [name, texts] of pairs) members.set(name, fromTexts(name, form.member(name), texts.map(decode)))
    return objectText(members)
  }
}

/** The JSON of a member in the style of its encoding; undefined when there is none. What it reads leaves the pairs. */
function encoded (pairs: Pairs, name: string, member: Member, encoding: Encoding): string | undefined {
  const style = encoding.style ?? (encoding.explode === undefined ? undefined : 'form')
  const explode = encoding.explode ?? style === 'form'
  if (style === 'deepObject') {
    const entries = entriesBelow(pairs, name)
    return entries.length === 0 ? undefined : fromEntries(name, member, entries)
  }
  if (style === 'form' && explode && member.types.has('object')) return explodedObject(pairs, member)
  const separator = style === undefined ? undefined : separators[style]
  if (explode || separator === undefined) return undefined
  const [text, ...others] = pairs.get(name) ?? []
  if (text === undefined || others.length > 0) return undefined
  const texts = text.split(separator).map(decode)
  if (member.item !== undefined) return take(pairs, name, fromTexts(name, member, texts))
  return member.types.has('object') ? take(pairs, name, alternating(name, member, texts)) : undefined
}

/** The members of the object stand beside those of the form. */
function explodedObject (pairs: Pairs, { names, member }: Member): string | undefined {
  const members = new Map<string, string>()
  for (const name of names) {
    const texts = pairs.get(name)
    if (texts === undefined) continue
    members.set(name, fromTexts(name, member(name), texts.map(decode)))
    pairs.delete(name)
  }
  return members.size === 0 ? undefined : objectText(members)
}

/** `R,100,G,200` */
function alternating (place: string, { member }: Member, texts: string[]): string {
  const members = texts.flatMap((name, index): Array<[string, string]> => {
    return index % 2 === 1 ? [] : [[name, fromTexts(`${place}/${name}`, member(name), [texts[index + 1] ?? ''])]]
  })
  return objectText(new Map(members))
}

function fromEntries (place: string, member: Member | undefined, entries: Entry[]): string {
  const ends = entries.filter(({ path }) => path.length === 0).map(({ text }) => text)
  if (ends.length === entries.length) return fromTexts(place, member, ends)
  if (ends.length > 0) throw new HttpError(400, `"${place}" in the body is sent as a value and as an object.`)
  const inner = Map.groupBy(entries, ({ path }) => path[0] as string)
  const below = (name: string, of: Member | undefined) => {
    const rest = (inner.get(name) as Entry[]).map(({ path, text }) => ({ path: path.slice(1), text }))
    return fromEntries(`${place}/${name}`, of, rest)
  }
  const item = member?.item
  if (item === undefined) {
    return objectText(new Map([...inner.keys()].map(name => [name, below(name, member?.member(name))])))
  }
  // `a[]=x&a[]=y` or `a[0]=x&a[1]=y`
  const unnamed = (inner.get('') ?? []).map(({ path, text }) => {
    return fromEntries(place, item, [{ path: path.slice(1), text }])
  })
  const keys = [...inner.keys()].filter(key => key !== '').sort((a, b) => Number(a) - Number(b))
  return `[${[...unnamed, ...keys.map(key => below(key, item))].join()}]`
}

/** The JSON of what was sent under one name. A name that the schema does not declare has texts. */
function fromTexts (place: string, member: Member | undefined, texts: string[]): string {
  const [text = '', ...others] = texts
  if (member === undefined) return JSON.stringify(others.length === 0 ? text : texts)
  const { item, types } = member
  if (others.length === 0) {
    if (item === undefined) return member.jsonOf(text)
    const { fault, json } = member.read(text)
    if (fault === undefined) return json
  } else if (item === undefined && types.size > 0) {
    throw new HttpError(400, `"${place}" in the body is sent more than once.`)
  }
  return `[${texts.map(text => (item ?? member).jsonOf(text)).join()}]`
}

/** Encoded texts by decoded name: a delimiter is only one if it is not encoded. */
type Pairs = Map<string, string[]>

function pairsOf (text: string): Pairs {
  const pairs = text.split('&').filter(pair => pair !== '').map(pair => {
    const [name = '', ...value] = pair.split('=')
    return { name: decode(name), value: value.join('=') }
  })
  const byName = Map.groupBy(pairs, ({ name }) => name)
  return new Map(Array.from(byName, ([name, sent]) => [name, sent.map(({ value }) => value)]))
}

function decode (text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new HttpError(400, 'The body has invalid percent-encoding.')
  }
}

function take (pairs: Pairs, name: string, json: string): string {
  pairs.delete(name)
  return json
}

/** `name[a][b]=c` as the path a, b and the text c. */
function entriesBelow (pairs: Pairs, name: string): Entry[] {
  const entries: Entry[] = []
  for (const [key, texts] of pairs) {
    const rest = key.slice(name.length)
    if (!key.startsWith(`${name}[`) || !/^(?:\[[^[\]]*\])+$/.test(rest)) continue
    const path = rest.slice(1, -1).split('][')
    if (path.length > maxDepth) throw new HttpError(400, `"${name}" in the body nests more than ${maxDepth} objects.`)
    entries.push(...texts.map(text => ({ path, text: decode(text) })))
    pairs.delete(key)
  }
  return entries
}

function objectText (members: ReadonlyMap<string, string>): string {
  return `{${Array.from(members, ([name, json]) => `${JSON.stringify(name)}:${json}`).join()}}`
}
