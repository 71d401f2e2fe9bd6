// Validates JSON Schema 2020-12 with ajv: strict, without coercion, int64 exact.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ErrorObject, Options } from 'ajv'
import addFormats from 'ajv-formats'
import { allowedValueKeywords } from './allowed-values.ts'
import { rememberEscaped } from './escaped-names.ts'
import { explain, explainAll } from './faults.ts'
import { int64Keyword } from './int64.ts'
import { type ExactNumbers, type Fault, parseJson, type Root, toDoubles, tooDeep } from './json.ts'
import { multipleOfKeyword } from './multiple-of.ts'
import { ajvRewriter, type Direction, toSchemaId } from './ajv-rewriter.ts'
import {
  branchKeywords, containsKeyword, declaresKeyword, patternKeyword, unionKeywords, type Validation
} from './ajv-keywords.ts'
import { lazily, memoizeBySchema } from './lazily.ts'
import {
  containsInt64, countsMembers, hasUnevaluated, referenced, references, type Schema, type Schemas
} from './schemas.ts'
import { type Described, describedIn, noRecords, withInner } from './records.ts'
import { recursionFinder, referenceKeyword } from './recursion.ts'
import { removeProto } from './undeclared-members.ts'
import { unevaluatedKeywords } from './unevaluated.ts'
import { uniqueItemsKeyword } from './unique-items.ts'

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
  /** Of an answer: whether it may break the schema without the members to leave out. */
  countsMembers?: () => boolean
}

/**
 * Validates the value of a root. A valid request's value has bigints for its int64s; it reuses the
 * parsed objects.
 */
export interface Validate {
  (root: Root): Validated
  /** Whether the value of a root is valid: finds no fault, which takes most of the time. */
  accepts (root: Root): boolean
}

/** Compiles a schema for its first value, once for equal schemas: few are needed after a start. */
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
 * @returns its validators throw an Error when the schema cannot be compiled
 */
export function createCompiler (schemas: Schemas, direction: 'request' | 'answer'): Compile {
  const plain = checkCompilers(schemas, direction, false)
  const recording = checkCompilers(schemas, direction, true)
  const componentsNeedRecords = lazily(() => hasUnevaluated({ $defs: schemas }))
  const validatorOf = memoizeBySchema(schema => {
    const needsRecords = componentsNeedRecords() || hasUnevaluated(schema as Schema)
    const { compile, compileAll } = needsRecords ? recording : plain
    const check = compile()(schema)
    if (direction === 'request') return requestValidator(check, lazily(() => compileAll()(schema)))
    const isCounted = lazily(() => countsMembers(schema as Schema, schemas))
    return answerValidator(check, containsInt64(schema as Schema, schemas), isCounted)
  })
  return schema => whenUsed(lazily(() => validatorOf(schema)))
}

/** Few validators are needed soon after a start. */
function whenUsed (validator: () => Validate): Validate {
  const validate = (root: Root) => validator()(root)
  return Object.assign(validate, { accepts: (root: Root) => validator().accepts(root) })
}

/** @param recordsAccepted whether the schemas have unevaluated keywords */
function checkCompilers (schemas: Schemas, direction: Direction, recordsAccepted: boolean) {
  const compilerWith = (options: Options) => lazily(() => {
    return checkCompiler(options, schemas, direction, recordsAccepted)
  })
  return {
    compile: compilerWith(options),
    // Compiled for the first invalid value: it would double the startup time.
    compileAll: compilerWith({ ...options, allErrors: true })
  }
}

/** Code that never runs needs no errors. Inlined references compile a component many times. */
const trialOptions = { ...options, verbose: false, messages: false, inlineRefs: false }

/** Compiles schemas as they are, with every member, to find those that cannot be compiled. */
export function createTrialCompiler (schemas: Schemas): (schema: object) => unknown {
  return memoizeBySchema(checkCompiler(trialOptions, schemas, 'trial', false))
}

function checkCompiler (
  options: Options,
  schemas: Schemas,
  direction: Direction,
  recordsAccepted: boolean,
  isRecursive = recursionFinder(schemas)
) {
  const rewrite = ajvRewriter(schemas, direction, recordsAccepted)
  const ajv = new Ajv2020(options)
  rememberEscaped(ajv)
  addFormats.default(ajv)
  ajv.addFormat('url', isUrl)
  // ajv's tracking of members throws for some values: of patternProperties beside `if`, for one.
  ajv.opts.unevaluated = false
  const recursive = new Set<string>()
  const replacing = [
    referenceKeyword(recursive), ...allowedValueKeywords, ...unionKeywords, containsKeyword,
    multipleOfKeyword, patternKeyword, uniqueItemsKeyword, ...unevaluatedKeywords
  ]
  for (const definition of replacing) {
    ajv.removeKeyword(definition.keyword as string)
    ajv.addKeyword(definition)
  }
  const ours = [int64Keyword, ...branchKeywords(recordsAccepted), declaresKeyword]
  for (const definition of ours) ajv.addKeyword(definition)
  // The name of the member that selects a branch, for messages.
  ajv.addKeyword('discriminatorName')
  ajv.addKeyword('mayBeAbsent')
  ajv.addKeyword('isPlain')
  const prepare = (schema: Schema): object => {
    declareFormats(ajv, schema)
    for (const $ref of references(schema)) {
      const target = referenced(schemas, { $ref })
      // ajv has the message for a reference to nothing.
      if (added.has($ref) || target === undefined) continue
      added.add($ref)
      if (isRecursive($ref)) recursive.add(toSchemaId($ref))
      ajv.addSchema(prepare(target), toSchemaId($ref))
    }
    return rewrite(schema)
  }
  const added = new Set<string>()
  return (schema: object): Check => {
    const check = ajv.compile(prepare(schema as Schema))
    const { $ref } = schema as Schema
    // recursion.ts compiles what a reference means for its first value.
    if (direction === 'trial' && typeof $ref === 'string') ajv.getSchema(toSchemaId($ref))
    return check
  }
}

/** The pattern of ajv-formats takes quadratic time. */
function isUrl (text: string): boolean {
  return /^(?:https?|ftp):\/\/\S+$/i.test(text) && URL.canParse(text)
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
  return toValidate(check, root => {
    const validation = run(check, root)
    const { errors } = validation
    if (errors !== undefined) {
      const fault = explain(errors)
      if (isLarge(root.value)) return { fault }
      return { fault, faults: () => explainAll(run(checkAll(), root).errors as ErrorObject[]) }
    }
    // Replace doubles only after validation: other keywords need them.
    for (const { integers } of withInner(validation)) {
      for (const { holder, key, integer } of integers) holder[key] = integer
    }
    if (root.mayHaveProto === true) removeProto(root.value)
    return { value: root.value, exact: noExactNumbers, described: [], hasUndeclared: false }
  })
}

function answerValidator (
  check: Check,
  mayContainBigints: boolean,
  countsMembers: () => boolean
): Validate {
  return toValidate(check, ({ value }) => {
    const root = mayContainBigints ? toDoubles(value) : { value }
    const validation = run(check, root)
    const { errors, exact, hasUndeclared } = validation
    if (errors !== undefined) return { fault: explain(errors) }
    const described = describedIn(validation)
    return { value: root.value, exact, described, hasUndeclared, countsMembers }
  })
}

const noExactNumbers: ExactNumbers = new Map()

function run (check: Check, root: Root): Validation {
  const { value, exact = noExactNumbers } = root
  const validation: Validation = {
    exact,
    ...noRecords(),
    accepted: undefined,
    compared: undefined,
    checked: undefined,
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

/** Counts the values and the names of members, at any depth. */
function isLarge (value: unknown): boolean {
  const values = [value]
  let characters = 0
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value) && value.length > explained.values) return true
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

function toValidate (check: Check, validate: (root: Root) => Validated): Validate {
  const accepts = (root: Root) => run(check, root).errors === undefined
  return Object.assign(
    catchStackOverflow<Validated>(validate, { fault: { path: '', problem: tooDeep } }),
    { accepts: catchStackOverflow(accepts, false) }
  )
}

/** A recursive schema recurses as deep as the value. */
function catchStackOverflow<Result> (
  use: (root: Root) => Result,
  onOverflow: Result
): (root: Root) => Result {
  return root => {
    try {
      return use(root)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return onOverflow
    }
  }
}

/** An unknown format validates nothing (JSON Schema 2020-12 validation, section 7.2.3). */
function declareFormats (ajv: Ajv2020, schema: object): void {
  for (const [, format = ''] of JSON.stringify(schema).matchAll(/"format":"([^"]+)"/g)) {
    if (!(format in ajv.formats)) ajv.addFormat(format, true)
  }
}
