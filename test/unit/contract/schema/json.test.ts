import t from 'tap'
import { integerAt } from '../../../../src/contract/schema/int64.ts'
import { parseJson } from '../../../../src/contract/schema/json.ts'
import { measureGrowth } from '../../../fixtures/cost.ts'

/** A JSON text as ajv gets it, and the numbers that a double may round. */
function parseRoot (text: string) {
  const root = parseJson(Buffer.from(text))
  if (root.fault !== undefined) throw new Error(root.fault.problem)
  return root
}

const parse = (text: string) => parseRoot(text).value as Record<string, unknown>

/** The exact integer at a path of a JSON text. */
function exactAt (text: string, ...path: Array<string | number>): bigint | undefined {
  const root = parseRoot(text)
  const member = (value: unknown, key: string | number) => (value as Record<string | number, unknown>)[key]
  const places = ['value', ...path]
  const holder = places.slice(0, -1).reduce(member, root) as object
  const key = places.at(-1) as string
  return integerAt(holder, key, member(holder, key), root.exact ?? new Map())
}

const exactNumber = (number: string) => exactAt(`{"n":${number}}`, 'n')

t.test('parsed values equal those of JSON.parse', async t => {
  const texts = [
    '{"a":[1,2.5,-0,1e3,true,null,"\\u0041"],"b":{}}',
    '"x"',
    '12',
    '[]',
    '{"d":0.1234567890123456789,"e":1e300}'
  ]
  for (const text of texts) t.strictSame(parse(text), JSON.parse(text), text)
})

t.test('names with escapes are exact, also after names with backslashes', async t => {
  const escapeAll = (name: string) => name.replace(/[^]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const escape = (name: string) => JSON.stringify(name).slice(1, -1)
  const text = (name: string) => `{"x":[] , "${name}" :{"in":[[{ "${name}":"\\":"}], [ ],{ }, 1,"s"],"n":1.5}}`
  const names = ['\\', '"', '\n', 'A', 'a\\', 'a"', '\\u', '"b', '\\\\', '"\\', 'é\\', 'é"', '€\\', '€\t', '__proto__', '0', '']
  for (const earlier of names) {
    for (const name of names) {
      for (const source of [escape(name), escapeAll(name)]) {
        parse(text(escape(earlier)))
        const parsed = parse(text(source))
        const wanted = Object.fromEntries([['x', []], [name, { in: [[Object.fromEntries([[name, '":']])], [], {}, 1, 's'], n: 1.5 }]])
        t.strictSame([JSON.stringify(parsed), Object.keys(parsed)], [JSON.stringify(wanted), Object.keys(wanted)], source)
      }
    }
  }
  t.strictSame(parse('{"a":1,"b":[],"\\u0061":2}'), { a: 2, b: [] }, 'the last of duplicate members counts')
  t.equal(exactAt('{"\\u0061":[9007199254740993]}', 'a', 0), 9007199254740993n)
  const numbered = parse('{"b":0,"\\u0031":1,"1":2,"\\n":3,"\\u000a":4,"\\u0030":5}')
  t.equal(JSON.stringify(numbered), '{"0":5,"1":2,"b":0,"\\n":4}', 'numbers come first')
  const proto = parse('{"__proto__":{"n":1},"\\n":2}')
  t.equal(JSON.stringify(proto), '{"__proto__":{"n":1},"\\n":2}')
  t.equal(Object.getPrototypeOf(proto), Object.prototype)
  for (const text of ['{"\\x":1}', '{"\\n":1', '{"\\n":1,"', '{"a\\']) {
    t.match(parseJson(Buffer.from(text)), { fault: { problem: /^is not valid JSON/ } }, text)
  }
})

t.test('an integer is exact, even when a double cannot hold it', async t => {
  const integers: Array<[string, bigint]> = [
    ['0', 0n],
    ['-0', 0n],
    ['7', 7n],
    ['-7', -7n],
    ['1.0', 1n],
    ['1e3', 1000n],
    ['1.5e1', 15n],
    ['10e-1', 1n],
    ['0e400', 0n],
    ['9007199254740991', 9007199254740991n],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['9007199254740993E+0', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', 9223372036854775808n],
    ['0.0000000000000000000000', 0n],
    ['1.00000000000000000000', 1n],
    ['1000000000000000000e0', 1000000000000000000n],
    ['1000000000000000000000e-3', 1000000000000000000n],
    ['99999999e9', 99999999000000000n],
    ['9999999999e9', 9999999999000000000n],
    ['-9.87654e18', -9876540000000000000n],
    ['-0.0E5', 0n]
  ]
  for (const [number, integer] of integers) t.equal(exactNumber(number), integer, number)
})

t.test('a fraction is not an integer, even when its double is rounded to one', async t => {
  const fractions = [
    '1.5',
    '9007199254740992.5',
    '1.00000000000000000001',
    '4503599627370497.3',
    '1e-400',
    '999999999999999.00000000001',
    '15e-1'
  ]
  for (const number of fractions) t.equal(exactNumber(number), undefined, number)
})

t.test('an integer of twenty digits or more has no exact value', async t => {
  const large = ['10000000000000000000', '1e19', '1e300', '1e400', '-1e99999999999', '9'.repeat(60_000)]
  for (const number of large) t.equal(exactNumber(number), undefined, number.slice(0, 30))
})

t.test('the last of two members with the same name wins, at any depth', async t => {
  t.equal(exactNumber('9007199254740993,"n":5'), 5n)
  t.equal(exactNumber('5,"n":9007199254740993'), 9007199254740993n)
  t.equal(exactNumber('1e16,"n":9007199254740993'), 9007199254740993n)
  t.equal(exactAt('{"a":{"n":9007199254740993},"a":{"n":5}}', 'a', 'n'), 5n)
  t.equal(exactAt('{"a":[9007199254740993],"a":{"0":5}}', 'a', '0'), 5n)
  t.equal(exactAt('{"a":[1e16,{"n":1e16}],"a":null,"n":9007199254740993}', 'n'), 9007199254740993n)
  const inherited = '{"a":{"constructor":{"caller":{"n":1e16}},"__proto__":[1e16]},"a":{},"n":9007199254740993}'
  t.equal(exactAt(inherited, 'n'), 9007199254740993n, 'a replaced member that the last one inherits')
})

t.test('integers are exact in arrays and nested objects', async t => {
  const text = '{"list":[9007199254740993,{"n":-9007199254740993}]}'
  t.equal(exactAt(text, 'list', 0), 9007199254740993n)
  t.equal(exactAt(text, 'list', 1, 'n'), -9007199254740993n)
})

t.test('integers are exact beside strings, keys and white space that look like JSON', async t => {
  t.equal(exactAt('{"a\\"":["\\\\",9007199254740993]}', 'a"', 1), 9007199254740993n)
  t.equal(exactAt('{"1e5,":"]}\\"",\n"n"\t: 9007199254740993 }', 'n'), 9007199254740993n)
  t.equal(exactAt('{"\\u006e":9007199254740993}', 'n'), 9007199254740993n)
  t.equal(exactAt('[true,false,null,[],{},-9007199254740993]', 5), -9007199254740993n)
  t.equal(exactAt('9007199254740993'), 9007199254740993n)
})

t.test('a deep text has the same value with and without an exponent', async t => {
  for (const depth of [500, 1_000]) {
    const [plain, exponent] = ['1', '1e0'].map(number => {
      let value: unknown = parse(`${'['.repeat(depth)}${number}${']'.repeat(depth)}`)
      let found = 0
      for (; Array.isArray(value); found++) value = value[0]
      return { value, found }
    })
    t.strictSame(plain, { value: 1, found: depth })
    t.strictSame(exponent, plain)
  }
})

t.test('only brackets outside of strings are levels, and not those that are closed', async t => {
  for (const text of [`["${'['.repeat(2_000)}"]`, `["\\"${'{'.repeat(2_000)}\\\\"]`, `[${'[],{},'.repeat(2_000)}1]`]) {
    t.equal(parseJson(text).fault, undefined)
  }
})

t.test('a value other than a finite number has no exact integer', async t => {
  for (const value of ['1', null, true, {}, NaN, Infinity]) t.equal(integerAt({}, 'n', value, new Map()), undefined)
})

t.test('strings do not change', async t => {
  const strings = [
    '',
    'ß',
    '日本',
    '🌵',
    'a\u0000b',
    '\u2028',
    '\ufeff',
    '\\',
    '"',
    'x'.repeat(10_000),
    '1234567890123456',
    '\ud83c\udf35'
  ]
  for (const text of strings) {
    t.equal(parse(`{"s":${JSON.stringify(text)}}`).s, text)
    t.equal(parse(`{"s":${JSON.stringify(text)},"n":1e1}`).s, text, 'beside a number that a double may round')
  }
  t.equal(parse('{"s":"\\ud83c\\udf35"}').s, '🌵', 'an escaped surrogate pair')
  t.equal(parse('{"s":"\\ud83c","s":"x"}').s, 'x', 'half of a pair in a member that is replaced')
})

t.test('a byte order mark is ignored', async t => {
  t.strictSame(parse('\ufeff{"a":1}'), { a: 1 })
})

t.test('a member named __proto__ does not change the prototype', async t => {
  const object = parse('{"__proto__":{"name":"x"}}')
  t.equal(Object.getPrototypeOf(object), Object.prototype)
  t.equal(object.name, undefined)
})

t.test('bytes that are not UTF-8, not JSON or lone surrogates are refused with a message', async t => {
  const refused: Array<[Uint8Array | string, RegExp]> = [
    [Buffer.from('{"s":"\xff"}', 'latin1'), /^is not valid UTF-8 at column 7$/],
    [Buffer.concat([Buffer.from('{"ü":\n"\ufffd\ufffdx'), Buffer.of(0xc3)]), /^is not valid UTF-8 at line 2, column 5$/],
    [Buffer.from('{"s":"a"}', 'utf16le'), /^is not valid/],
    [Buffer.from([0xed, 0xa0, 0x80]), /not valid UTF-8/],
    ['', /^is not valid JSON: unexpected end at column 1$/],
    ['{"a":"secret" "b"}', /^is not valid JSON: unexpected '"' at column 15$/],
    ['{"a":secret}', /^is not valid JSON: unexpected 's' at column 6$/],
    ['{"a":"x\\":y","b": true,"c":\u00a0}', /^is not valid JSON: unexpected U\+00a0 at column 28$/],
    ['[{},[],null,\n 1, ]', /^is not valid JSON: unexpected '\]' at line 2, column 5$/],
    ['["a\n"]', /^is not valid JSON: unexpected U\+000a at line 1, column 4$/],
    ['{"a":"🌵🌵",\n"🌵" 1}', /^is not valid JSON: unexpected '1' at line 2, column 5$/],
    ['{', /^is not valid JSON: unexpected end at column 2$/],
    ['{"a":', /^is not valid JSON: unexpected end at column 6$/],
    ['{"a":01}', /not valid JSON/],
    ['{"a":NaN}', /not valid JSON/],
    ['{"a":1e}', /not valid JSON/],
    ['{} {}', /not valid JSON/],
    ['{"s":"\\ud83c"}', /^contains half of a surrogate pair at column 7$/],
    ['{"s":"\\ud83c\\udf35\\\\ud83c\\udf35"}', /half of a surrogate pair at column 26$/],
    ['{"s":"\\uD83C\\ud83c\\udf35"}', /half of a surrogate pair/],
    ['{"s":"\\udf35\\ud83c"}', /half of a surrogate pair/],
    ['{"\\uDC00":"value"}', /half of a surrogate pair/],
    ['{"\\uDC00":1}', /half of a surrogate pair/],
    [`${'['.repeat(1_000)}"\\uDC00"${']'.repeat(1_000)}`, /half of a surrogate pair/],
    [`${'[{"a":'.repeat(501)}1${'}]'.repeat(501)}`, /^is nested too deeply: more than 1000 levels$/],
    // V8 ends the process at this one.
    [`${'[1,'.repeat(30_000)}1}`, /^is nested too deeply: more than 1000 levels$/]
  ]
  for (const [bytes, message] of refused) {
    t.match(parseJson(Buffer.from(bytes)), { fault: { path: '', problem: message } }, String(bytes).slice(0, 20))
  }
})

t.test('a long number with zeros in the middle is parsed in linear time', async t => {
  const growth = await measureGrowth(size => {
    exactNumber(`1${'0'.repeat(size)}1`)
    exactNumber(`0.${'0'.repeat(size / 2)}1${'0'.repeat(size / 2)}1`)
  }, 60_000)
  t.ok(growth < 8, `four times as many zeros cost ${growth.toFixed(1)} times as much`)
})
