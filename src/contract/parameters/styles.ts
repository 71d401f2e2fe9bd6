// Reads the styles of parameters: splits texts into items and members (OpenAPI 3.1.1, section 4.8.12.4).
// It splits before it decodes, because an encoded delimiter is data (RFC 6570, section 1.2).
import type { Parameter } from '../types.ts'
import { deepObjectReader } from './deep-object.ts'
import { readMembers, refuse, repeated } from './sent.ts'
import type { Pair, Reader, Sent } from './sent.ts'
import { decodeText } from '../message/request.ts'
import { mayBeText } from './text-schema.ts'
import type { Shape } from './text-schema.ts'

/**
 * A reader for each form that the value may have: object, list and single text, in this order.
 * @param isClaimed whether another parameter has this name; an exploded object may take all the rest
 */
export function styleReaders (parameter: Parameter, shape: Shape, isClaimed: (name: string) => boolean): Reader[] {
  if (parameter.style === 'deepObject') return [deepObjectReader(parameter, shape)]
  const readers: Reader[] = []
  if (hasSpreadMembers(parameter, shape)) readers.push(spreadObjectReader(parameter, shape, isClaimed))
  else if (shape.types.has('object')) readers.push(objectReader(parameter, shape))
  if (shape.types.has('array')) readers.push(isSpread(parameter) ? spreadListReader(parameter) : listReader(parameter))
  if (mayBeText(shape)) readers.push(textReader(parameter))
  return readers
}

/** Whether a request has a name for each member, and so nothing for an object without members. */
export function hasSpreadMembers (parameter: Parameter, { types }: Shape): boolean {
  return types.has('object') && isSpread(parameter)
}

function isSpread ({ style, explode }: Parameter): boolean {
  return style === 'form' && explode
}

/** Reads `R=100&G=200&B=150`. */
function spreadObjectReader ({ in: place }: Parameter, shape: Shape, isClaimed: (name: string) => boolean): Reader {
  const isOther = (name: string) => !shape.names.has(name) && !isClaimed(name)
  return texts => {
    const others = shape.hasOthers ? [...texts.names()].filter(isOther) : []
    const names = [...shape.names, ...others]
    const pairs = names.flatMap(name => texts.of(name).flatMap(text => spreadPairs(name, text, place)))
    return pairs.length === 0 ? undefined : readMembers(pairs, shape, place)
  }
}

/** Reads `color=blue&color=black`. */
function spreadListReader ({ name, in: place }: Parameter): Reader {
  return texts => {
    const pairs = texts.of(name).flatMap(text => spreadPairs(name, text, place))
    if (pairs.length === 0) return undefined
    if (pairs.some(([sent]) => sent !== name)) return refuse(`must be sent as ${name}=value`)
    return { tree: pairs.map(([, text]) => decodeText(text, place)) }
  }
}

/** Several pairs of a cookie parameter are cookies of their own, or one with `&` in between, as the style says. */
function spreadPairs (name: string, text: string, place: string): Pair[] {
  if (place !== 'cookie') return [[name, text]]
  return `${name}=${text}`.split('&').map(toPair).map(([name, text]) => [decodeText(name, place), text])
}

function toPair (text: string): Pair {
  const end = text.indexOf('=')
  return end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)]
}

function textReader (parameter: Parameter): Reader {
  const { in: place } = parameter
  return readerOfOne(parameter, (text, count) => {
    const values = isMatrixExploded(parameter) ? withoutName(text.split(';'), parameter) : [text]
    if (values === undefined) return refuse(beginning(parameter))
    return count > 1 || values.length > 1 ? refuse(repeated) : { tree: decodeText(values[0] as string, place) }
  })
}

function listReader (parameter: Parameter): Reader {
  const { in: place } = parameter
  return readerOfOne(parameter, text => {
    const parts = split(parameter, text)
    const items = isMatrixExploded(parameter) ? withoutName(parts, parameter) : parts
    return items === undefined ? refuse(beginning(parameter)) : { tree: items.map(item => decodeText(item, place)) }
  })
}

function objectReader (parameter: Parameter, shape: Shape): Reader {
  const { in: place, explode } = parameter
  return readerOfOne(parameter, text => {
    if (text === '') return { tree: new Map() }
    const parts = split(parameter, text)
    // Only matrix has no equals sign before an empty text (RFC 6570, section 3.2.7).
    const isPaired = explode
      ? isMatrixExploded(parameter) || parts.every(part => part.includes('='))
      : parts.length % 2 === 0
    if (!isPaired) return refuse('must have a name and a value for each member')
    const pairs = explode ? parts.map(toPair) : inPairs(parts)
    return readMembers(pairs.map(([name, text]) => [decodeText(name, place), text]), shape, place)
  })
}

function inPairs (parts: string[]): Pair[] {
  return parts.flatMap((name, index): Pair[] => index % 2 === 0 ? [[name, parts[index + 1] as string]] : [])
}

/** A reader of a value in one text. The lines of a header field are one list (RFC 9110, section 5.3). */
function readerOfOne (parameter: Parameter, read: (text: string, count: number) => Sent): Reader {
  const { name, in: place } = parameter
  return texts => {
    const sent = texts.of(name)
    if (sent.length === 0) return undefined
    if (sent.length > 1 && place !== 'header') return refuse(repeated)
    const text = withoutPrefix(parameter, sent.join())
    return text === undefined ? refuse(beginning(parameter)) : read(text, sent.length)
  }
}

function withoutPrefix (parameter: Parameter, text: string): string | undefined {
  const { style } = parameter
  if (style !== 'label' && style !== 'matrix') return text
  if (text[0] !== (style === 'label' ? '.' : ';')) return undefined
  const rest = text.slice(1)
  return style === 'label' || isMatrixExploded(parameter) ? rest : withoutName([rest], parameter)?.[0]
}

/** The values of `name=value`; undefined if one has another name. */
function withoutName (parts: string[], { name, in: place }: Parameter): string[] | undefined {
  const pairs = parts.map(toPair)
  return pairs.every(([sent]) => decodeText(sent, place) === name) ? pairs.map(([, text]) => text) : undefined
}

function beginning ({ name, style }: Parameter): string {
  return `must begin with "${style === 'label' ? '.' : `;${name}=`}"`
}

function isMatrixExploded ({ style, explode }: Parameter): boolean {
  return style === 'matrix' && explode
}

/** A URL has no unencoded space, and often an encoded pipe: there the delimiter cannot be data. */
const delimiters: Readonly<Record<string, RegExp>> = { spaceDelimited: /%20|\+/, pipeDelimited: /\||%7C/i }
const explodedDelimiters: Readonly<Record<string, string>> = { label: '.', matrix: ';' }

function split ({ style, explode }: Parameter, text: string): string[] {
  return text.split((explode ? explodedDelimiters : delimiters)[style] ?? ',')
}
