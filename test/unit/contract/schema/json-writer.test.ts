// The fast ways to write an answer give the same text as the one that follows the records of the
// validation. RANDOM_SEED repeats a run.
import t from 'tap'
import {
  createCompiler, createWriters, type Schema, writeDeclared
} from '../../../../src/contract/schema/index.ts'
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
  { allOf: [{ $ref: 'Plain#' }, { oneOf: [{ $ref: 'Closed#' }, { properties: { d: word } }] }] },
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
    case 2: return 2n ** 60n
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

t.test('each way to write an answer gives the same text', async t => {
  t.comment(`RANDOM_SEED=${seed}`)
  const compile = createCompiler(schemas, 'answer')
  const writerOf = createWriters(schemas, compile)
  for (const shape of shapes) {
    const [write, validate] = [writerOf(shape), compile(shape)]
    let written = 0
    for (let i = 0; i < 3000; i++) {
      const value = anyValue(0)
      const result = validate({ value })
      if (result.fault !== undefined || value === undefined) continue
      const expected = writeDeclared(value, result.declared())
      if (write(value) !== expected) t.equal(write(value), expected, JSON.stringify(shape))
      written++
    }
    t.ok(written > 50, `${written} values of ${JSON.stringify(shape)}`)
  }
})

t.test('schemas that describe one object together declare the members of all', async t => {
  const write = (schema: Schema, value: object) => {
    return createWriters(schemas, createCompiler(schemas, 'answer'))(schema)(value)
  }
  const both = { allOf: [{ $ref: 'Plain#' }, { properties: { f: word } }] }
  t.equal(write(both, { a: 'x', f: 'y', other: 1 }), '{"a":"x","f":"y"}')
  t.equal(write({ $ref: 'Plain#' }, { a: 'x', f: 'y' }), '{"a":"x"}', 'the part alone has its own')
  t.equal(write({ ...both, not: { $ref: 'Closed#' } }, { a: 'x', f: 'y' }), '{"a":"x","f":"y"}')
  t.equal(write({ $ref: 'Plain#' }, new Row()), '{"a":"fern"}', 'toJSON() is not called')
})

t.test('members of a branch that does not match do not count', async t => {
  const branch = (a: string, inner: object) => ({ properties: { inner, a: { const: a } } })
  const validate = createCompiler(schemas, 'answer')({
    oneOf: [branch('x', { $ref: 'Plain#' }), branch('y', { additionalProperties: true })]
  })
  const inner = { other: 1, toJSON: 1 }
  const found = (a: string) => validate({ value: { inner, a } })
  t.match(found('y'), { hasUndeclared: false, writesItself: true })
  t.match(found('x'), { hasUndeclared: true, writesItself: true })
})
