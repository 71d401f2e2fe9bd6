// Reads parameters in style deepObject: `color[R]=100&color[G]=200` (OpenAPI 3.1.1, section 4.8.12.4).
import type { Parameter } from '../types.ts'
import { readGroups, readMember, refuse } from './sent.ts'
import type { Reader, Sent } from './sent.ts'
import { decodeText } from '../message/request.ts'
import type { Shape } from './text-schema.ts'

/** The names inside the brackets, and a text. */
interface Deep { names: string[], text: string }

/** Objects in an object are not specified; clients write them as here, and no deeper than a few levels. */
const mostLevels = 5

/** Reads `color[R]=100`; also `color[x][y]=1`, and lists as `color[x]=1&color[x]=2` or `color[x][]=1`. */
export function deepObjectReader ({ name, in: place }: Parameter, shape: Shape): Reader {
  return texts => {
    const names = [...texts.names()].filter(sent => sent === name || sent.startsWith(`${name}[`))
    if (names.length === 0) return undefined
    const deep = names.flatMap(sent => {
      const names = sent.slice(name.length + 1, -1).split('][')
      return texts.of(sent).map((text): Deep => ({ names, text }))
    })
    const isSound = names.every(sent => sent.endsWith(']')) && deep.every(({ names }) => names.length <= mostLevels)
    return isSound ? readDeep(deep, shape, [], place) : refuse(`must be sent as ${name}[member]=value`)
  }
}

function readDeep (deep: Deep[], shape: Shape, outer: readonly string[], place: string): Sent {
  const groups = Map.groupBy(deep, ({ names }) => names[outer.length] as string)
  return readGroups(groups, (name, items) => readDeepMember(items, shape.member(name), [...outer, name], place))
}

function readDeepMember (deep: Deep[], shape: Shape, path: readonly string[], place: string): Sent {
  const rests = deep.map(({ names }) => names.slice(path.length))
  if (shape.types.has('array') && rests.every(rest => rest.length === 1 && rest[0] === '')) {
    return { tree: deep.map(({ text }) => decodeText(text, place)) }
  }
  if (rests.every(rest => rest.length === 0)) {
    return readMember(path.join('/'), deep.map(({ text }) => text), shape, place)
  }
  if (!shape.types.has('object')) return refuse('must not have members', path.join('/'))
  const isMixed = rests.some(rest => rest.length === 0)
  return isMixed ? refuse('is sent with and without members', path.join('/')) : readDeep(deep, shape, path, place)
}
