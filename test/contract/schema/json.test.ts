import t from 'tap'
import { integerAt, needsDoubles, parseJson, toDoubles } from '../../../src/contract/schema/json.ts'

/** A parsed text as ajv gets it, and its exact integers. */
function read (text: string) {
  const parsed = parseJson(Buffer.from(text))
  if (parsed.fault !== undefined) throw new Error(parsed.fault.problem)
  return toDoubles({ value: parsed.value })
}

const parse = (text: string) => read(text).doubles.value as Record<string, unknown>

/** The integer that was written at a path of a text. */
function exact (text: string, ...path: Array<string | number>): bigint | undefined {
  const { doubles, exact } = read(text)
  const holder = path.slice(0, -1).reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], doubles.value) as Record<string, unknown>
  const key = path.at(-1) as string
  return integerAt(holder, key, holder[key], exact)
}
const exactNumber = (number: string) => exact(`{"n":${number}}`, 'n')

t.test('values are those of JSON.parse', async t => {
  for (const text of ['{"a":[1,2.5,-0,1e3,true,null,"\\u0041"],"b":{}}', '"x"', '12', '[]', '{"d":0.1234567890123456789,"e":1e300}']) {
    t.strictSame(parse(text), JSON.parse(text), text)
  }
})

t.test('an integer is the one that was written, beyond what a double holds', async t => {
  const written: Array<[string, bigint]> = [
    ['0', 0n], ['-0', 0n], ['7', 7n], ['-7', -7n], ['1.0', 1n], ['1e3', 1000n], ['1.5e1', 15n], ['10e-1', 1n], ['0e400', 0n],
    ['9007199254740991', 9007199254740991n], ['9007199254740992', 9007199254740992n], ['9007199254740993', 9007199254740993n],
    ['9007199254740993.0', 9007199254740993n], ['9.007199254740993e15', 9007199254740993n], ['9007199254740993E+0', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n], ['-9223372036854775808', -9223372036854775808n], ['9223372036854775808', 9223372036854775808n],
    ['0.0000000000000000000000', 0n], ['1.00000000000000000000', 1n], ['1000000000000000000e0', 1000000000000000000n]
  ]
  for (const [number, integer] of written) t.equal(exactNumber(number), integer, number)
})

t.test('a fraction that a double rounds away is still a fraction', async t => {
  for (const number of ['1.5', '9007199254740992.5', '1.00000000000000000001', '4503599627370497.3', '1e-400', '999999999999999.00000000001', '15e-1']) {
    t.equal(exactNumber(number), undefined, number)
  }
})

t.test('an integer of twenty digits or more is none that fits', async t => {
  for (const number of ['10000000000000000000', '1e19', '1e300', '1e400', '-1e99999999999', '9'.repeat(60_000)]) t.equal(exactNumber(number), undefined, number.slice(0, 30))
})

t.test('the last of two members of the same name counts', async t => {
  t.equal(exactNumber('9007199254740993,"n":5'), 5n)
  t.equal(exactNumber('5,"n":9007199254740993'), 9007199254740993n)
})

t.test('integers are exact in arrays and nested objects', async t => {
  const text = '{"list":[9007199254740993,{"n":-9007199254740993}]}'
  t.equal(exact(text, 'list', 0), 9007199254740993n)
  t.equal(exact(text, 'list', 1, 'n'), -9007199254740993n)
})

t.test('an integer that a double cannot hold is a bigint until it is validated', async t => {
  t.strictSame(parseJson(Buffer.from('[9007199254740993,1e3,-9007199254740992,1.5e300]')), { value: [9007199254740993n, 1000, -9007199254740992n, 1.5e300] })
  for (const text of ['[1,{"n":9007199254740993}]', '9007199254740993', '{"n":1.00000000000000000001}']) {
    const parsed = parseJson(Buffer.from(text))
    t.ok(parsed.fault === undefined && needsDoubles(parsed.value), text)
  }
  t.notOk(needsDoubles({ a: [1, 'x', null, { b: 1e300 }] }))
  t.notOk(needsDoubles(JSON.parse(`${'['.repeat(60_000)}${']'.repeat(60_000)}`)), 'however deep')
})

t.test('what is not a number is no integer', async t => {
  for (const value of ['1', null, true, {}, NaN, Infinity]) t.equal(integerAt({}, 'n', value, new Map()), undefined)
})

t.test('text is kept to the letter', async t => {
  for (const text of ['', 'ß', '日本', '🌵', 'a\u0000b', '\u2028', '\ufeff', '\\', '"', 'x'.repeat(10_000), '1234567890123456', '\ud83c\udf35']) {
    t.equal(parse(`{"s":${JSON.stringify(text)}}`).s, text)
    t.equal(parse(`{"s":${JSON.stringify(text)},"n":1e1}`).s, text, 'and so where numbers need care')
  }
  t.equal(parse('{"s":"\\ud83c\\udf35"}').s, '🌵', 'a pair may be escaped')
})

t.test('a byte order mark is ignored', async t => {
  t.strictSame(parse('\ufeff{"a":1}'), { a: 1 })
})

t.test('a member named __proto__ is a member', async t => {
  const object = parse('{"__proto__":{"name":"x"}}')
  t.equal(Object.getPrototypeOf(object), Object.prototype)
  t.equal(object.name, undefined)
})

t.test('what is not UTF-8, not JSON or not text is refused with a sentence', async t => {
  const refused: Array<[Uint8Array | string, RegExp]> = [
    [Buffer.from('{"s":"\xff"}', 'latin1'), /^is not valid UTF-8$/],
    [Buffer.from('{"s":"a"}', 'utf16le'), /^is not valid/],
    [Buffer.from([0xed, 0xa0, 0x80]), /not valid UTF-8/],
    ['', /^is not valid JSON: .+/],
    ['{', /not valid JSON/],
    ['{"a":01}', /not valid JSON/],
    ['{"a":NaN}', /not valid JSON/],
    ['{"a":1e}', /not valid JSON/],
    ['{} {}', /not valid JSON/],
    ['{"s":"\\ud83c"}', /half of a surrogate pair/],
    ['{"s":"\\udf35\\ud83c"}', /half of a surrogate pair/],
    ['{"\\uDC00":"value"}', /half of a surrogate pair/],
    ['{"\\uDC00":1}', /half of a surrogate pair/],
    [`${'['.repeat(60_000)}1e1${']'.repeat(60_000)}`, /^is nested too deeply$/]
  ]
  for (const [bytes, message] of refused) {
    t.match(parseJson(Buffer.from(bytes)), { fault: { path: '', problem: message } }, String(bytes).slice(0, 20))
  }
})

t.test('zeros in the middle of a long number take no quadratic time', async t => {
  const began = performance.now()
  exactNumber(`1${'0'.repeat(60_000)}1`)
  exactNumber(`0.${'0'.repeat(30_000)}1${'0'.repeat(30_000)}1`)
  t.ok(performance.now() - began < 200)
})
