import t from 'tap'
import { createCompiler, readJson } from '../../../../src/contract/schema/index.ts'
import { recursionFinder } from '../../../../src/contract/schema/recursion.ts'
import { measureGrowth } from '../../../fixtures/cost.ts'

const int64 = { type: 'integer', format: 'int64' }
const object = (properties: object) => ({ type: 'object', properties })

/** Validates a JSON text as a request: its value or its fault. */
function check (schema: object, text: string, components = {}) {
  const validate = createCompiler(components, 'request')(schema)
  const { fault, value } = { value: undefined, ...readJson(validate, Buffer.from(text)) }
  return { fault, value: value as Record<string, unknown> | undefined }
}

t.test('a valid int64 becomes a bigint at any depth', async t => {
  const components = { Leaf: object({ n: int64 }) }
  const schema = object({
    n: int64,
    list: { type: 'array', items: int64 },
    leaf: { $ref: 'Leaf#' },
    maybe: { type: ['integer', 'null'], format: 'int64' }
  })
  const list = '[1,9223372036854775807]'
  const text = `{"n":9007199254740993,"list":${list},"leaf":{"n":-9223372036854775808},"maybe":1e3}`
  const { fault, value } = check(schema, text, components)
  t.equal(fault, undefined)
  t.strictSame(value, {
    n: 9007199254740993n,
    list: [1n, 9223372036854775807n],
    leaf: { n: -9223372036854775808n },
    maybe: 1000n
  })
  t.strictSame(check(schema, '{"maybe":null}', components).value, { maybe: null })
})

t.test('a value of a recursive schema may be equally deep with and without an exponent', async t => {
  const components = { Tree: object({ n: int64, leaf: { $ref: 'Tree#' } }) }
  const tree = (depth: number, n: string) => `${`{"n":${n},"leaf":`.repeat(depth)}{}${'}'.repeat(depth)}`
  for (const n of ['1', '1e0', '9007199254740993']) {
    t.equal(check({ $ref: 'Tree#' }, tree(900, n), components).fault, undefined, n)
    t.match(check({ $ref: 'Tree#' }, tree(60_000, n), components).fault, { problem: 'is nested too deeply' }, n)
  }
})

t.test('an answer that is deeper than the stack is a fault, and another error is thrown', async t => {
  const validate = createCompiler({ Tree: object({ leaf: { $ref: 'Tree#' } }) }, 'answer')({ $ref: 'Tree#' })
  let value: object = {}
  for (let depth = 0; depth < 60_000; depth++) value = { leaf: value }
  t.match(validate({ value }).fault, { problem: 'is nested too deeply' })
  const broken = { get leaf (): never { throw new Error('broken') } }
  t.throws(() => validate({ value: broken }), { message: 'broken' })
})

t.test('a refused value does not change', async t => {
  const value = { n: 1, s: 2 }
  const validate = createCompiler({}, 'request')(object({ n: int64, s: { type: 'string' } }))
  t.match(validate({ value }), { fault: { path: 's', problem: 'must be a string' } })
  t.strictSame(value, { n: 1, s: 2 })
})

t.test('an int64 may be the whole value', async t => {
  const integers = [['9007199254740993', 9007199254740993n], ['0', 0n]] as const
  for (const [text, value] of integers) t.strictSame(check(int64, text), { fault: undefined, value })
  t.match(check(int64, 'null').fault, { path: '', problem: /must be an integer/ })
})

t.test('a value that is not an int64 is refused', async t => {
  const problem = 'must be an integer from -9223372036854775808 to 9223372036854775807'
  const others = [
    '"x"',
    '1.5',
    '1e300',
    '9223372036854775808',
    '-9223372036854775809',
    '9007199254740992.5',
    '1e19'
  ]
  for (const n of others) t.strictSame(check(object({ n: int64 }), `{"n":${n}}`).fault, { path: 'n', problem }, n)
  const ways = [
    ['null', ', not null: leave it out'], ['"1"', ', not a string: remove its quotes'],
    ['[]', ', not an array'], ['true', ', not a boolean'], ['{}', ', not an object']
  ] as const
  for (const [n, way] of ways) t.match(check(object({ n: int64 }), `{"n":${n}}`).fault, { problem: problem + way })
})

t.test('bounds of an int64 are exact', async t => {
  const faultOf = (rule: object, n: string) => check(object({ n: { ...int64, ...rule } }), `{"n":${n}}`).fault
  const range = { minimum: 3, maximum: 9007199254740991 }
  t.match(faultOf(range, '2'), { problem: 'must be at least 3' })
  t.match(faultOf(range, '9007199254740992'), { problem: 'must be at most 9007199254740991' })
  t.equal(faultOf(range, '9007199254740991'), undefined)
  t.match(faultOf({ exclusiveMinimum: 3 }, '3'), { problem: 'must be more than 3' })
  t.match(faultOf({ exclusiveMaximum: 3 }, '3'), { problem: 'must be less than 3' })
  t.match(faultOf({ multipleOf: 2 }, '9007199254740993'), { problem: 'must be a multiple of 2' })
  t.match(faultOf({ enum: [1, 2] }, '3'), { problem: 'must be one of 1, 2' })
  t.match(faultOf({ const: 1 }, '2'), { problem: 'must be 1' })
  const nullable = {
    type: ['integer', 'null'],
    enum: [1, null],
    exclusiveMinimum: 0,
    exclusiveMaximum: 9,
    multipleOf: 1
  }
  t.match(faultOf(nullable, '2'), { problem: 'must be one of 1, null' })
  t.equal(faultOf(nullable, '1'), undefined)
})

t.test('multipleOf is exact for decimal numbers, and for large ones', async t => {
  const isMultiple = (text: string, multipleOf: number) => check({ multipleOf }, text).fault === undefined
  const cents = Array.from({ length: 10_001 }, (_, cents) => (cents / 100).toFixed(2))
  t.equal(check({ items: { multipleOf: 0.01 } }, `[${cents}]`).fault, undefined)
  const multiples: Array<[text: string, step: number]> = [
    ['-19.99', 0.01], ['-0.0', 0.1], ['1e22', 2], ['1e22', 0.5], ['3e-7', 1e-7], ['7.5', 2.5], ['5e-324', 5e-324],
    ['1e300', 1e299], ['1.7976931348623157e308', 5e-324]
  ]
  for (const [text, step] of multiples) t.ok(isMultiple(text, step), `${text} of ${step}`)
  const others: Array<[text: string, step: number]> = [
    ['19.995', 0.01], ['0.30000000000000004', 0.1], ['7', 2.5], ['1e22', 3], ['1e-7', 1], ['5e-324', 1e308]
  ]
  for (const [text, step] of others) t.notOk(isMultiple(text, step), `${text} of ${step}`)
  t.match(check({ multipleOf: 0.01 }, '1.005').fault, { problem: 'must be a multiple of 0.01' })
})

t.test('enum and const compare JSON values', async t => {
  const objects: unknown[] = [{ valueOf: 1 }, { toString: null, a: [1, { b: 'x' }] }, [[], {}]]
  const equal = ['{"valueOf":1}', '{"a":[1.0,{"b":"x"}],"toString":null}', '[[],{}]']
  const others = ['{"valueOf":2}', '{"toString":1}', '{"constructor":1,"a":[]}', '{"__proto__":1}', '{}', '[[],[]]', '[{},{}]', '1', 'null']
  for (const [index, text] of equal.entries()) {
    t.equal(check({ enum: objects }, text).fault, undefined, text)
    t.equal(check({ const: objects[index] }, text).fault, undefined, text)
    t.match(check({ const: objects[index] }, '{"valueOf":{"toString":1}}').fault, { problem: /^must be / })
  }
  for (const text of others) t.match(check({ enum: objects }, text).fault, { problem: /^must be one of/ }, text)
  const many = [null, 0, true, ...Array.from({ length: 40 }, (_, index) => `v${index}`)]
  for (const text of ['null', '-0', 'true', '"v39"']) t.equal(check({ enum: many }, text).fault, undefined, text)
  for (const text of ['1', 'false', '"v40"', '{}']) t.match(check({ enum: many }, text).fault, { problem: /^must be one of/ }, text)
})

t.test('a bound that is not an exact integer does not compile', async t => {
  const compile = createCompiler({}, 'request')
  const rules = [
    { multipleOf: 0.5 },
    { minimum: -(2 ** 53) },
    { enum: [1, 1.5] },
    { const: 2 ** 53 },
    { exclusiveMaximum: 1e300 }
  ]
  for (const rule of rules) {
    const message = /beside format int64 is not an integer between/
    t.throws(() => compile({ ...int64, ...rule })({ value: 1 }), message, JSON.stringify(rule))
  }
  const union = { type: ['integer', 'string'], format: 'int64' }
  t.throws(() => compile(union)({ value: 1 }), /format int64 is for integers, not for integer or string/)
})

t.test('a fault is described in words that do not need the schema', async t => {
  const problemOf = (schema: object, value: unknown) => createCompiler({}, 'request')(schema)({ value }).fault?.problem
  const described = { type: 'string', pattern: '^a$', description: 'The letter a.' }
  t.equal(problemOf({ type: ['array', 'null'] }, 1), 'must be an array or null')
  t.equal(problemOf({ type: 'string', pattern: '^a$' }, 'b'), 'must match pattern "^a$"')
  t.equal(problemOf(described, 'b'), 'must match pattern "^a$": The letter a')
  for (const pattern of ['^[^\\x00]*$', '^[^\\u0000]*$']) {
    t.equal(problemOf({ ...described, pattern }, '\0'), 'must not contain the character U+0000')
  }
  t.equal(problemOf({ type: 'string', maxLength: 1 }, 'bb'), 'must have at most 1 character')
})

t.test('a fault of a union names everything that is valid', async t => {
  const problemOf = (schema: object, value: unknown) => createCompiler({}, 'request')(schema)({ value }).fault?.problem
  const nullable = { type: ['string', 'null'] }
  t.equal(problemOf({ anyOf: [nullable, { type: 'integer' }] }, true), 'must be a string or null or an integer, not a boolean')
  t.equal(problemOf({ anyOf: [{ type: 'string' }, { type: 'string', minLength: 2 }] }, 1), 'must be a string, not a number: put it in quotes')
  const noForm = 'matches none of the forms that the contract declares'
  t.equal(problemOf({ anyOf: [nullable, { enum: [1, 2] }] }, true), noForm)
  const kind = (rule: object) => ({ ...object({ kind: rule }), required: ['kind'] })
  const union = { oneOf: [kind({ const: 'a' }), kind({ enum: ['b', 'c'] })], discriminator: { propertyName: 'kind' } }
  t.equal(problemOf(union, { kind: 'd' }), 'must be one of "a", "b", "c"')
})

t.test('a bigint in a response is valid, even in a frozen object', async t => {
  const validate = createCompiler({}, 'answer')(object({ n: { ...int64, minimum: 1 } }))
  const faultOf = (value: object) => validate({ value }).fault
  t.equal(faultOf(Object.freeze({ n: 9007199254740993n })), undefined)
  t.match(faultOf({ n: 0n }), { problem: 'must be at least 1' })
  t.match(faultOf({ n: 2n ** 63n }), { path: 'n' })
})

t.test('a bigint in a response that is no int64 says what to do', async t => {
  const validate = createCompiler({}, 'answer')(object({ n: { type: 'integer', format: 'int32' }, s: { type: 'string' } }))
  const problem = 'must be an integer, not a bigint: convert it by Number()'
  t.strictSame(validate({ value: { n: 250n } }).fault, { path: 'n', problem })
  t.strictSame(validate({ value: { s: 250n } }).fault, { path: 's', problem: 'must be a string' })
})

t.test('numbers without format int64 stay doubles', async t => {
  const schema = object({ n: { type: 'number' }, i: { type: 'integer' } })
  const { value } = check(schema, '{"n":9007199254740993,"i":1e17}')
  t.strictSame(value, { n: 9007199254740992, i: 1e17 })
})

t.test('a schema may use JSON Schema 2020-12 and the keywords of OpenAPI; other keywords are errors', async t => {
  const compile = createCompiler({ Named: { type: 'string', 'x-internal': true } }, 'request')
  const tuple = { type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1 }
  t.match(compile(tuple)({ value: [1] }).fault, { path: '0', problem: 'must be a string' })
  t.match(compile(tuple)({ value: ['a', 'b'] }).fault, { problem: 'must have at most 1 item' })
  const annotated = { $ref: 'Named#', example: 'x', externalDocs: { url: 'https://example.com' }, xml: {} }
  t.equal(compile(annotated)({ value: 'x' }).fault, undefined)
  t.throws(() => compile({ type: 'strin' })({ value: 1 }), /type/)
  t.throws(() => compile({ type: 'string', minLenght: 1 })({ value: 1 }), /minLenght/)
  t.throws(() => compile({ $ref: 'Missing#' })({ value: 1 }), /Missing/)
})

t.test('a reference may lead to any part of a component', async t => {
  const word = { type: 'string' }
  const components = {
    Union: { anyOf: [object({ n: int64 }), { type: 'array', prefixItems: [word], contains: word }] },
    Test: { if: object({ a: word }), then: word, not: { const: 1 } },
    Odd: object({ 'a/b%c~d "ü': word, none: false })
  }
  const parts: Array<[string, string, string]> = [
    ['Union#/anyOf/0/properties/n', '9007199254740993', '"x"'],
    ['Union#/anyOf/1/contains', '"x"', '1'],
    ['Union#/anyOf/1/prefixItems/0', '"x"', '1'],
    ['Test#/if/properties/a', '"x"', '1'],
    ['Test#/then', '"x"', '1'],
    ['Test#/not', '1', '2'],
    ['Odd#/properties/a~1b%25c~0d%20%22%C3%BC', '"x"', '1']
  ]
  for (const [$ref, valid, invalid] of parts) {
    t.equal(check({ $ref }, valid, components).fault, undefined, $ref)
    t.ok(check({ $ref }, invalid, components).fault, $ref)
  }
  t.ok(check({ $ref: 'Odd#/properties/none' }, '1', components).fault)
  t.equal(check({ $ref: 'Union#/anyOf/0/properties/n' }, '9007199254740993', components).value, 9007199254740993n)
  t.throws(() => check({ $ref: 'Odd#/properties/b' }, '1', components), /Odd#\/properties\/b/)
})

t.test('uniqueItems compares exact integers, and any other values by what they contain', async t => {
  const list = { type: 'array', uniqueItems: true }
  const problemOf = (items: object, text: string) => check({ ...list, items }, text).fault?.problem
  const distinct = [
    '[]', '[1,"1",true,"true",null,"null",[],{},"","[]","{}","=1","#0"]', '[[1],[[1]],["1"],[1,1]]',
    '[{"a":1},{"b":1},{"a":1,"b":1},{"a":null},{"a":{}},{"a":[]}]', '[["a","b"],["a,b"],["a\\",\\"b"]]',
    '[9007199254740993,9007199254740992]', '[{"n":9223372036854775807},{"n":9223372036854775806}]'
  ]
  for (const text of distinct) t.equal(problemOf({}, text), undefined, text)
  const equal = [
    '[1,1.0]', '[10,1e1]', '[0,-0]', '[0.5,5e-1]', '["a","\\u0061"]', '[null,null]', '[[],[]]', '[{},{}]',
    '[{"a":1,"b":[2]},{"b":[2e0],"a":1}]', '[9007199254740993,9007199254740993]', '[[[1]],[[1]]]'
  ]
  for (const text of equal) t.equal(problemOf({}, text), 'must not have equal items, as those at 0 and 1', text)
  t.equal(problemOf(int64, '[1,9007199254740993,9007199254740992]'), undefined)
  t.equal(problemOf(int64, '[1,9007199254740993,9007199254740993]'), 'must not have equal items, as those at 1 and 2')
  t.equal(check({ type: 'array', uniqueItems: false }, '[1,1]').fault, undefined)
})

t.test('uniqueItems inside uniqueItems', async t => {
  const inner = { type: 'array', uniqueItems: true }
  const schema = { type: 'array', uniqueItems: true, items: inner }
  t.equal(check(schema, '[[1,2],[2,1]]').fault, undefined)
  t.equal(check(schema, '[[{"a":1},{"a":2}],[{"a":2},{"a":1}],[{"a":1}]]').fault, undefined)
  t.match(check(schema, '[[{"a":1},{"a":2}],[{"a":1},{"a":2}]]').fault, { path: '', problem: /at 0 and 1/ })
  t.match(check(schema, '[[1,2],[1,2]]').fault, { path: '', problem: /at 0 and 1/ })
  t.match(check(schema, '[[1,2],[1,1]]').fault, { path: '1', problem: /at 0 and 1/ })
})

t.test('uniqueItems in an answer', async t => {
  const validate = createCompiler({}, 'answer')({
    type: 'array', uniqueItems: true, items: { anyOf: [int64, object({ a: int64 }), {}] }
  })
  const [early, late] = [new Date(0), new Date(1)]
  t.equal(validate({ value: [2n ** 53n, 2n ** 53n + 1n, { a: 2n ** 53n }, { a: 2n ** 53n + 1n }, early, late] }).fault, undefined)
  const equal = [[2n ** 53n + 1n, 2n ** 53n + 1n], [1n, 1], [{ a: 1n }, { a: 1, b: undefined }], [early, new Date(0)]]
  for (const value of equal) t.match(validate({ value }).fault, { problem: /at 0 and 1/ })
})

const branch = (kind: string, members = {}) => {
  return object({ leaf: { $ref: 'Tree#' }, n: int64, kind: { const: kind }, ...members })
}
const trees = {
  anyOf: { Tree: { anyOf: [branch('a'), branch('b')] } },
  oneOf: { Tree: { oneOf: [branch('a'), branch('b')] } },
  not: { Tree: { not: branch('a'), ...branch('b') } },
  if: { Tree: { if: branch('a'), then: false, else: branch('b') } },
  references: { Tree: { oneOf: [{ $ref: 'A#' }, { $ref: 'B#' }] }, A: branch('a'), B: branch('b') },
  'a part of it': { Tree: { anyOf: [branch('b'), branch('b', { leaf: { $ref: 'Tree#/anyOf/0' } })] } }
}

for (const [keyword, components] of Object.entries(trees)) {
  t.test(`a value is checked once by a schema that contains itself: ${keyword}`, async t => {
    let reads = 0
    const innermost = { kind: 'b', get n () { return ++reads } }
    let value: object = innermost
    for (let depth = 0; depth < 12; depth++) value = { leaf: value, kind: 'b' }
    t.equal(createCompiler(components, 'answer')({ $ref: 'Tree#' })({ value }).fault, undefined)
    t.ok(reads > 0 && reads < 10, `${reads} reads`)
  })

  t.test(`int64s are exact in a schema that contains itself: ${keyword}`, async t => {
    const tree = (leaf: string) => `{"kind":"b","n":9007199254740993,"leaf":{"kind":"b","leaf":${leaf}}}`
    const { fault, value } = check({ $ref: 'Tree#' }, tree('{"kind":"b","n":1e1}'), components)
    t.equal(fault, undefined)
    t.strictSame(value, { kind: 'b', n: 9007199254740993n, leaf: { kind: 'b', leaf: { kind: 'b', n: 10n } } })
  })
}

t.test('after a valid branch of anyOf only those with int64 are checked', async t => {
  const readsOf = (second: object, more = {}) => {
    let reads = 0
    const value = { get n () { return ++reads }, set n (_integer) {} }
    const components = { Second: object({ n: second }) }
    const anyOf = [object({ n: {} }), object({ n: { type: 'number' } }), { $ref: 'Second#' }, true]
    t.equal(createCompiler(components, 'request')({ type: 'object', anyOf, ...more })({ value }).fault, undefined)
    return reads
  }
  const plain = readsOf({ type: 'number' })
  t.ok(readsOf(int64) > plain, 'a branch that records')
  t.ok(readsOf({ type: 'number' }, { unevaluatedProperties: false }) > plain, 'a branch that evaluates')
})

t.test('checks are kept of schemas that contain themselves and to which several schemas refer', async t => {
  const kept = (components: Record<string, object>) => {
    const isKept = recursionFinder(components)
    return Object.keys(components).filter(name => isKept(`${name}#`))
  }
  t.strictSame(kept(trees.references), ['Tree'])
  t.strictSame(kept(trees.oneOf), ['Tree'])
  const tree = { $ref: 'Tree#' }
  const once = [
    { anyOf: [object({ leaf: tree }), {}] },
    { anyOf: [object({ left: tree, right: tree }), { type: 'array', items: tree }] },
    { anyOf: [{ type: 'object', additionalProperties: tree }, { type: 'array', items: tree }] },
    { type: 'object', allOf: [object({ leaf: { allOf: [tree] } })] }
  ]
  for (const Tree of once) t.strictSame(kept({ Tree }), [], JSON.stringify(Tree))
  const several = [
    { items: tree, contains: tree },
    { properties: { leaf: tree }, patternProperties: { '^l': tree } },
    { properties: { leaf: { ...object({ leaf: tree }), not: tree } } },
    { not: object({ leaf: tree }), properties: { leaf: { $ref: 'Tree#/not/properties/leaf' } } }
  ]
  for (const Tree of several) t.strictSame(kept({ Tree }), ['Tree'], JSON.stringify(Tree))
  t.strictSame(kept({ Tree: { not: { $ref: 'Other#' } }, Other: object({ leaf: tree, root: tree }) }), [])
  t.strictSame(kept({ Tree: { not: { $ref: 'Other#' } }, Other: object({ leaf: { $ref: 'Other#' } }) }), [])
})

t.test('the fault is found at any depth of a union that contains itself', async t => {
  for (const components of [trees.anyOf, trees.oneOf, trees.references]) {
    const validate = createCompiler(components, 'request')({ $ref: 'Tree#' })
    for (const depth of [1, 3, 30]) {
      const tree = (leaf: string) => '{"kind":"b","leaf":'.repeat(depth) + leaf + '}'.repeat(depth)
      const path = 'leaf/'.repeat(depth)
      const isOfKind = readJson(validate, tree('{"kind":"c"}'))
      t.match(isOfKind.fault, { path: `${path}kind`, problem: 'must be one of "a", "b"' })
      t.match(readJson(validate, tree('5')).fault, { path: path.slice(0, -1), problem: 'must be an object' })
      const result = readJson(validate, tree('{"kind":"b","n":0.5}'))
      t.match(result.fault, { path: `${path}n`, problem: /must be an integer/ })
      t.equal(result.fault && result.faults?.().length, 1)
    }
  }
})

t.test('the fault is found at any length of its path', async t => {
  const validate = createCompiler(trees.anyOf, 'request')({ $ref: 'Tree#' })
  const tree = (depth: number) => '{"kind":"b","leaf":'.repeat(depth) + '5' + '}'.repeat(depth)
  for (const depth of [400, 600]) {
    t.match(readJson(validate, tree(depth)).fault, { path: /^leaf\/.*…/, problem: 'must be an object' })
  }
})

t.test('the fault in a deep union takes no quadratic time by the number of its branches', async t => {
  const kind = (name: string, leaf = {}) => {
    return { type: 'object', required: ['k'], properties: { k: { const: name }, leaf } }
  }
  const text = '{"k":"last","leaf":'.repeat(150) + '5' + '}'.repeat(150)
  const costs = new Map<number, () => unknown>()
  for (const branches of [8, 32]) {
    const others = Array.from({ length: branches - 1 }, (_, index) => kind(`k${index}`))
    const components = { Tree: { oneOf: [...others, kind('last', { $ref: 'Tree#' })] } }
    const validate = createCompiler(components, 'request')({ $ref: 'Tree#' })
    t.match(readJson(validate, text).fault, { problem: 'must be an object' })
    costs.set(branches, () => readJson(validate, text))
  }
  const growth = await measureGrowth(branches => costs.get(branches)?.(), 32)
  t.ok(growth < 8, `${growth} times`)
})

t.test('a long name with many values inside takes no quadratic time', async t => {
  const components = { Leaf: object({ leaf: { $ref: 'Leaf#' } }) }
  const lists = { type: 'array', items: { $ref: 'Leaf#' } }
  const validate = createCompiler(components, 'request')({ type: 'object', additionalProperties: lists })
  const text = (size: number) => `{"${'~'.repeat(size)}":[${'{},'.repeat(size)}5]}`
  t.match(readJson(validate, text(100)).fault, { path: /^~0~0.*~0\/100$/, problem: 'must be an object' })
  const growth = await measureGrowth(size => readJson(validate, text(size)), 4000)
  t.ok(growth < 8, `${growth} times`)
  const names = Array.from({ length: 20 }, (_, index) => `/${index}${'a'.repeat(64)}`)
  for (const name of names) {
    t.equal(readJson(validate, `{"${name}":5}`).fault?.path, `~1${name.slice(1)}`, 'names are told apart')
  }
})

t.test('all branches that contain themselves say which members an answer has', async t => {
  const part = (name: string) => object({ leaf: { $ref: 'Tree#' }, [name]: { type: 'string' } })
  const components = { Tree: { anyOf: [part('a'), part('b')] } }
  const validate = createCompiler(components, 'answer')({ $ref: 'Tree#' })
  const result = validate({ value: { a: 'a', leaf: { b: 'b', leaf: { a: 'a' } } } })
  t.match(result, { fault: undefined, hasUndeclared: true })
  const described = result.fault === undefined ? result.described : []
  const names = described.map(({ declared }) => [...declared.names].join())
  t.strictSame(names.toSorted(), ['leaf,a', 'leaf,a', 'leaf,a', 'leaf,b', 'leaf,b', 'leaf,b'])
})

t.test('a reference to nothing is an error, also in a component', async t => {
  const validate = createCompiler({ A: { $ref: 'None#' } }, 'request')({ $ref: 'A#' })
  t.throws(() => validate({ value: 1 }), /can't resolve reference None/)
})

t.test('a pattern is not tried on a text that is too long', async t => {
  const validate = createCompiler({}, 'request')({ type: 'string', maxLength: 2, pattern: '^(a+)+$' })
  const result = readJson(validate, `"${'a'.repeat(200)}!"`)
  t.strictSame(result.fault && result.faults?.(), [{ path: '', problem: 'must have at most 2 characters' }])
  for (const text of ['"bb"', '"🌵🌵"']) t.match(readJson(validate, text).fault, { problem: /^must match pattern/ })
  t.equal(readJson(createCompiler({}, 'request')({ type: 'string', pattern: '^🌵+$' }), `"${'🌵'.repeat(99)}"`).fault, undefined)
})

t.test('format url takes linear time', async t => {
  const schema = { type: 'string', format: 'url' }
  for (const url of ['https://a.example/b?c#d', 'ftp://a@b.example']) t.equal(check(schema, `"${url}"`).fault, undefined)
  for (const text of ['a', 'mailto:a@b.example', 'http://a b', 'http://', `http://${':'.repeat(60_000)}`]) {
    t.match(check(schema, `"${text}"`).fault, { problem: 'must have the format url' }, text.slice(0, 20))
  }
})
