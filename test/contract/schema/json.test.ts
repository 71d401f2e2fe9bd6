import t from 'tap'
import { integerAt, parseJson } from '../../../src/contract/schema/json.ts'

const parse = (text: string) => parseJson(Buffer.from(text))[''] as Record<string, unknown>
const exact = (number: string) => {
  const object = parse(`{"n":${number}}`)
  return integerAt(object, 'n', object.n)
}

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
  for (const [number, integer] of written) t.equal(exact(number), integer, number)
})

t.test('a fraction that a double rounds away is still a fraction', async t => {
  for (const number of ['1.5', '9007199254740992.5', '1.00000000000000000001', '4503599627370497.3', '1e-400', '999999999999999.00000000001', '15e-1']) {
    t.equal(exact(number), undefined, number)
  }
})

t.test('an integer of twenty digits or more is none that fits', async t => {
  for (const number of ['10000000000000000000', '1e19', '1e300', '1e400', '-1e99999999999', '9'.repeat(60_000)]) t.equal(exact(number), undefined, number.slice(0, 30))
})

t.test('the last of two members of the same name counts', async t => {
  t.equal(exact('9007199254740993,"n":5'), 5n)
  t.equal(exact('5,"n":9007199254740993'), 9007199254740993n)
})

t.test('integers are exact in arrays and nested objects', async t => {
  const { list } = parse('{"list":[9007199254740993,{"n":-9007199254740993}]}') as { list: [number, { n: number }] }
  t.equal(integerAt(list, 0, list[0]), 9007199254740993n)
  t.equal(integerAt(list[1], 'n', list[1].n), -9007199254740993n)
})

t.test('what is not a number is no integer', async t => {
  for (const value of ['1', null, true, {}, NaN, Infinity]) t.equal(integerAt({}, 'n', value), undefined)
  t.equal(integerAt({}, 'n', 12n), 12n, 'a bigint is one as it stands')
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
    [Buffer.from('{"s":"\xff"}', 'latin1'), /^The body is not valid UTF-8\.$/],
    [Buffer.from('{"s":"a"}', 'utf16le'), /^The body is not valid/],
    [Buffer.from([0xed, 0xa0, 0x80]), /not valid UTF-8/],
    ['', /^The body is not valid JSON: .+\.$/],
    ['{', /not valid JSON/],
    ['{"a":01}', /not valid JSON/],
    ['{"a":NaN}', /not valid JSON/],
    ['{"a":1e}', /not valid JSON/],
    ['{} {}', /not valid JSON/],
    ['{"s":"\\ud83c"}', /half of a surrogate pair/],
    ['{"s":"\\udf35\\ud83c"}', /half of a surrogate pair/],
    ['{"\\uDC00":"value"}', /half of a surrogate pair/],
    ['{"\\uDC00":1}', /half of a surrogate pair/],
    [`${'['.repeat(60_000)}1e1${']'.repeat(60_000)}`, /^The body is nested too deeply\.$/]
  ]
  for (const [bytes, message] of refused) {
    t.throws(() => parseJson(Buffer.from(bytes)), { message, code: 'invalid' }, String(bytes).slice(0, 20))
  }
})

t.test('zeros in the middle of a long number take no quadratic time', async t => {
  const began = performance.now()
  exact(`1${'0'.repeat(60_000)}1`)
  exact(`0.${'0'.repeat(30_000)}1${'0'.repeat(30_000)}1`)
  t.ok(performance.now() - began < 200)
})
