// Validates JSON Schema 2020-12 with ajv: strict, without coercion, int64 exact.
import { _, Ajv2020 } from 'ajv/dist/2020.js'
import type { CodeKeywordDefinition, ErrorObject, Options } from 'ajv'
import addFormats from 'ajv-formats'
import { explain, explainAll } from './faults.ts'
import { int64Keyword, type IntegersOfValue } from './int64.ts'
import {
  type ExactNumbers, type Fault, type Key, parseJson, type Root, toDoubles, writesItself
} from './json.ts'
import { ajvRewriter, type Declared, declares, type Direction } from './ajv-rewriter.ts'
import { containsInt64, referencedNames, type Schema, type Schemas } from './schemas.ts'

/** An object of an answer, its place, and the members that one schema declares for it. */
export interface Described { object: object, holder: object, key: Key, declared: Declared }

/** What one validation records; our keywords get it as `this`. */
interface Validation extends IntegersOfValue {
  described: Described[]
  /** Whether an object has the method toJSON(), or a member that one of its schemas lacks. */
  hasUndeclared: boolean
  errors: ErrorObject[] | undefined
}

/** `faults` finds all faults, `fault` among them; a large value has none, because it takes long. */
export type Validated =
  | { fault: Fault, faults?: () => Fault[] }
  | ValidValue

/** An answer has doubles for the bigints in `exact`. */
interface ValidValue {
  fault?: undefined
  value: unknown
  exact: ExactNumbers
  described: readonly Described[]
  /** Whether the objects of an answer may have members to leave out. */
  hasUndeclared: boolean
}

/**
 * Validates the value of a root. A valid request's value has bigints for its int64s; it reuses the
 * parsed objects.
 */
export type Validate = (root: Root) => Validated

/** Compiles a schema, once for equal schemas. */
export type Compile = (schema: object) => Validate

const options = {
  strict: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  allowMatchingProperties: true,
  ownProperties: true,
  verbose: true,
  passContext: true,
  // The generator validates the contract's schemas; doing so again would double the startup time.
  validateSchema: false,
  meta: false,
  // The optimizer takes half of the compile time, and V8 runs the code equally fast without it.
  code: { optimize: false },
  // It would print the code that it cannot compile.
  logger: false
} as const

/**
 * A compiler of schemas that may refer to the contract's components as `Name#`.
 * @param schemas the contract's components by name, valid JSON Schema 2020-12
 * @throws Error when a schema cannot be compiled, here or in the returned function
 */
export function createCompiler (schemas: Schemas, direction: Direction): Compile {
  const compile = lazily(() => checkCompiler(schemas, direction, options))
  // Compiled for the first invalid value: it would double the startup time.
  const allErrors = { ...options, allErrors: true }
  const compileAll = lazily(() => checkCompiler(schemas, direction, allErrors))
  return memoizeBySchema(schema => {
    const check = compile()(schema)
    if (direction === 'request') return requestValidator(check, lazily(() => compileAll()(schema)))
    return answerValidator(check, containsInt64(schema as Schema, schemas))
  })
}

/** Code that never runs needs no errors. Inlined references compile a component many times. */
const trialOptions = { ...options, verbose: false, messages: false, inlineRefs: false }

/** Compiles schemas as they are, with every member, to find those that cannot be compiled. */
export function createTrialCompiler (schemas: Schemas): (schema: object) => unknown {
  return memoizeBySchema(checkCompiler(schemas, 'trial', trialOptions))
}

function checkCompiler (
  schemas: Schemas,
  direction: Direction | 'trial',
  options: Options
) {
  const ajv = new Ajv2020(options)
  addFormats.default(ajv)
  for (const keyword of [int64Keyword, branchKeyword, containsBranchKeyword, declaresKeyword]) {
    ajv.addKeyword(keyword)
  }
  // The name of the member that selects a branch, for messages.
  ajv.addKeyword('discriminatorName')
  ajv.addKeyword('mayBeAbsent')
  const rewrite = ajvRewriter(schemas, direction)
  const prepare = (schema: Schema): object => {
    declareFormats(ajv, schema)
    for (const name of referencedNames(schema)) {
      // ajv has the message for a reference to nothing.
      if (added.has(name) || !Object.hasOwn(schemas, name)) continue
      added.add(name)
      ajv.addSchema({ $id: name, ...prepare(schemas[name] as Schema) })
    }
    return rewrite(schema)
  }
  const added = new Set<string>()
  return (schema: object): Check => ajv.compile(prepare(schema as Schema))
}

/** Makes a result when it is first wanted. */
export function lazily<Result> (make: () => Result): () => Result {
  let made: { result: Result } | undefined
  return () => (made ??= { result: make() }).result
}

/** Delays the work of a compiler until a value needs it. */
export function whenUsed<Value, Result> (
  compile: (schema: object) => (value: Value) => Result
): (schema: object) => (value: Value) => Result {
  return schema => {
    const compiled = lazily(() => compile(schema))
    return value => compiled()(value)
  }
}

/** Caches results by the schema's JSON text. */
export function memoizeBySchema<Result> (
  compile: (schema: object) => Result
): (schema: object) => Result {
  const results = new Map<string, Result>()
  return schema => {
    const text = JSON.stringify(schema)
    const result = results.get(text) ?? compile(schema)
    results.set(text, result)
    return result
  }
}

/** Parses and validates a JSON text. What is not JSON in UTF-8 is a fault. Throws nothing. */
export function readJson (validate: Validate, json: Uint8Array | string): Validated {
  const parsed = parseJson(json)
  return parsed.fault === undefined ? validate(parsed) : parsed
}

type Check = ReturnType<Ajv2020['compile']>

/** A larger value may have so many and such long faults that finding all takes milliseconds. */
const explained = { values: 64, charactersOfNames: 1024 }

function requestValidator (check: Check, checkAll: () => Check): Validate {
  return catchStackOverflow(root => {
    const { errors, integers } = run(check, root)
    if (errors !== undefined) {
      const fault = explain(errors)
      if (isLarge(root.value)) return { fault }
      return { fault, faults: () => allFaults(checkAll(), root) ?? [fault] }
    }
    // Replace doubles only after validation: other keywords need them.
    for (const { holder, key, integer } of integers) holder[key] = integer
    return { value: root.value, exact: noExactNumbers, described: [], hasUndeclared: false }
  })
}

function answerValidator (check: Check, mayContainBigints: boolean): Validate {
  return catchStackOverflow(({ value }) => {
    const root = mayContainBigints ? toDoubles(value) : { value }
    const { errors, exact, described, hasUndeclared } = run(check, root)
    if (errors !== undefined) return { fault: explain(errors) }
    return { value: root.value, exact, described, hasUndeclared }
  })
}

const noExactNumbers: ExactNumbers = new Map()

function run (check: Check, root: Root): Validation {
  const { value, exact = noExactNumbers } = root
  const validation: Validation = {
    exact, integers: [], described: [], hasUndeclared: false, errors: undefined
  }
  const context = {
    instancePath: '',
    parentData: root,
    parentDataProperty: 'value',
    rootData: value as object,
    dynamicAnchors: {}
  }
  const isValid = check.call(validation as never, value, context)
  if (!isValid) validation.errors = check.errors as ErrorObject[]
  return validation
}

/** Undefined when ajv's code throws: with allErrors, it is faulty for a few valid schemas. */
function allFaults (check: Check, root: Root): Fault[] | undefined {
  try {
    return explainAll(run(check, root).errors as ErrorObject[])
  } catch {
    return undefined
  }
}

/** Counts the values and the names of members, at any depth. */
function isLarge (value: unknown): boolean {
  const values = [value]
  let characters = 0
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    const members = Object.entries(value)
    if (values.length + members.length > explained.values) return true
    for (const [name, member] of members) {
      characters += name.length
      values.push(member)
    }
    if (characters > explained.charactersOfNames) return true
  }
  return false
}

/** A recursive schema recurses as deep as the value; a stack overflow becomes a fault. */
function catchStackOverflow (validate: Validate): Validate {
  return root => {
    try {
      return validate(root)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return { fault: { path: '', problem: 'is nested too deeply' } }
    }
  }
}

/** An unknown format validates nothing (JSON Schema 2020-12 validation, section 7.2.3). */
function declareFormats (ajv: Ajv2020, schema: object): void {
  for (const [, format = ''] of JSON.stringify(schema).matchAll(/"format":"([^"]+)"/g)) {
    if (!(format in ajv.formats)) ajv.addFormat(format, true)
  }
}

/**
 * Wraps a branch and discards its records when it fails. One error of each branch is enough, as
 * without allErrors. The one of `contains` replaces the errors inside, which are no faults.
 */
const toBranchKeyword = (keyword: string, isOfContains: boolean): CodeKeywordDefinition => ({
  keyword,
  trackErrors: isOfContains,
  schemaType: ['object', 'boolean'],
  code (context) {
    const { gen } = context
    const integers = gen.const('integers', _`this.integers.length`)
    const described = gen.const('described', _`this.described.length`)
    const hasUndeclared = gen.const('hasUndeclared', _`this.hasUndeclared`)
    const valid = gen.name('valid')
    const branch = context.subschema({ keyword, allErrors: false }, valid)
    gen.if(_`!${valid}`, () => {
      gen.code(_`this.integers.length = ${integers}`)
      gen.code(_`this.described.length = ${described}`)
      gen.code(_`this.hasUndeclared = ${hasUndeclared}`)
      if (!isOfContains) return
      context.reset()
      context.error()
    })
    context.ok(valid)
    context.mergeEvaluated(branch)
  }
})

const branchKeyword = toBranchKeyword('branch', false)
const containsBranchKeyword = toBranchKeyword('containsBranch', true)

/** Records which members of an object are declared. */
const declaresKeyword: CodeKeywordDefinition = {
  keyword: 'declares',
  schemaType: 'object',
  type: 'object',
  code ({ gen, data, schema, it: { parentData: holder, parentDataProperty: key } }) {
    const describe = gen.scopeValue('keyword', { ref: describer(schema) })
    gen.code(_`${describe}(this, ${data}, ${holder}, ${key})`)
  }
}

function describer (declared: Declared) {
  return (validation: Validation, object: object, holder: object, key: Key): void => {
    validation.described.push({ object, holder, key, declared })
    if (validation.hasUndeclared) return
    if (writesItself(object)) validation.hasUndeclared = true
    for (const name in object) if (!declares(declared, name)) validation.hasUndeclared = true
  }
}
