import t from 'tap'
import { createCompiler, readJson } from '../../../src/contract/schema/index.ts'

const int64 = { type: 'integer', format: 'int64' }
const object = (properties: object, rest = {}) => ({ type: 'object', properties, ...rest })

/** Validates a JSON text: its value or its fault. */
function check (schema: object, text: string, components = {}) {
  const { fault, value } = { value: undefined, ...readJson(createCompiler(components, 'request')(schema), Buffer.from(text)) }
  return { fault, value: value as Record<string, unknown> | undefined }
}

t.test('a valid int64 becomes a bigint, wherever it stands', async t => {
  const components = { Leaf: object({ n: int64 }) }
  const schema = object({ n: int64, list: { type: 'array', items: int64 }, leaf: { $ref: 'Leaf#' }, maybe: { type: ['integer', 'null'], format: 'int64' } })
  const { fault, value } = check(schema, '{"n":9007199254740993,"list":[1,9223372036854775807],"leaf":{"n":-9223372036854775808},"maybe":1e3}', components)
  t.equal(fault, undefined)
  t.strictSame(value, { n: 9007199254740993n, list: [1n, 9223372036854775807n], leaf: { n: -9223372036854775808n }, maybe: 1000n })
  t.strictSame(check(schema, '{"maybe":null}', components).value, { maybe: null })
})

t.test('a member is not touched when the value is refused', async t => {
  const value = { n: 1, s: 2 }
  t.strictSame(createCompiler({}, 'request')(object({ n: int64, s: { type: 'string' } }))(value), { fault: { path: 's', problem: 'must be a string' } })
  t.strictSame(value, { n: 1, s: 2 })
})

t.test('an int64 may be the whole value', async t => {
  for (const [text, value] of [['9007199254740993', 9007199254740993n], ['0', 0n]] as const) t.strictSame(check(int64, text), { fault: undefined, value })
  t.match(check(int64, 'null').fault, { path: '', problem: /must be an integer/ })
})

t.test('what is no int64 is refused', async t => {
  for (const n of ['"1"', '1.5', 'null', 'true', '[]', '{}', '1e300', '9223372036854775808', '-9223372036854775809', '9007199254740992.5', '1e19']) {
    t.strictSame(check(object({ n: int64 }), `{"n":${n}}`).fault, { path: 'n', problem: 'must be an integer from -9223372036854775808 to 9223372036854775807' }, n)
  }
})

t.test('bounds of an int64 are exact', async t => {
  const near = { ...int64, minimum: 3, maximum: 9007199254740991 }
  t.match(check(object({ n: near }), '{"n":2}').fault, { problem: 'must be >= 3' })
  t.match(check(object({ n: near }), '{"n":9007199254740992}').fault, { problem: 'must be <= 9007199254740991' })
  t.equal(check(object({ n: near }), '{"n":9007199254740991}').fault, undefined)
  t.match(check(object({ n: { ...int64, exclusiveMinimum: 3 } }), '{"n":3}').fault, { problem: 'must be > 3' })
  t.match(check(object({ n: { ...int64, exclusiveMaximum: 3 } }), '{"n":3}').fault, { problem: 'must be < 3' })
  t.match(check(object({ n: { ...int64, multipleOf: 2 } }), '{"n":9007199254740993}').fault, { problem: 'must be a multiple of 2' })
  t.match(check(object({ n: { ...int64, enum: [1, 2] } }), '{"n":3}').fault, { problem: 'must be one of 1, 2' })
  t.match(check(object({ n: { ...int64, const: 1 } }), '{"n":2}').fault, { problem: 'must be one of 1' })
  t.equal(check(object({ n: { type: ['integer', 'null'], format: 'int64', enum: [1, null], exclusiveMinimum: 0, exclusiveMaximum: 9, multipleOf: 1 } }), '{"n":1}').fault, undefined)
})

t.test('a rule that no int64 can keep exactly does not compile', async t => {
  const compile = createCompiler({}, 'request')
  for (const rule of [{ multipleOf: 0.5 }, { minimum: -(2 ** 53) }, { enum: [1, 1.5] }, { const: 2 ** 53 }, { exclusiveMaximum: 1e300 }]) {
    t.throws(() => compile({ ...int64, ...rule }), /beside format int64 is not an integer between/, JSON.stringify(rule))
  }
  t.throws(() => compile({ type: ['integer', 'string'], format: 'int64' }), /format int64 is for integers, not for integer or string/)
})

t.test('a fault is told in words that need no schema', async t => {
  const said = (schema: object, value: unknown) => createCompiler({}, 'request')(schema)(value).fault?.problem
  t.equal(said({ type: ['array', 'null'] }, 1), 'must be an array or null')
  t.equal(said({ type: 'string', pattern: '^a$' }, 'b'), 'must match pattern "^a$"')
  t.equal(said({ type: 'string', pattern: '^a$', description: 'The letter a.' }, 'b'), 'must match pattern "^a$": The letter a')
  t.equal(said({ type: 'string', maxLength: 1 }, 'bb'), 'must NOT have more than 1 characters')
})

t.test('a bigint in an answer is valid as it stands, even in a frozen object', async t => {
  const compiled = createCompiler({}, 'answer')(object({ n: { ...int64, minimum: 1 } }))
  const validate = (value: object) => compiled(value).fault
  t.equal(validate(Object.freeze({ n: 9007199254740993n })), undefined)
  t.match(validate({ n: 0n }), { problem: 'must be >= 1' })
  t.match(validate({ n: 2n ** 63n }), { path: 'n' })
})

t.test('other numbers stay doubles', async t => {
  t.strictSame(check(object({ n: { type: 'number' }, i: { type: 'integer' } }), '{"n":9007199254740993,"i":1e17}').value, { n: 9007199254740992, i: 1e17 })
})

t.test('a schema is JSON Schema 2020-12 with the words of OpenAPI, and anything else is a mistake', async t => {
  const compile = createCompiler({ Named: { type: 'string', 'x-internal': true } }, 'request')
  t.match(compile({ type: 'array', prefixItems: [{ type: 'string' }], items: false, minItems: 1 })([1]).fault, { path: '0', problem: 'must be a string' })
  t.equal(compile({ $ref: 'Named#', example: 'x', externalDocs: { url: 'https://example.com' }, xml: {} })('x').fault, undefined)
  t.throws(() => compile({ type: 'strin' }), /type/)
  t.throws(() => compile({ type: 'string', minLenght: 1 }), /minLenght/)
  t.throws(() => compile({ $ref: 'Missing#' }), /Missing/)
})
