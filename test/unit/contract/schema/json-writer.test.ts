// What is written of answers: of all members that their schemas declare, and of no others.
// RANDOM_SEED repeats a run.
import t from 'tap'
import { createCompiler, createWriters } from '../../../../src/contract/schema/index.ts'
import { seededRandom } from '../../../fixtures/random.ts'

const word = { type: 'string' }
const schemas: Record<string, object> = {
  Plain: { type: 'object', properties: { a: word, b: { type: ['integer', 'null'] } } },
  Closed: { type: 'object', properties: { c: word, secret: word }, additionalProperties: false },
  Open: { type: 'object', properties: { d: { $ref: 'Plain#' } }, additionalProperties: true },
  Union: { anyOf: [{ $ref: 'Plain#' }, { type: 'object', properties: { e: word }, required: ['e'] }] },
  Tree: {
    type: 'object',
    properties: { a: word, inner: { type: 'array', items: { $ref: 'Tree#' } } },
    patternProperties: { '^x-': { $ref: 'Plain#' } }
  }
}
const shapes: object[] = [
  { $ref: 'Plain#' }, { $ref: 'Tree#' }, { $ref: 'Union#' }, { $ref: 'Open#' },
  { enum: ['fern', 1, null] }, { type: 'integer', format: 'int64' },
  { type: 'array', items: { anyOf: [{ $ref: 'Plain#' }, { type: 'null' }] } },
  { allOf: [{ $ref: 'Plain#' }, { $ref: 'Tree#' }, { type: 'object', properties: { f: word } }] },
  { $ref: 'Plain#', properties: { g: { $ref: 'Plain#/properties/b' } } },
  { allOf: [{ $ref: 'Plain#' }, { anyOf: [{ $ref: 'Closed#' }, { properties: { d: word } }] }] },
  {
    properties: { a: word },
    if: { properties: { a: { const: 'fern' } } },
    then: { properties: { b: {} } }
  }
]

const seed = process.env.RANDOM_SEED ?? String(Date.now())
const random = seededRandom(seed)
const shared = { a: 'fern', other: 1 }

/** A class of handlers: its method must not decide what is sent. */
class Row {
  readonly a = 'fern'
  toJSON () {
    return { a: 1, secret: 'x' }
  }
}

function anyValue (depth: number): unknown {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'inner', 'x-1', 'other', 'secret']
  const kind = random.below(depth > 3 ? 8 : 14)
  switch (kind) {
    case 0: return 1
    case 1: return null
    case 2: return 5n
    case 3: return undefined
    case 4: return shared
    case 5: return new Date(0)
    case 6: return new Row()
    case 7: return 'fern'
    case 8: return Array.from({ length: random.below(3) }, () => anyValue(depth + 1))
    default: {
      const members: Record<string, unknown> = {}
      for (let i = random.below(4); i > 0; i--) members[random.pick(names)] = anyValue(depth + 1)
      return members
    }
  }
}

function writerOf (schema: object) {
  return createWriters(createCompiler(schemas, 'answer'))(schema)
}

t.test('what is written is valid, and written again as it is', async t => {
  t.comment(`RANDOM_SEED=${seed}`)
  for (const shape of shapes) {
    const write = writerOf(shape)
    let written = 0
    for (let i = 0; i < 3000; i++) {
      const value = anyValue(0)
      if (value === undefined) continue
      let text: string
      try {
        text = write(value)
      } catch {
        continue
      }
      const again = write(JSON.parse(text))
      if (again !== text) t.equal(again, text, JSON.stringify(shape))
      written++
    }
    t.ok(written > 50, `${written} values of ${JSON.stringify(shape)}`)
  }
})

t.test('exactly the declared members are written', async t => {
  const both = { allOf: [{ $ref: 'Plain#' }, { properties: { f: word } }] }
  const two = { properties: { x: { $ref: 'Plain#' }, y: both, any: {} } }
  const id = { type: 'integer', format: 'int64' }
  const extra = { a: 'x', f: 'y', other: 1 }
  const date = new Date(0)
  const big = 2n ** 60n + 1n
  const cases: Array<[schema: object, value: unknown, text: string]> = [
    [both, extra, '{"a":"x","f":"y"}'],
    [{ $ref: 'Plain#' }, extra, '{"a":"x"}'],
    [{ ...both, not: { $ref: 'Closed#' } }, extra, '{"a":"x","f":"y"}'],
    // The same object has other members at each place, and all where nothing is declared.
    [two, { x: extra, y: extra }, '{"x":{"a":"x"},"y":{"a":"x","f":"y"}}'],
    [two, { x: extra, any: extra }, '{"x":{"a":"x"},"any":{"a":"x","f":"y","other":1}}'],
    [two, { x: extra, any: [extra] }, '{"x":{"a":"x"},"any":[{"a":"x","f":"y","other":1}]}'],
    [{ properties: { x: { properties: {} }, y: {} } }, { x: date, y: date }, `{"x":{},"y":${JSON.stringify(date)}}`],
    [{ $ref: 'Plain#' }, new Row(), '{"a":"fern"}'],
    [{ type: 'array', items: id }, [big, 5, 7n], `[${big},5,7]`],
    [id, big, String(big)],
    [{ properties: { id, any: {} } }, { id: big, any: [7n], other: 7n }, `{"id":${big},"any":[7]}`],
    [{ properties: { id } }, { id: big }, `{"id":${big}}`],
    [{}, { any: 7n }, '{"any":7}'],
    [
      { properties: { a: word }, patternProperties: { '^_': {} } },
      JSON.parse('{"__proto__":{"b":1},"other":1}'), '{"__proto__":{"b":1}}'
    ],
    // Each branch that matches declares members, and one that does not match declares none.
    [
      { anyOf: [{ properties: { c: word } }, { properties: { d: word } }, { properties: { e: { type: 'null' } } }] },
      { c: 'x', d: 'y', e: 'z' }, '{"c":"x","d":"y"}'
    ],
    [
      { oneOf: [{ required: ['e'], properties: { c: word } }, { properties: { d: word } }] },
      { c: 'x', d: 'y' }, '{"d":"y"}'
    ]
  ]
  for (const [schema, value, text] of cases) {
    t.equal(writerOf(schema)(value), text, JSON.stringify(schema))
  }
})

t.test('an answer with members that are undefined is treated as its JSON', async t => {
  t.comment(`RANDOM_SEED=${seed}`)
  const [a, b] = [{ type: 'integer' }, { type: 'null' }]
  const counting: object[] = [
    { properties: { a, b }, minProperties: 1 }, { properties: { a, b }, maxProperties: 1 },
    { properties: { a }, additionalProperties: b }, { properties: { a }, propertyNames: { enum: ['a'] } },
    { oneOf: [{ properties: { a }, additionalProperties: false }, { properties: { a, b }, required: ['a', 'b'] }] },
    { enum: [{ a: 1 }, { b: null }] }, { properties: { a, b }, not: { minProperties: 2 } },
    { type: 'array', uniqueItems: true, items: { properties: { a, b } } },
    { properties: { a, b }, unevaluatedProperties: false }
  ]
  const valueOf = (depth: number): unknown => {
    const kind = random.below(depth > 1 ? 4 : 7)
    if (kind < 3) return [1, null, undefined][kind]
    if (kind === 3) return Array.from({ length: random.below(3) }, () => valueOf(depth + 1) ?? null)
    const names = ['a', 'b', 'c'].filter(() => random.below(2) === 0)
    return Object.fromEntries(names.map(name => [name, valueOf(depth + 1)]))
  }
  for (const schema of counting) {
    const write = writerOf(schema)
    const outcome = (value: unknown) => {
      try {
        return write(value)
      } catch (error) {
        return (error as Error).message
      }
    }
    let written = 0
    for (let i = 0; i < 1000; i++) {
      const value = valueOf(0) ?? {}
      const [given, plain] = [outcome(value), outcome(JSON.parse(JSON.stringify(value)))]
      if (given !== plain) t.equal(given, plain, JSON.stringify(schema))
      if (/^[{[]/.test(given)) written++
    }
    t.ok(written > 2, `${written} values of ${JSON.stringify(schema)}`)
  }
})
