// Finds references that lead only to themselves, on which the linter fails.
import { type Document, isRef } from '@redocly/openapi-core'
import { valueAt } from '../../schema/index.ts'
import { pointerOf, visitValues } from '../description/description.ts'
import { ContractError, locate } from '../files/findings.ts'
import { unsupported } from './unsupported-features.ts'

/** Undefined if there is no such reference inside the document. */
export function findLoops ({ parsed, source }: Document): ContractError | undefined {
  const findings: string[] = []
  visitValues(parsed, (node, path) => {
    if (!leadsBack(parsed, node)) return
    const place = locate({ source, pointer: pointerOf(path), reportOnKey: true })
    findings.push(`${place} Not supported: ${unsupported.loop}.`)
  })
  return findings.length === 0 ? undefined : new ContractError(findings)
}

/** Whether a value is a reference, and one of those that it leads to. */
function leadsBack (document: unknown, start: unknown): boolean {
  const passed = new Set<unknown>()
  let node = start
  while (isRef(node) && node.$ref.startsWith('#') && !passed.has(node)) {
    passed.add(node)
    node = valueAt(document, node.$ref.slice(1))
  }
  return node === start && passed.size > 0
}
