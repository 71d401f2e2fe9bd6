// Which findings of the linter are errors, and how the others are reported.
import type { Document, NormalizedProblem } from '@redocly/openapi-core'
import { relative } from 'node:path'
import type { Description } from '../description/description.ts'
import { describe, locate, placeOf } from '../files/findings.ts'
import { warningsOfDescription } from './description-warnings.ts'
import type { Survey } from './survey.ts'

/** Rules of what OpenAPI requires and of what is served. The others are matters of style. */
export const errorRules = [
  'service/supported', 'service/version', 'struct', 'no-unresolved-refs',
  'operation-parameters-unique', 'path-parameters-defined', 'path-declaration-must-exist'
]

/** Rules about what takes or requires something else than it seems to. */
const plainRules = [
  'no-enum-type-mismatch', 'no-required-schema-properties-undefined', 'security-scopes-defined',
  'no-undefined-server-variable'
]

function isStyle (rule: string): boolean {
  return !errorRules.includes(rule) && !plainRules.includes(rule)
}

/** Members of these have names that the contract chooses, such as `description`. */
const named = [
  'properties', 'patternProperties', '\\$defs', 'dependentSchemas', 'schemas', 'parameters',
  'headers', 'responses', 'requestBodies', 'securitySchemes', 'callbacks', 'links', 'examples',
  'content', 'paths', 'webhooks', 'pathItems', 'mapping', 'variables', 'security/\\d+'
].join('|')
const describing = 'examples?|description|title|summary|externalDocs|tags|contact|license|xml'
/**
 * Places of fields that only describe: what is in them cannot mislead the service. The title of the
 * contract names its realm and its page.
 */
const descriptive = new RegExp(`^(?!#/info/title).*(?<!/(?:${named}))/(?:${describing})(?:/|$)`)

/** The second is of a security scheme with a field of another type, such as `in` of `http`. */
const harmless = /^The field `(?:description` must be present|\w+` is not allowed here)/

/** Whether a finding refuses the contract, or the operations that use its place. */
export function isError (problem: NormalizedProblem): boolean {
  const { ruleId, message } = problem
  if (!errorRules.includes(ruleId)) return false
  if (ruleId !== 'struct' || message.includes("Can't parse")) return true
  if (harmless.test(message)) return false
  return !descriptive.test(String(placeOf(problem).pointer))
}

/**
 * A line for all rules of style, and for each other sentence: the first place, and how many there
 * are.
 */
export function warningsOf (
  problems: NormalizedProblem[],
  survey: Survey,
  { parsed, source }: Document
): string[] {
  const lines: string[] = []
  const styles: string[] = []
  for (const [rule, found] of Map.groupBy(problems, ({ ruleId }) => ruleId)) {
    if (isStyle(rule)) styles.push(`${rule} (${found.length})`)
    else lines.push(describe(found[0] as NormalizedProblem) + others(found))
  }
  const style = problems.find(({ ruleId }) => isStyle(ruleId))
  if (style !== undefined) {
    const sentence = `Matters of style, of which this is the first: ${styles.join(', ')}.`
    const all = `npx @redocly/cli lint ${relative('', source.absoluteRef)}`
    const wayOut = `To see all, and examples that break their schema: ${all}`
    lines.push(`${locate(placeOf(style))} ${sentence} ${wayOut}`)
  }
  for (const [sentence, places] of survey.warnings) {
    lines.push(`${locate(places[0] as typeof places[number])} ${sentence}${others(places)}`)
  }
  const ofDescription = warningsOfDescription(parsed as Description)
  for (const [sentence, found] of Map.groupBy(ofDescription, warning => warning.sentence)) {
    const { pointer } = found[0] as typeof found[number]
    lines.push(`${survey.locate(source, pointer)} ${sentence}${others(found)}`)
  }
  return lines
}

function others ({ length }: unknown[]): string {
  return length === 1 ? '' : ` (${length - 1} more)`
}
