// Validates JSON Schema 2020-12 with ajv: strict, without coercion, int64 exact.
import { _, Ajv2020 } from 'ajv/dist/2020.js'
import type { CodeKeywordDefinition, ErrorObject, FuncKeywordDefinition, Options } from 'ajv'
import addFormats from 'ajv-formats'
import { explain, explainAll } from './faults.ts'
import { int64Keyword, type IntegersOfValue } from './int64.ts'
import { type ExactNumbers, type Fault, parseJson, type Root, toDoubles } from './json.ts'
import { ajvRewriter, componentOf, type Declared, type Direction } from './ajv-rewriter.ts'
import { containsInt64, type Schema, type Schemas } from './schemas.ts'

/** The members that a schema declares for an object of a valid value, by its JSON pointer. */
export interface DeclaredAt { pointer: string, declared: Declared }

/** What one validation records; our keywords get it as `this`. */
interface Validation extends IntegersOfValue {
  declared: DeclaredAt[]
  hasUndeclared: boolean
  writesItself: boolean
  errors: ErrorObject[] | undefined
}

/** `faults` finds all faults, `fault` among them; a large value has none, because it takes long. */
export type Validated =
  | { fault: Fault, faults?: () => Fault[] }
  | ValidValue

interface ValidValue {
  fault?: undefined
  value: unknown
  /** Whether an object of an answer has members that its schema does not declare. */
  hasUndeclared: boolean
  /** Whether an object of an answer has the method toJSON(), which must not write it. */
  writesItself: boolean
  /** Lists the objects of an answer with the members that are declared for them. */
  declared: () => readonly DeclaredAt[]
}

/**
 * Validates the value of a root. A valid request's value has bigints for its int64s; it reuses the
 * parsed objects. An answer stays as it is.
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
  const compile = lazily(() => checkCompiler(schemas, direction, options, noticesUndeclared))
  // Compiled for the first value that needs them: they would double the startup time.
  const allErrors = { ...options, allErrors: true }
  const compileAll = lazily(() => checkCompiler(schemas, direction, allErrors, noticesUndeclared))
  const compileRecords = lazily(() => checkCompiler(schemas, direction, options, recordsDeclared))
  return memoizeBySchema(schema => {
    const check = compile()(schema)
    if (direction === 'request') return requestValidator(check, lazily(() => compileAll()(schema)))
    const checkRecords = lazily(() => compileRecords()(schema))
    return answerValidator(check, checkRecords, containsInt64(schema as Schema, schemas))
  })
}

/** @param declares the keyword for the members that a schema declares */
function checkCompiler (
  schemas: Schemas,
  direction: Direction,
  options: Options,
  declares: CodeKeywordDefinition | FuncKeywordDefinition
) {
  const ajv = new Ajv2020(options)
  addFormats.default(ajv)
  for (const keyword of [int64Keyword, branchKeyword, containsBranchKeyword, declares]) {
    ajv.addKeyword(keyword)
  }
  // The name of the member that selects a branch, for messages.
  ajv.addKeyword('discriminatorName')
  const rewrite = ajvRewriter(schemas, direction)
  const added = new Set<string>()
  const add = (name: string): void => {
    const { component, isPart } = componentOf(name)
    // ajv has the message for a reference to nothing.
    if (added.has(name) || !Object.hasOwn(schemas, component)) return
    added.add(name)
    ajv.addSchema({ $id: name, ...prepare(schemas[component] as Schema, isPart) })
  }
  const prepare = (schema: Schema, isPart: boolean): object => {
    declareFormats(ajv, schema)
    return rewrite(schema, isPart, add)
  }
  return (schema: object): Check => ajv.compile(prepare(schema as Schema, false))
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

/** Parses and validates a JSON text. */
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
    return { value: root.value, hasUndeclared: false, writesItself: false, declared: nothing }
  })
}

function nothing (): [] {
  return []
}

function answerValidator (
  check: Check,
  checkRecords: () => Check,
  mayContainBigints: boolean
): Validate {
  return catchStackOverflow(({ value }) => {
    const root = mayContainBigints ? toDoubles(value) : { value }
    const { errors, hasUndeclared, writesItself } = run(check, root)
    if (errors !== undefined) return { fault: explain(errors) }
    const declared = () => run(checkRecords(), root).declared
    return { value, hasUndeclared, writesItself, declared }
  })
}

const noExactNumbers: ExactNumbers = new Map()

function run (check: Check, root: Root): Validation {
  const { value, exact = noExactNumbers } = root
  const validation: Validation = {
    exact,
    integers: [],
    declared: [],
    hasUndeclared: false,
    writesItself: false,
    errors: undefined
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
    const declared = gen.const('declared', _`this.declared.length`)
    const hasUndeclared = gen.const('hasUndeclared', _`this.hasUndeclared`)
    const writesItself = gen.const('writesItself', _`this.writesItself`)
    const valid = gen.name('valid')
    const branch = context.subschema({ keyword, allErrors: false }, valid)
    gen.if(_`!${valid}`, () => {
      gen.code(_`this.integers.length = ${integers}`)
      gen.code(_`this.declared.length = ${declared}`)
      gen.code(_`this.hasUndeclared = ${hasUndeclared}`)
      gen.code(_`this.writesItself = ${writesItself}`)
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

/** Notices objects that JSON.stringify() would not write as the members that are declared. */
const noticesUndeclared: CodeKeywordDefinition = {
  keyword: 'declares',
  schemaType: 'object',
  type: 'object',
  code ({ gen, data, schema }) {
    const notice = gen.scopeValue('keyword', { ref: toNotice(schema) })
    gen.code(_`${notice}(this, ${data})`)
  }
}

function toNotice ({ any, names, patterns }: Declared) {
  const known = new Set(names)
  const regexps = patterns.map(pattern => new RegExp(pattern, 'u'))
  return (validation: Validation, object: object): void => {
    if ('toJSON' in object) validation.writesItself = true
    if (any) return
    for (const name in object) {
      if (known.has(name) || regexps.some(regexp => regexp.test(name))) continue
      validation.hasUndeclared = true
      return
    }
  }
}

/** Records which members of an object are declared. */
const recordsDeclared: FuncKeywordDefinition = {
  keyword: 'declares',
  schemaType: 'object',
  type: 'object',
  compile: (declared: Declared) => function (this: Validation, _object: object, context) {
    this.declared.push({ pointer: String(context?.instancePath), declared })
    return true
  }
}
