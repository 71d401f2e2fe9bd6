// What is wrong or remarkable in a contract, at its place: `file:line:column pointer sentence`.
import {
  getLineColLocation, type LocationObject, type NormalizedProblem
} from '@redocly/openapi-core'
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { didYouMean } from '../../message/did-you-mean.ts'
import { methods } from '../../message/methods.ts'
import { OverlaidSource } from './overlaid-source.ts'

/** The generator cannot use a contract: a line for each finding. */
export class ContractError extends Error {
  readonly findings: string[]
  constructor (given: string[]) {
    // A name in a contract may have a line break.
    const escape = (character: string) => JSON.stringify(character).slice(1, -1)
    const findings = given.map(finding => finding.replaceAll(/\p{Cc}/gu, escape))
    super(findings.join('\n'))
    this.findings = findings
  }
}

/** Puts file, line and column before a JSON pointer. */
export function locate (given: LocationObject): string {
  const { source, pointer } = given
  const isOverlaid = source instanceof OverlaidSource && pointer !== undefined
  const place = isOverlaid ? { ...given, ...source.placeOf(pointer) } : given
  const { line, col } = startOf(place)
  return `${relative('', place.source.absoluteRef)}:${line}:${col} ${place.pointer}`
}

function startOf (place: LocationObject): { line: number, col: number } {
  try {
    return getLineColLocation(place).start
  } catch {
    // The parser of places knows fewer tags of YAML than the one of values.
    return { line: 1, col: 1 }
  }
}

export function placeOf ({ location: [place] }: NormalizedProblem): LocationObject {
  return place as LocationObject
}

export function describe (problem: NormalizedProblem): string {
  const { message, ruleId } = problem
  const unknown = /^Property `(.*)` is not expected here/.exec(message)?.[1]
  const ofMessage = hintsOfMessages.find(([text]) => text.test(message))?.[1]
  const hint = unknown === undefined ? ofMessage ?? hintOfValue(problem) : hintFor(unknown, problem)
  return `${locate(placeOf(problem))} ${message}${hint} (${ruleId})`
}

function hintFor (unknown: string, problem: NormalizedProblem): string {
  const pointer = String(placeOf(problem).pointer)
  if (/^#\/paths\/[^/]+$/.test(pointer)) return ' A path begins with a slash.'
  if (/\/(?:parameters|headers)\/[^/]+\/[^/]+$/.test(pointer) && keywords.includes(unknown)) {
    return ' It belongs into `schema`.'
  }
  const isInPathItem = /^#\/paths\/[^/]+\/[^/]+$/.test(pointer)
  const names = isInPathItem ? [...problem.suggest, ...methods] : problem.suggest
  return hints.get(unknown) ?? didYouMean(unknown, names)
}

/** Says how OpenAPI 3.1 writes null or a format as a type, a body, and a required property. */
function hintOfValue (problem: NormalizedProblem): string {
  const place = placeOf(problem)
  const start = startOf(place)
  const text = (place.source.body.split('\n')[start.line - 1] as string).slice(start.col - 1)
  const pointer = String(place.pointer)
  if (/\/type(?:\/\d+)?$/.test(pointer)) {
    if (/^(?:null|~)/.test(text)) return " Write null in quotes: 'null'."
    const format = /^["']?([\w-]*)/.exec(text)?.[1]
    const type = typesOfFormats.find(([formats]) => formats.includes(String(format)))?.[1]
    if (type !== undefined) return ` Write \`type: ${type}\` with \`format: ${format}\`.`
  }
  if (/\/properties\/[^/]+\/required$/.test(pointer) && /^(?:true|false)/.test(text)) {
    return ' List the name of the property in `required` of its object.'
  }
  const isBody = /\/parameters\/\d+\/in$/.test(pointer) && /^["']?body/.test(text)
  return isBody ? ' The body is `requestBody`, beside `parameters`.' : ''
}

/** Formats that other languages have as types. */
const typesOfFormats: ReadonlyArray<[formats: string[], type: string]> = [
  [['int32', 'int64'], 'integer'],
  [['float', 'double'], 'number'],
  [['date', 'date-time', 'time', 'uuid', 'uri', 'email'], 'string']
]

const hintsOfMessages: ReadonlyArray<[message: RegExp, hint: string]> = [
  [/^Expected type `string` but got `(?:integer|number|boolean)`/, ' Put it in quotes.'],
  [/variable is not defined in the `variables`/, ' The paths of operations keep it in braces.'],
  [/is not used in the path/, ' A path has the names of its parameters in braces: /plants/{id}.']
]

/** Swagger 2.0 has them beside the name of a parameter or header field. */
const keywords = ['type', 'format', 'items', 'enum', 'default', 'minimum', 'maximum', 'pattern']

/** What a reader of an unknown field may not see. */
const hints: ReadonlyMap<string, string> = new Map([
  ['$ref', ' It has no text: YAML reads # outside of quotes as a comment.'],
  ['itemSchema', ' OpenAPI 3.2 has it.']
])

/**
 * An error that no rule reports. Of a file that cannot be parsed, the first line of the message
 * ends with the place, the rest is an excerpt. Other errors are about the whole description.
 */
export function unreadable (file: string, error: Error): ContractError {
  const isTooDeep = error instanceof RangeError
  const [message = ''] = isTooDeep ? ['it is nested too deeply'] : error.message.split('\n')
  const parsed = /^(?<problem>.*) in "(?<path>.*)" \((?<place>\d+:\d+)\)$/.exec(message)?.groups
  if (parsed !== undefined) {
    const { problem, path = '', place } = parsed
    const hint = hintsOfParser.find(([text]) => text.test(String(problem)))?.[1] ?? ''
    return new ContractError([`${relative('', path)}:${place} ${problem}${hint}`])
  }
  // The parser of the contract makes errors of its own from those of the file system.
  const isUnread = /^E[A-Z]+: /.test(message) || !existsSync(file)
  if (isUnread) return new ContractError([`${file}: ${message}`])
  return new ContractError([`${relative('', file)}:1:1 #/ cannot be compiled: ${message}`])
}

const hintsOfParser: ReadonlyArray<[problem: RegExp, hint: string]> = [
  // The parser does not tell the causes apart, and notices them after their line.
  [
    /^(?:bad indentation of a mapping entry|can not read a block mapping entry|missed comma)/,
    ', here or in a line before: write `key: value` below the keys beside it, and each `- item` ' +
      'with its space, and put a text with special characters, such as #, in quotes'
  ],
  // A file in UTF-16 has one in each letter.
  [/^null byte/, ': save the file as UTF-8']
]
