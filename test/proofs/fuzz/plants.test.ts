import fc from 'fast-check'
import t from 'tap'
import { valuesOf } from './plants.ts'

const samples = { seed: 1, numRuns: 50 }

t.test('a member may be a code, of which no single character is a text', async t => {
  const pattern = '^[A-Z]{2}-[0-9]{4}$'
  const codes = fc.sample(valuesOf({ type: 'string', pattern }), samples) as string[]
  for (const code of codes) t.match(code, new RegExp(pattern))
})

t.test('a number may be a multiple, such as a price', async t => {
  const multiple = { type: 'integer', format: 'int32', multipleOf: 12, minimum: -30, maximum: 30 }
  for (const value of fc.sample(valuesOf(multiple), samples)) t.ok([-24, -12, 0, 12, 24].includes(value as number), String(value))
  const price = { type: 'number', multipleOf: 0.01, minimum: 0, maximum: 9.99 }
  for (const value of fc.sample(valuesOf(price), samples)) t.match(String(value), /^\d(?:\.\d\d?)?$/)
})

t.test('a member may have exclusive limits, and a list no two items alike', async t => {
  const limits = { minimum: 0, exclusiveMinimum: 0, exclusiveMaximum: 3 }
  const integers = fc.sample(valuesOf({ type: 'integer', format: 'int32', ...limits }), samples)
  t.strictSame([...new Set(integers)].sort(), [1, 2])
  const halves = fc.sample(valuesOf({ type: 'number', multipleOf: 0.5, ...limits }), samples)
  t.strictSame([...new Set(halves)].sort(), [0.5, 1, 1.5, 2, 2.5])
  const lists = valuesOf({ type: 'array', uniqueItems: true, items: { enum: [1, 2] } })
  for (const list of fc.sample(lists, samples) as number[][]) t.equal(new Set(list).size, list.length)
})

t.test('a schema of which no sample is a text is refused, instead of a search without end', async t => {
  const schema = { type: 'string', format: 'uuid', pattern: '^#' }
  t.throws(() => valuesOf(schema), { message: /finds no text that .* allows: add one there\.$/ })
})
