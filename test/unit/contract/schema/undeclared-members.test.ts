import t from 'tap'
import { removeUndeclared } from '../../../../src/contract/schema/index.ts'

const value = { a: 1, b: { c: 2 }, d: [{}] }
const components = {
  Part: { type: 'object', properties: { a: {} } },
  Loop: { allOf: [{ $ref: 'Loop#' }], properties: { a: {} } }
}
const kept = (schema: object) => {
  return removeUndeclared(schema as Record<string, unknown>, components)(value)
}

t.test('members that no part of a schema declares are removed', async t => {
  t.strictSame(kept({ properties: { a: {} } }), { a: 1 })
  t.strictSame(kept({ $ref: 'Part#' }), { a: 1 })
  t.strictSame(kept({ $ref: 'Part#/properties/a', properties: { d: {} } }), { d: [{}] })
  const inParts = { allOf: [{ $ref: 'Part#' }, { properties: { d: {} } }], required: ['d'] }
  t.strictSame(kept(inParts), { a: 1, d: [{}] })
  const closed = { properties: { b: { properties: {} } }, additionalProperties: false }
  t.strictSame(kept(closed), { b: { c: 2 } })
  t.strictSame(kept({ $ref: 'Loop#' }), { a: 1 })
})

t.test('a value without undeclared members stays the same object', async t => {
  t.equal(kept({ properties: { a: {}, b: {}, d: {}, e: {} } }), value)
})

t.test('a value stays as it is where a schema allows other members, or no object', async t => {
  const properties = { a: {} }
  for (const schema of [
    { properties, additionalProperties: true },
    { properties, additionalProperties: { type: 'integer' } },
    { properties, unevaluatedProperties: {} },
    { properties, patternProperties: { '^d': {} } },
    { properties, anyOf: [{ properties: { b: {} } }] },
    { allOf: [{ $ref: 'Part#' }, { oneOf: [{ properties: { b: {} } }] }] },
    { properties, dependentSchemas: { a: {} } },
    { properties, if: {} },
    { type: 'array' },
    {}
  ]) t.equal(kept(schema), value, JSON.stringify(schema))
})
