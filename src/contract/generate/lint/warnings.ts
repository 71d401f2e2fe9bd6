// Which findings of the linter are errors, and how the others are reported.
import type { Document, NormalizedProblem } from '@redocly/openapi-core'
import { relative } from 'node:path'
import {
  type Description, hasIgnoredBody, listOperations, operationPointer, pointerOf, visitValues
} from '../description/description.ts'
import { excludedTags, unknownProperties } from '../description/discriminators.ts'
import { didYouMean } from '../../message/did-you-mean.ts'
import { emptiedObjects } from './emptied-objects.ts'
import { describe, locate, placeOf } from '../files/findings.ts'
import type { Survey } from './survey.ts'

/** Rules of what OpenAPI requires and of what is served. The others are matters of style. */
export const errorRules = [
  'service/supported', 'service/version', 'struct', 'no-unresolved-refs',
  'operation-parameters-unique', 'path-parameters-defined', 'path-declaration-must-exist'
]

/** Rules about what takes or requires something else than it seems to. */
const plainRules = [
  'no-enum-type-mismatch', 'no-required-schema-properties-undefined', 'nullable-type-sibling',
  'security-scopes-defined'
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
 * A line for all rules of style, for each other rule, each unknown keyword and rounded examples:
 * the first place, and how many there are.
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
  const add = (pointers: string[], sentence: string) => {
    const [first] = pointers
    if (first === undefined) return
    lines.push(`${survey.locate(source, first)} ${sentence}${others(pointers)}`)
  }
  const operations = listOperations(parsed as Description)
  for (const [id, same] of Map.groupBy(operations, ({ operation }) => operation.operationId)) {
    if (id === undefined || same.length === 1) continue
    const { url, method } = same[0] as typeof same[number]
    add([`${operationPointer(url, method)}/operationId`], `${same.length} operations have the ` +
      `operationId \`${id}\`: each is named by its method and path.`)
  }
  const ignored = operations.filter(hasIgnoredBody).map(({ url, method }) => {
    return `${operationPointer(url, method)}/requestBody`
  })
  for (const [index, { url }] of ((parsed as Description).servers ?? []).entries()) {
    const sentence = `This address is a path, as it has no scheme: write https://${url}.`
    if (hostWithoutScheme.test(url)) add([`#/servers/${index}/url`], sentence)
  }
  for (const { pointer, tag, property } of excludedTags(parsed as Description)) {
    add([pointer], `The value \`${tag}\` of a discriminator selects a schema whose own ` +
      `\`${property}\` refuses it.`)
  }
  for (const { pointer, property, members } of unknownProperties(parsed as Description)) {
    add([pointer], `No schema of this discriminator has the member \`${property}\`.` +
      didYouMean(property, members))
  }
  add(emptiedObjects(parsed as Description), 'This object of an answer declares no member, and ' +
    'is sent without any: write `additionalProperties: true` to send all.')
  add(ignored, 'The body of GET, HEAD or TRACE is ignored: HTTP gives it no meaning.')
  add(roundedIn(parsed), 'A number beyond 2^53 in an example is rounded: it is read as a double.')
  return lines
}

const hostWithoutScheme = /^(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:\/|$)/i

const inExample = /(?<!\/(?:properties|patternProperties|schemas|headers))\/examples?(?:\/|$)/

/** The places of integers in examples that the parser of the contract may have rounded. */
function roundedIn (document: unknown): string[] {
  const places: string[] = []
  visitValues(document, (value, path) => {
    const size = typeof value === 'number' ? Math.abs(value) : 0
    if (size < 2 ** 53 || size > 2 ** 64) return
    const pointer = pointerOf(path)
    if (inExample.test(pointer)) places.push(pointer)
  })
  return places
}

function others ({ length }: unknown[]): string {
  return length === 1 ? '' : ` (${length - 1} more)`
}
