// What schemas have that is allowed, and hardly meant.
import type { UserContext } from '@redocly/openapi-core'
import { isSchemaObject, type Schema, schemasIn } from '../../schema/index.ts'
import { annotations, keywords } from '../description/normalize.ts'
import { didYouMean } from '../../message/did-you-mean.ts'
import { formsOfOtherVersion } from './openapi-version.ts'

/** A sentence, and the keyword of the schema that it is about. */
interface Warning { sentence: string, keyword: string }

/** @param context of the linter's visit of the schema */
export function warningsOfSchema (schema: Schema, context: UserContext): Warning[] {
  return checks.flatMap(check => check(schema, context))
}

const checks: Array<(schema: Schema, context: UserContext) => Warning[]> = [
  otherVersions, unknownKeywords, impossibleBounds, doubtfulLists, patternWarnings, unknownFormats,
  ignoredDiscriminators, refusedMembers, ignoredNullables
]

function otherVersions (schema: Schema, { specVersion }: UserContext): Warning[] {
  const isOpenApi30 = specVersion === 'oas3_0'
  return formsOfOtherVersion(schema, isOpenApi30).map(keyword => {
    const [read, written] = isOpenApi30 ? ['3.1', '3.0'] : ['3.0', '3.1']
    const bound = `\`${keyword.replace('exclusiveM', 'm')}\``
    const exclusive = isOpenApi30 ? `true beside ${bound}` : `the bound, in place of ${bound}`
    const form = keyword === 'type' ? 'one type, and `nullable: true` beside it' : exclusive
    const sentence = `This is read as in OpenAPI ${read}: in ${written}, \`${keyword}\` is ${form}.`
    return { sentence, keyword }
  })
}

function patternWarnings ({ pattern, maxLength = Infinity }: Schema): Warning[] {
  const warnings: Warning[] = []
  const add = (sentence: string) => warnings.push({ sentence, keyword: 'pattern' })
  if (typeof pattern !== 'string') return warnings
  if (Number(maxLength) > longestBacktracked && repeatsRepetitions.test(pattern)) {
    add('This pattern may take seconds for 30 characters, and twice that for each more. Write it ' +
      'without a repetition of nothing but repetitions.')
  }
  if (/^\/\^.*\$\/\w*$/s.test(pattern)) {
    add('No text matches this pattern: write it without the slashes around it.')
  }
  const [posixClass] = /\[:[a-z]+:\]/.exec(pattern) ?? []
  if (posixClass !== undefined) {
    add(`\`${posixClass}\` is no class of characters in JavaScript: write \\p{L} for letters, ` +
      '\\d for digits.')
  }
  return warnings
}

function unknownFormats ({ type, format }: Schema): Warning[] {
  const known = [type].flat().includes('string') ? formatsOfText : formatsOfNumber
  if (typeof format !== 'string' || [...known, ...otherFormats].includes(format)) return []
  // Swagger 2.0 had a type `file`.
  const hint = format === 'file' ? ' Did you mean binary?' : didYouMean(format, known)
  const sentence = `The format \`${format}\` is unknown, and validates nothing.${hint}`
  return hint === '' ? [] : [{ sentence, keyword: 'format' }]
}

function ignoredDiscriminators ({ discriminator, ...others }: Schema): Warning[] {
  if (discriminator === undefined || 'oneOf' in others) return []
  const sentence = 'A discriminator without `oneOf` beside it is ignored.'
  return [{ sentence, keyword: 'discriminator' }]
}

/** OpenAPI 3.0.3, Schema Object: it needs a type, which `allOf` and `$ref` have as a rule. */
function ignoredNullables (schema: Schema, { specVersion }: UserContext): Warning[] {
  const isApplied = ['type', 'allOf', '$ref'].some(keyword => keyword in schema)
  if (specVersion !== 'oas3_0' || schema.nullable !== true || isApplied) return []
  const sentence = '`nullable` is ignored without `type` beside it, and null is refused: write ' +
    'both in a branch of a union.'
  return [{ sentence, keyword: 'nullable' }]
}

function refusedMembers (schema: Schema, context: UserContext): Warning[] {
  if (!Array.isArray(schema.allOf) || !refusesOthers(schema, context)) return []
  const sentence = 'A part with `additionalProperties: false` refuses the members of the others: ' +
    'write `unevaluatedProperties: false` beside this allOf instead.'
  return [{ sentence, keyword: 'allOf' }]
}

function unknownKeywords (schema: Schema, { specVersion }: UserContext): Warning[] {
  const unknown = Object.keys(schema).filter(word => {
    if (keywords.has(word) || annotations.has(word) || word.startsWith('x-')) return false
    return word !== 'nullable' || specVersion !== 'oas3_0'
  })
  const known = [...keywords, ...annotations]
  return unknown.map(keyword => {
    const sentence = `\`${keyword}\` is ignored: JSON Schema 2020-12 has no such keyword.`
    const hint = keyword === 'nullable' ? nullableHint(schema) : didYouMean(keyword, known)
    return { sentence: sentence + hint, keyword }
  })
}

function nullableHint ({ $ref }: Schema): string {
  const union = "anyOf: [{ $ref: ... }, { type: 'null' }]"
  const form = $ref === undefined ? "type: [string, 'null']" : union
  return ` In OpenAPI 3.1 it is \`${form}\`.`
}

/** Two bounds that leave nothing. */
function impossibleBounds (schema: Schema): Warning[] {
  const warnings: Warning[] = []
  for (const [keyword, upper] of bounds) {
    const [least, most] = [schema[keyword], schema[upper]]
    if (typeof least !== 'number' || typeof most !== 'number') continue
    const isExclusive = /exclusive/.test(keyword + upper)
    if (least < most || (least === most && !isExclusive)) continue
    const relation = least > most ? 'is more than' : 'leaves nothing below'
    const sentence = `\`${keyword}\` ${relation} \`${upper}\`: no value satisfies both.`
    warnings.push({ sentence, keyword })
  }
  return warnings
}

const bounds = [
  ['minimum', 'maximum'], ['minimum', 'exclusiveMaximum'], ['exclusiveMinimum', 'maximum'],
  ['exclusiveMinimum', 'exclusiveMaximum'], ['minLength', 'maxLength'], ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'], ['minContains', 'maxContains']
] as const

/** An empty `enum`, and values that a list has twice (JSON Schema 2020-12, validation, 6.1.2). */
function doubtfulLists (schema: Schema): Warning[] {
  const warnings: Warning[] = []
  for (const keyword of ['enum', 'required']) {
    const values = schema[keyword]
    if (!Array.isArray(values)) continue
    const add = (sentence: string) => warnings.push({ sentence, keyword })
    if (keyword === 'enum' && values.length === 0) add('No value satisfies an empty `enum`.')
    const seen = new Set<string>()
    for (const text of values.map(value => JSON.stringify(value))) {
      if (seen.has(text)) add(`\`${keyword}\` has ${text} twice.`)
      seen.add(text)
    }
  }
  return warnings
}

/** Whether a part of `allOf` refuses a member that another part or the schema itself declares. */
function refusesOthers (schema: Schema, { resolve }: UserContext): boolean {
  const parts = schemasIn(schema, ['allOf']).map(part => resolve<Schema>(part).node ?? {})
  const declared = [schema, ...parts].flatMap(({ properties }) => Object.keys(Object(properties)))
  return parts.some(part => isClosed(part) && !declared.every(name => hasMember(part, name)))
}

/** Whether an object has the members of `properties` alone. */
function isClosed ({ additionalProperties, patternProperties }: Schema): boolean {
  return additionalProperties === false && patternProperties === undefined
}

function hasMember ({ properties }: Schema, name: unknown): boolean {
  return isSchemaObject(properties) && Object.hasOwn(properties, String(name))
}

/** Characters for which such a pattern takes a millisecond. */
const longestBacktracked = 16

const atom = String.raw`(?:\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\()[\]+*?{|])`
/** A group that is repeated and has nothing but repeated and optional parts, such as (a+)+. */
const repeatsRepetitions = new RegExp(
  String.raw`\((?:\?:)?(?:${atom}[+*?])*${atom}[+*](?:${atom}[*?])*\)(?:[+*]|\{\d+,)`
)

const formatsOfNumber = ['float', 'double', 'int32', 'int64']
const formatsOfText = [
  'date', 'time', 'date-time', 'duration', 'uri', 'uri-reference', 'uri-template', 'url', 'email',
  'hostname', 'ipv4', 'ipv6', 'uuid', 'regex', 'json-pointer', 'relative-json-pointer', 'byte',
  'binary', 'password'
]
/** Others of JSON Schema and of OpenAPI's registry, which validate nothing. */
const otherFormats = [
  'int8', 'int16', 'uint8', 'uint16', 'uint32', 'uint64', 'int64', 'iri', 'iri-reference',
  'idn-email', 'idn-hostname'
]
