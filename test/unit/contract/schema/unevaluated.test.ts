// Which members and items the unevaluated keywords see, and that the engine agrees with a plain
// reading of JSON Schema 2020-12 (core, sections 10 and 11). RANDOM_SEED repeats a run.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { createCompiler } from '../../../../src/contract/schema/index.ts'
import { seededRandom } from '../../../fixtures/random.ts'

type Schema = Record<string, any>

const faultOf = (schema: object, value: unknown, components = {}) => {
  const { fault } = createCompiler(components, 'request')(schema)({ value })
  return fault && `${fault.path} ${fault.problem}`.trim()
}

t.test('what one item of a list evaluates is not evaluated in the next item', async t => {
  const number = { type: 'number' }
  const has = (name: string) => ({ required: [name], type: 'object', properties: { [name]: number } })
  const union = { type: 'object', anyOf: [has('a'), has('b')], unevaluatedProperties: false }
  t.equal(faultOf({ type: 'array', items: union }, [{ a: 1 }, { a: 1, b: 1 }]), undefined)
  t.equal(faultOf({ type: 'array', items: union }, [{ a: 1 }, { a: 'x', b: 1 }]), '1 must not have the member "a"')
  const condition = {
    type: 'array', if: { minItems: 2 }, then: { prefixItems: [true, true] }, unevaluatedItems: false
  }
  t.equal(faultOf({ type: 'array', items: condition }, [[1, 2], [1]]), '1 must not have the item 0')
})

t.test('contains evaluates the items that it matches', async t => {
  const even = { contains: { multipleOf: 2 } }
  const small = { type: 'array', ...even, unevaluatedItems: { maximum: 5 } }
  t.equal(faultOf(small, [8, 3]), undefined)
  t.equal(faultOf(small, [8, 7]), '1 must be at most 5')
  const components = { Even: { type: 'array', ...even, minContains: 0 } }
  const referring = { $ref: 'Even#', unevaluatedItems: false }
  t.equal(faultOf(referring, [2, 4], components), undefined)
  t.equal(faultOf(referring, [2, 3], components), 'must not have the item 1')
  const choice = { type: 'array', anyOf: [even, true], prefixItems: [{ type: 'number' }], unevaluatedItems: false }
  t.equal(faultOf(choice, [3, 4]), undefined)
  t.equal(faultOf(choice, [3, 5]), 'must not have the item 1')
})

t.test('contains applies to an array that lacks items of prefixItems', async t => {
  const schema = { type: 'array', prefixItems: [true, { type: 'string' }], contains: { const: 1 } }
  t.equal(faultOf(schema, []), 'must have at least 1 of the items that the contract asks for')
  t.equal(faultOf(schema, ['a']), 'must have at least 1 of the items that the contract asks for')
  t.equal(faultOf(schema, [1]), undefined)
})

t.test('if evaluates what it accepts, also without then and else', async t => {
  const test = { type: 'object', properties: { a: { const: 1 } }, required: ['a'] }
  const alone = { type: 'object', if: test, unevaluatedProperties: false }
  t.equal(faultOf(alone, { a: 1 }), undefined)
  t.equal(faultOf(alone, { a: 2 }), 'must not have the member "a"')
  const withElse = { ...alone, else: { properties: { b: true }, type: 'object' } }
  t.equal(faultOf(withElse, { b: 1 }), undefined)
  t.equal(faultOf(withElse, { a: 2, b: 1 }), 'must not have the member "a"')
  t.equal(faultOf(withElse, { a: 1, b: 1 }), 'must not have the member "b"')
})

t.test('patternProperties beside if and then is no error of the engine', async t => {
  const numbers = { '^[ab]': { type: 'number' } }
  const schema = { type: 'object', patternProperties: numbers, if: { required: ['c'] }, then: { patternProperties: { '^b': {} } } }
  t.equal(faultOf(schema, { a: 1 }), undefined)
  t.equal(faultOf({ ...schema, unevaluatedProperties: false }, { a: 1, c: 1 }), 'must not have the member "c"')
})

t.test('a branch that accepts the name of a member, or objects only, evaluates nothing else', async t => {
  const named = { anyOf: [{ type: ['string', 'object'], required: ['b'], properties: { a: true } }, true] }
  const inner = { type: 'object', $ref: 'Named#', unevaluatedProperties: false }
  const schema = { type: 'object', propertyNames: { $ref: 'Named#' }, properties: { value: inner } }
  t.equal(faultOf(schema, { value: { a: 1 } }, { Named: named }), 'value must not have the member "a"')
  const ofObjects = { type: 'array', dependentSchemas: { length: { items: true } }, unevaluatedItems: false }
  t.equal(faultOf(ofObjects, [1]), 'must not have the item 0')
})

const twice = { type: ['object', 'number'], properties: { a: { $ref: 'Twice#' }, b: { $ref: 'Twice#' } } }
const components: Record<string, Schema> = {
  Twice: { oneOf: [{ ...twice, required: ['b'] }, { ...twice, dependentSchemas: { b: false, c: { required: ['a'] } } }] },
  Plain: { type: 'object', properties: { a: { type: 'number' } } },
  Tree: {
    type: ['object', 'array'],
    anyOf: [{ type: 'object', properties: { b: { $ref: 'Tree#' } }, required: ['b'] }, { prefixItems: [true] }],
    unevaluatedProperties: { type: 'string' }
  }
}

/** What a valid value has evaluated; undefined for an invalid one. */
type Judgement = Set<string> | undefined

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Judges by the words of the specification: without a thought of speed. */
function judge (schema: Schema | boolean, value: any): Judgement {
  if (typeof schema === 'boolean') return schema ? new Set() : undefined
  const seen = new Set<string>()
  const applies = (inner: Schema | boolean | undefined, at: unknown = value) => judge(inner ?? true, at)
  const take = (names: Judgement) => names?.forEach(name => seen.add(name)) === undefined && names !== undefined
  const { type, const: constant, required = [], minItems = 0, uniqueItems = false } = schema
  const typeOf = Array.isArray(value) ? 'array' : typeof value
  if (type !== undefined && ![type].flat().includes(typeOf)) return undefined
  if ('const' in schema && value !== constant) return undefined
  if (schema.$ref !== undefined && !take(applies(components[schema.$ref.slice(0, -1)]))) return undefined
  for (const part of schema.allOf ?? []) if (!take(applies(part))) return undefined
  for (const keyword of ['anyOf', 'oneOf']) {
    if (schema[keyword] === undefined) continue
    const passing = schema[keyword].map((part: Schema) => applies(part)).filter((names: Judgement) => names !== undefined)
    if (passing.length === 0 || (keyword === 'oneOf' && passing.length > 1)) return undefined
    passing.forEach(take)
  }
  if (schema.not !== undefined && applies(schema.not) !== undefined) return undefined
  if (schema.if !== undefined) {
    if (!take(take(applies(schema.if)) ? applies(schema.then) : applies(schema.else))) return undefined
  }
  if (isObject(value)) {
    for (const name of required) if (!Object.hasOwn(value, name)) return undefined
    for (const [name, part] of Object.entries<Schema>(schema.dependentSchemas ?? {})) {
      if (Object.hasOwn(value, name) && !take(applies(part))) return undefined
    }
    for (const [name, member] of Object.entries(value)) {
      const parts = [schema.properties?.[name], pattern.test(name) ? schema.patternProperties?.[pattern.source] : undefined]
      const named = parts.filter(part => part !== undefined)
      if (named.length === 0 && schema.additionalProperties !== undefined) named.push(schema.additionalProperties)
      for (const part of named) if (applies(part, member) === undefined) return undefined
      if (named.length > 0) seen.add(name)
    }
    return judgeUnevaluated(schema.unevaluatedProperties, value, seen)
  }
  if (!Array.isArray(value)) return seen
  if (value.length < minItems || (uniqueItems && hasEqualItems(value))) return undefined
  const { prefixItems = [], items } = schema
  for (const [index, item] of value.entries()) {
    const part = prefixItems[index] ?? items
    if (part === undefined) continue
    if (applies(part, item) === undefined) return undefined
    seen.add(String(index))
  }
  if (schema.contains !== undefined) {
    const matches = [...value.keys()].filter(index => applies(schema.contains, value[index]) !== undefined)
    if (matches.length < (schema.minContains ?? 1)) return undefined
    for (const index of matches) seen.add(String(index))
  }
  return judgeUnevaluated(schema.unevaluatedItems, value, seen)
}

function hasEqualItems (items: unknown[]): boolean {
  return items.some((item, index) => items.slice(0, index).some(other => isDeepStrictEqual(item, other)))
}

function judgeUnevaluated (part: Schema | boolean | undefined, value: any, seen: Set<string>): Judgement {
  if (part === undefined) return seen
  for (const key of Object.keys(value)) {
    if (!seen.has(key) && judge(part, value[key]) === undefined) return undefined
    seen.add(key)
  }
  return seen
}

const seed = process.env.RANDOM_SEED ?? String(Date.now())
const { below, pick } = seededRandom(seed)
const names = ['a', 'b', 'c']
const pattern = /^[ab]/
const some = <Value>(make: () => Value, least = 1) => Array.from({ length: least + below(2) }, make)

function anySchema (depth: number): Schema | boolean {
  if (depth > 3 || below(6) === 0) return pick<Schema | boolean>([true, false, { type: 'number' }, { const: 1 }, {}, { $ref: 'Tree#' }, { $ref: 'Twice#' }])
  const inner = () => anySchema(depth + 1)
  const members = () => Object.fromEntries(some(() => [pick(names), inner()]))
  const schema: Schema = below(3) === 0 ? { required: [pick(names)] } : {}
  for (const keyword of some(() => pick(keywords), 2)) {
    switch (keyword) {
      case 'properties': Object.assign(schema, { type: 'object', properties: members() }); break
      case 'patternProperties': schema.patternProperties = { [pattern.source]: inner() }; break
      case 'dependentSchemas': schema.dependentSchemas = members(); break
      case 'if': Object.assign(schema, { if: inner() }, below(2) && { then: inner() }, below(2) && { else: inner() }); break
      case 'allOf': case 'anyOf': case 'oneOf': schema[keyword] = some(inner); break
      case 'prefixItems': schema.prefixItems = some(inner); break
      case 'contains': Object.assign(schema, { contains: inner(), minContains: below(3) }); break
      case '$ref': schema.$ref = pick(Object.keys(components)) + '#'; break
      case 'minItems': schema.minItems = below(3); break
      case 'uniqueItems': schema.uniqueItems = true; break
      default: schema[keyword] = inner()
    }
  }
  if (below(2) === 0) schema[pick(['unevaluatedProperties', 'unevaluatedItems'])] = inner()
  return schema
}

const keywords = [
  'properties', 'properties', 'patternProperties', 'dependentSchemas', 'if', 'allOf', 'anyOf', 'oneOf', 'prefixItems', 'contains', '$ref',
  'minItems', 'uniqueItems', 'not', 'items', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems'
]

function anyValue (depth: number): unknown {
  if (depth > 3 || below(4) === 0) return pick([1, 2, 'x'])
  if (below(2) === 0) return some(() => anyValue(depth + 1), 0)
  return Object.fromEntries(some(() => [pick(names), anyValue(depth + 1)], 0))
}

t.test('a verdict is that of the specification, for requests and for answers', async t => {
  t.comment(`RANDOM_SEED=${seed}`)
  const values = Array.from({ length: 25 }, () => anyValue(0))
  const counts = { valid: 0, invalid: 0 }
  for (let round = 0; round < 80; round++) {
    const schema = { type: 'array', items: anySchema(0) }
    const verdicts = new Map(values.map(value => [value, judge(schema.items, value) !== undefined]))
    const valid = values.filter(value => verdicts.get(value))
    for (const direction of ['request', 'answer'] as const) {
      const validate = createCompiler(components, direction)(schema)
      const text = JSON.stringify(schema)
      for (const value of values) {
        const result = validate({ value: [...valid, value] })
        const isValid = result.fault === undefined
        if (!isValid && result.faults?.().length === 0) t.fail(`${text} ${JSON.stringify(value)} has no faults`)
        counts[isValid ? 'valid' : 'invalid']++
        if (isValid !== verdicts.get(value)) t.fail(`${direction} ${text} ${JSON.stringify(value)} is ${isValid}`)
      }
    }
  }
  t.ok(counts.valid > 500 && counts.invalid > 500, JSON.stringify(counts))
})
