// Finds references that lead to nothing but themselves, on which the linter fails.
import type { Document } from '@redocly/openapi-core'
import { escapedKey, valueAt } from '../schema/index.ts'
import { ContractError, locate } from './findings.ts'
import { unsupported } from './unsupported.ts'

/** Nothing if there is no such reference inside the document. */
export function loopIn ({ parsed, source }: Document): ContractError | undefined {
  const pointers = references(parsed).filter(({ node }) => leadsBack(parsed, node)).map(({ pointer }) => pointer)
  if (pointers.length === 0) return undefined
  return new ContractError(pointers.map(pointer => {
    return `${locate({ source, pointer, reportOnKey: true })} Not supported: ${unsupported.loop}.`
  }))
}

type Reference = { readonly $ref: string }

function references (node: unknown, pointer = '#'): Array<{ node: Reference, pointer: string }> {
  if (typeof node !== 'object' || node === null) return []
  const own = isReference(node) ? [{ node, pointer }] : []
  return [...own, ...Object.entries(node).flatMap(([name, inner]) => references(inner, `${pointer}/${escapedKey(name)}`))]
}

function isReference (node: unknown): node is Reference {
  return typeof node === 'object' && node !== null && '$ref' in node && typeof node.$ref === 'string'
}

/** Whether a reference is one of those that it leads to. */
function leadsBack (document: unknown, start: Reference): boolean {
  const passed = new Set<unknown>()
  let node: unknown = start
  while (isReference(node) && node.$ref.startsWith('#') && !passed.has(node)) {
    passed.add(node)
    node = targetOf(document, node)
  }
  return node === start && passed.size > 0
}

function targetOf (document: unknown, { $ref }: Reference): unknown {
  try {
    return valueAt(document, $ref.slice(1))
  } catch {
    // Not percent-encoded.
    return undefined
  }
}
