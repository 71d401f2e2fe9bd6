// Which findings of the linter refuse a contract, and how the others are reported.
import type { Document, NormalizedProblem } from '@redocly/openapi-core'
import { escapedKey } from '../schema/index.ts'
import { describe, locate, placeOf } from './findings.ts'
import type { Survey } from './refuse-unsupported.ts'

/** Rules of what OpenAPI requires and of what is served. The others are matters of style, for a contract's authors. */
export const errorRules = [
  'service/supported', 'service/version', 'struct', 'no-unresolved-refs', 'no-identical-paths', 'operation-parameters-unique',
  'path-parameters-defined', 'path-declaration-must-exist'
]
/** Fields that only describe: what is in them cannot mislead the service. Members may have such names. */
const descriptive = new RegExp('(?<!/(?:properties|patternProperties|\\$defs|dependentSchemas|schemas|parameters|' +
  'headers|responses|requestBodies|securitySchemes|callbacks|links|examples|content|paths|webhooks|pathItems|mapping|' +
  'variables|security/\\d+))/(?:examples?|description|title|summary|externalDocs|tags|contact|license|xml)(?:/|$)')

/** Whether a finding refuses the contract, or the operations that use its place. */
export function isError (problem: NormalizedProblem, survey: Survey): boolean {
  const { ruleId, message } = problem
  if (!errorRules.includes(ruleId)) return false
  if (ruleId !== 'struct' || message.includes("Can't parse")) return true
  const isAboutDescription = descriptive.test(String(placeOf(problem).pointer)) ||
    message === 'The field `description` must be present on this level.'
  return !isAboutDescription && !isKnownKeyword(problem, survey)
}

/** Whether a finding is about a keyword that `warningsOf` names by itself. */
export function isKnownKeyword ({ ruleId, message, location: [place] }: NormalizedProblem, survey: Survey): boolean {
  if (ruleId !== 'struct' || !message.endsWith('is not expected here.') || message.includes('`$ref`')) return false
  const { source, pointer = '' } = place as { source: { absoluteRef: string }, pointer?: string }
  return survey.schemas.has(source.absoluteRef + pointer.replace(/\/[^/]*$/, ''))
}

/** A line for each rule, each unknown keyword and rounded examples: the first place, and how many there are. */
export function warningsOf (problems: NormalizedProblem[], survey: Survey, { parsed, source }: Document): string[] {
  const byRule = Map.groupBy(problems, ({ ruleId }) => ruleId)
  const rules = Array.from(byRule.values(), found => describe(found[0] as NormalizedProblem) + others(found))
  const keywords = Array.from(survey.unknown, ([keyword, places]) => {
    const hint = keyword === 'nullable' ? ' In OpenAPI 3.1 it is `type: [string, \'null\']`.' : ''
    const [first] = places as [typeof places[number]]
    return `${locate(first)} \`${keyword}\` is ignored: JSON Schema 2020-12 has no such keyword.${hint}${others(places)}`
  })
  const rounded = roundedIn(parsed).map(pointer => {
    return `${survey.locate(source, pointer)} A number beyond 2^53 in an example is rounded: it is read as a double.`
  })
  return [...rules, ...keywords, ...rounded.slice(0, 1).map(first => first + others(rounded))]
}

/** The places of integers in examples that the parser of the contract may have rounded. */
function roundedIn (node: unknown, pointer = '#', isExample = false): string[] {
  if (typeof node === 'number') return isExample && Math.abs(node) >= 2 ** 53 && Math.abs(node) <= 2 ** 64 ? [pointer] : []
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, inner]) => {
    const place = `${pointer}/${escapedKey(name)}`
    const isMember = /\/(?:properties|patternProperties|schemas|headers)$/.test(pointer)
    return roundedIn(inner, place, isExample || (!isMember && (name === 'example' || name === 'examples')))
  })
}

function others ({ length }: unknown[]): string {
  return length === 1 ? '' : ` (${length - 1} more)`
}
