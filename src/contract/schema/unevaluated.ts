// The keywords unevaluatedProperties and unevaluatedItems (JSON Schema 2020-12 core, section 11).
// They replace ajv's, which do not see `contains` and take what the branches of one item evaluate
// for evaluated in the next item, too.
import { _, type CodeKeywordDefinition, type KeywordCxt, type Name } from 'ajv'
import { Type } from 'ajv/dist/compile/util.js'
import { declaredMembers, declares } from './ajv-rewriter.ts'
import type { Key } from './json.ts'
import { lazily } from './lazily.ts'
import { isSchemaObject, type Schema } from './schemas.ts'

/** The values that a branch accepts: their keys in the objects that hold them. */
export interface AcceptedValues {
  accepted: Map<unknown, Map<object, Set<Key>>> | undefined
}

export function recordAccepted (
  validation: AcceptedValues,
  branch: unknown,
  holder: object,
  key: Key
): void {
  const accepted = validation.accepted ??= new Map()
  const byHolder = accepted.get(branch) ?? new Map<object, Set<Key>>()
  accepted.set(branch, byHolder)
  const keys = byHolder.get(holder) ?? new Set()
  byHolder.set(holder, keys.add(key))
}

function accepts (
  { accepted }: AcceptedValues,
  branch: unknown,
  holder: object,
  key: Key
): boolean {
  return accepted?.get(branch)?.get(holder)?.has(key) === true
}

/** Whether a schema applies to the value at `holder[key]`. */
type Condition = (validation: AcceptedValues, holder: object, key: Key, value: object) => boolean

/** A schema that may apply to a value together with another one, and when it does. */
interface Part { schema: Schema, conditions: Condition[] }

/** Finds the schema that a `$ref` names. */
type Resolve = ($ref: string) => unknown

/** @param schema as ajv-rewriter.ts writes it */
function * partsOf (schema: unknown, resolve: Resolve, conditions: Condition[]): Generator<Part> {
  if (!isSchemaObject(schema)) return
  yield { schema, conditions }
  const isAcceptedBy = (branch: unknown): Condition => (validation, holder, key) => {
    return accepts(validation, branch, holder, key)
  }
  const partsIf = (part: unknown, ...more: Condition[]) => {
    return partsOf(part, resolve, [...conditions, ...more])
  }
  const { $ref, allOf, anyOf, oneOf, if: test, then: whenTrue, else: whenFalse } = schema
  if (typeof $ref === 'string') yield * partsIf(resolve($ref))
  for (const part of list(allOf)) yield * partsIf(part)
  for (const { branch } of [...list(anyOf), ...list(oneOf)]) {
    yield * partsIf(branch, isAcceptedBy(branch))
  }
  for (const [name, part] of Object.entries(schema.dependentSchemas ?? {})) {
    yield * partsIf(part, (_validation, _holder, _key, value) => {
      return !Array.isArray(value) && Object.hasOwn(value, name)
    })
  }
  if (!isSchemaObject(test)) return
  const isTrue = isAcceptedBy(test.branch)
  yield * partsIf(test.branch, isTrue)
  yield * partsIf(whenTrue, isTrue)
  yield * partsIf(whenFalse, (...place) => !isTrue(...place))
}

const list = (schemas: unknown) => (schemas ?? []) as Schema[]

/** Whether a schema, by its own keywords, evaluates a member or an item of a value. */
type Evaluates = (child: Key, value: object, validation: AcceptedValues) => boolean

function evaluatesMember (schema: Schema): Evaluates {
  const declared = declaredMembers(schema, [])
  return name => declares(declared, name as string)
}

function evaluatesItem (schema: Schema): Evaluates {
  if ('items' in schema || 'unevaluatedItems' in schema) return () => true
  const { length } = list(schema.prefixItems)
  const { containsBranch } = (schema.contains ?? {}) as Schema
  return (index, array, validation) => {
    return (index as number) < length || accepts(validation, containsBranch, array, index)
  }
}

interface Evaluator { conditions: Condition[], evaluates: Evaluates }

/** Returns a function that finds what applies to a value. */
function evaluatorsOf (
  schema: Schema,
  resolve: Resolve,
  toEvaluates: (schema: Schema) => Evaluates
) {
  const found = lazily(() => {
    const evaluators: Evaluator[] = []
    for (const { schema: part, conditions } of partsOf(schema, resolve, [])) {
      evaluators.push({ conditions, evaluates: toEvaluates(part) })
    }
    return { evaluators, areFixed: evaluators.every(({ conditions }) => conditions.length === 0) }
  })
  return (...place: Parameters<Condition>) => {
    const { evaluators, areFixed } = found()
    if (areFixed) return evaluators
    return evaluators.filter(({ conditions }) => conditions.every(holds => holds(...place)))
  }
}

function isEvaluated (evaluators: Evaluator[], ...child: Parameters<Evaluates>): boolean {
  for (const { evaluates } of evaluators) if (evaluates(...child)) return true
  return false
}

function toKeyword (
  keyword: string,
  type: 'object' | 'array',
  toEvaluates: (schema: Schema) => Evaluates
): CodeKeywordDefinition {
  return {
    keyword,
    type,
    schemaType: ['object', 'boolean'],
    error: { message: keyword, params: ({ params }) => _`{child: ${params.child}}` },
    code (context) {
      const { gen, data, parentSchema, it } = context
      // The others are evaluated by this keyword, not for it.
      const { [keyword]: _itself, ...beside } = parentSchema
      const resolve: Resolve = $ref => it.self.getSchema($ref)?.schema
      const find = gen.scopeValue('keyword', { ref: evaluatorsOf(beside, resolve, toEvaluates) })
      const ask = gen.scopeValue('keyword', { ref: isEvaluated })
      const place = _`${it.parentData}, ${it.parentDataProperty}, ${data}`
      const evaluators = gen.const('evaluators', _`${find}(this, ${place})`)
      const valid = gen.let('valid', true)
      const check = (child: Name) => {
        const isUnseen = _`!${ask}(${evaluators}, ${child}, ${data}, this)`
        gen.if(isUnseen, () => checkChild(context, child, valid))
      }
      if (type === 'object') gen.forIn('name', data, check)
      else gen.forRange('index', 0, _`${data}.length`, check)
      context.ok(valid)
    }
  }
}

function checkChild (context: KeywordCxt, child: Name, valid: Name): void {
  const { gen, keyword, schema, allErrors } = context
  const fail = () => {
    gen.assign(valid, false)
    if (allErrors !== true) gen.break()
  }
  if (schema === false) {
    context.error(false, { child })
    return fail()
  }
  const isValid = gen.name('isValid')
  const dataPropType = keyword === 'unevaluatedItems' ? Type.Num : Type.Str
  context.subschema({ keyword, dataProp: child, dataPropType }, isValid)
  gen.if(_`!${isValid}`, fail)
}

export const unevaluatedKeywords = [
  toKeyword('unevaluatedProperties', 'object', evaluatesMember),
  toKeyword('unevaluatedItems', 'array', evaluatesItem)
]
