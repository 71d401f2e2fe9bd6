// Members of an object in a parameter: texts by name, or what is wrong with them.
import type { Fault } from '../schema/index.ts'
import { decodeText } from '../message/request.ts'
import type { Texts } from '../message/request.ts'
import { mayBeText } from './text-schema.ts'
import type { Shape, Tree } from './text-schema.ts'

/** What was sent for a parameter or a member. */
export type Sent = { tree: Tree, fault?: undefined } | { tree?: undefined, fault: Fault }

/** Returns undefined when the parameter was not sent. */
export type Reader = (texts: Texts) => Sent | undefined

/** The decoded name of a member, and its text as it was sent. */
export type Pair = readonly [name: string, text: string]

export function refuse (problem: string, path = ''): Sent {
  return { fault: { path, problem } }
}

export const repeated = 'is sent more than once'

/** The members of an object; several texts of one name are a list. */
export function readMembers (pairs: Pair[], shape: Shape, place: string): Sent {
  return readGroups(Map.groupBy(pairs, ([name]) => name), (name, pairs) => {
    return readMember(name, pairs.map(([, text]) => text), shape.member(name), place)
  })
}

/** The members of an object, or the first fault of one. */
export function readGroups<Item> (groups: Map<string, Item[]>, read: (name: string, items: Item[]) => Sent): Sent {
  const members = new Map<string, Tree>()
  for (const [name, items] of groups) {
    const sent = read(name, items)
    if (sent.fault !== undefined) return sent
    members.set(name, sent.tree)
  }
  return { tree: members }
}

/** Prefers a single text to a list of one where the member may be both. */
export function readMember (path: string, texts: string[], shape: Shape, place: string): Sent {
  const [first = '', ...more] = texts.map(text => decodeText(text, place))
  if (shape.types.has('array') && (more.length > 0 || !mayBeText(shape))) return { tree: [first, ...more] }
  return more.length > 0 ? refuse(repeated, path) : { tree: first }
}
