// What is wrong or remarkable in a contract, each at its place: `file:line:column pointer sentence`.
import { getLineColLocation } from '@redocly/openapi-core'
import type { LocationObject, NormalizedProblem } from '@redocly/openapi-core'
import { relative } from 'node:path'

/** A contract that is refused: a line for each finding. */
export class ContractError extends Error {
  readonly findings: string[]
  constructor (findings: string[]) {
    super(findings.join('\n'))
    this.findings = findings
  }
}

/** Puts file, line and column before a JSON pointer. */
export function locate (place: LocationObject): string {
  const { line, col } = getLineColLocation(place).start
  return `${relative('', place.source.absoluteRef)}:${line}:${col} ${place.pointer}`
}

/** Where a problem is. */
export function placeOf ({ location: [place] }: NormalizedProblem): LocationObject {
  return place as LocationObject
}

export function describe (problem: NormalizedProblem): string {
  return `${locate(placeOf(problem))} ${problem.message} (${problem.ruleId})`
}

/** A file that cannot be parsed: the first line of the message ends with the place, the rest is an excerpt. */
export function unreadable (file: string, error: Error): ContractError {
  const [message = ''] = error.message.split('\n')
  const [, problem = message, path = file, place] = /^(.*) in "(.*)" \((\d+:\d+)\)$/.exec(message) ?? []
  return new ContractError([place === undefined ? `${file}: ${problem}` : `${relative('', path)}:${place} ${problem}`])
}
