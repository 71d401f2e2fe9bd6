// JSON Schema 2020-12 by ajv, strict and without coercion, and int64 exactly.
import { _, Ajv2020 } from 'ajv/dist/2020.js'
import type { CodeKeywordDefinition, ErrorObject, FuncKeywordDefinition } from 'ajv'
import addFormats from 'ajv-formats'
import { int64Keyword } from './int64.ts'
import type { Integer } from './int64.ts'
import { rewriter } from './schemas.ts'
import type { Declared, Direction, Schema, Schemas } from './schemas.ts'

/** What is wrong with a value, and where (a JSON pointer without its first slash). */
export interface Fault { path: string, problem: string }

/** What a valid value turned out to hold: an int64 that is not exact yet, or at a JSON pointer an object and the members that are declared of it. */
export type Finding = Integer | { pointer: string, declared: Declared }

/** Checks the value at `holder[key]`. The findings are good until the next call of any such function. */
export type Validate = (holder: object, key: string) => { fault?: Fault, findings: readonly Finding[] }

/** Compiles a schema, once for all the places where it is the same. */
export type Compile = (schema: object) => Validate

/**
 * A compiler of schemas that may refer to the contract's components as `Name#`.
 * @param schemas the contract's components by name, valid JSON Schema 2020-12, as the generator makes sure
 * @throws Error, from it or the compiler, when a schema cannot be compiled
 */
export function createCompiler (schemas: Schemas, direction: Direction): Compile {
  const findings: Finding[] = []
  const ajv = new Ajv2020({ verbose: true, strict: true, strictTypes: false, strictTuples: false, strictRequired: false, allowMatchingProperties: true, ownProperties: true, validateSchema: false })
  addFormats.default(ajv)
  for (const keyword of [int64Keyword(findings), branchKeyword(findings), declaresKeyword(findings)]) ajv.addKeyword(keyword)
  // The member that tells branches apart, for messages.
  ajv.addKeyword('tellsBy')
  const rewrite = rewriter(schemas, direction)
  const prepare = (schema: object): object => {
    declareFormats(ajv, schema)
    return rewrite(schema as Schema)
  }
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema({ $id: name, ...prepare(schema) })
  const compiled = new Map<string, Validate>()
  return schema => {
    const text = JSON.stringify(schema)
    const validate = compiled.get(text) ?? toValidate(ajv.compile(prepare(schema)), findings)
    compiled.set(text, validate)
    return validate
  }
}

function toValidate (validate: ReturnType<Ajv2020['compile']>, findings: Finding[]): Validate {
  return (holder, key) => {
    findings.length = 0
    const value = (holder as Record<string, unknown>)[key]
    const context = { instancePath: '', parentData: holder, parentDataProperty: key, rootData: value as object, dynamicAnchors: {} }
    return validate(value, context) ? { findings } : { fault: explain(validate.errors as ErrorObject[]), findings: [] }
  }
}

/** Puts the exact integers in their places: not before the value is valid, as until then other keywords may want to see the double. */
export function putIntegers (findings: readonly Finding[]): void {
  for (const finding of findings) {
    if ('integer' in finding) finding.holder[finding.key] = finding.integer
  }
}

/** Formats that nobody here knows validate nothing (JSON Schema 2020-12 validation, section 7.2.3). */
function declareFormats (ajv: Ajv2020, schema: object): void {
  for (const [, format = ''] of JSON.stringify(schema).matchAll(/"format":"([^"]+)"/g)) {
    if (!(format in ajv.formats)) ajv.addFormat(format, true)
  }
}

/** One branch of several: what was found in it is forgotten when it turns out not to hold. */
function branchKeyword (findings: Finding[]): CodeKeywordDefinition {
  return {
    keyword: 'branch',
    schemaType: ['object', 'boolean'],
    code (context) {
      const { gen } = context
      const found = gen.scopeValue('obj', { ref: findings })
      const before = gen.const('before', _`${found}.length`)
      const valid = gen.name('valid')
      const branch = context.subschema({ keyword: 'branch' }, valid)
      gen.if(_`!${valid}`, () => gen.code(_`${found}.length = ${before}`))
      context.ok(valid)
      context.mergeEvaluated(branch)
    }
  }
}

/** Notes which members of an object are declared. */
function declaresKeyword (findings: Finding[]): FuncKeywordDefinition {
  return {
    keyword: 'declares',
    schemaType: 'object',
    type: 'object',
    compile: (declared: Declared) => (_object: object, context) => {
      findings.push({ pointer: String(context?.instancePath), declared })
      return true
    }
  }
}

/** The first fault that ajv names, in words for people who do not know the schema. */
function explain (errors: ErrorObject[]): Fault {
  const error = mostTelling(errors)
  const name = error.propertyName === undefined ? '' : `has the member "${error.propertyName}", whose name `
  return { path: error.instancePath.slice(1), problem: name + describe(error) }
}

/** Without allErrors the last error is the outermost; that of a union or a condition says less than those inside it. */
function mostTelling (errors: ErrorObject[]): ErrorObject {
  const outermost = errors.at(-1) as ErrorObject
  const inside = errors.slice(0, -1)
  if (['if', 'propertyNames'].includes(outermost.keyword)) return mostTelling(inside)
  if (!['anyOf', 'oneOf'].includes(outermost.keyword)) return outermost
  const { tellsBy } = outermost.parentSchema as { tellsBy?: string }
  if (tellsBy !== undefined) return telledApart(inside, `${outermost.instancePath}/${tellsBy}`, outermost)
  const deeper = inside.filter(error => error.instancePath.length > outermost.instancePath.length)
  if (deeper.length > 0) return deeper[0] as ErrorObject
  const types = inside.flatMap(({ keyword, params }) => keyword === 'type' ? params.type : [])
  return types.length === inside.length && types.length > 0 ? { ...outermost, keyword: 'type', params: { type: types } } : outermost
}

/** What is wrong in the branch that the discriminator names or, where it names none, with the discriminator. */
function telledApart (errors: ErrorObject[], path: string, outermost: ErrorObject): ErrorObject {
  const misses = errors.filter(({ keyword, instancePath }) => keyword === 'enum' && instancePath === path)
  const other = errors.find(error => !misses.includes(error) && error.keyword !== 'branch')
  if (other !== undefined) return other
  const [miss] = misses
  return miss === undefined ? outermost : { ...miss, params: { allowedValues: misses.flatMap(({ params }) => params.allowedValues) } }
}

function describe ({ keyword, params, message, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'type': return `must be ${[params.type].flat().map(type => type === 'null' ? 'null' : /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`).join(' or ')}`
    case 'required': return `must have the member "${params.missingProperty}"`
    case 'enum': return `must be one of ${params.allowedValues.map((value: unknown) => JSON.stringify(value)).join(', ')}`
    case 'const': return `must be ${JSON.stringify(params.allowedValue)}`
    case 'additionalProperties': return `must not have the member "${params.additionalProperty}"`
    case 'unevaluatedProperties': return `must not have the member "${params.unevaluatedProperty}"`
    case 'false schema': return 'must not be sent'
    case 'anyOf':
    case 'oneOf': return params.passingSchemas ? 'fits more than one of the forms that the contract declares' : 'has none of the forms that the contract declares'
    // What a pattern means is for its author to say.
    case 'pattern': return `${message}${parentSchema?.description === undefined ? '' : `: ${parentSchema.description.replace(/\.$/, '')}`}`
    default: return String(message)
  }
}
