// Random bodies that the contract refuses: each is a valid plant with one change, which breaks the
// schema or its text.
import fc, { type Arbitrary } from 'fast-check'
import { type Member, members, type Schema } from './members.ts'
import { type List, plantsAndWriters, rangeOf } from './plants.ts'
import { Raw } from './spelling.ts'

/** @property body each character is one byte */
export interface BrokenPlant { change: string, body: string }

interface MemberChange { change: string, apply: (list: List) => List }
interface TextChange { change: string, apply: (body: string) => string }

/** Half of a surrogate pair, which no text may contain, not even in an undeclared member. */
const loneSurrogates = [
  '"\\ud800"', '"\\uDFFF"', '"fern\\udbff"', '"\\udc00\\ud800"', '"\\ud83c\\ud83c\\udf35"', '"\\ud83c \\udf35"',
  '{"\\ud800":1}', '[["\\udc00"]]'
]

/** Beyond the range of each format, and fractions that a double rounds to an integer. */
const wrongIntegers = [
  '9.223372036854775808e18', '-0.9223372036854775809e19', '18446744073709551616', '18446744073709551617', '1e19', '1e308', '1e400', '-1e400',
  '0.5', '-0.1', '1e-1', '1e-400', '9007199254740993.5', '9223372036854775806.5', '9223372036854775807.1',
  '0.99999999999999999999', '1.00000000000000000001', '100000000000000000001e-20', '12e-1'
]

/** Beyond the range by one and by much, and fractions. */
function wrongNumbers (schema: Schema): string[] {
  if (schema.type === 'number') return ['1e400', '-1e400']
  const { min, max } = rangeOf(schema)
  // Only an int64 is more exact than a double.
  const isWrong = (text: string) => {
    const double = Number(text)
    return schema.format === 'int64' || !Number.isInteger(double) || double < min || double > max
  }
  return [`${max + 1n}`, `${min - 1n}`, `${max + 1n}.0`, `${min - 1n}e0`, ...wrongIntegers.filter(isWrong)]
}

/** What looks like a value to other parsers. */
const notJson = [
  '01', '-01', '+1', '1.', '.5', '-', '1e', '1e+', '0x1', '1_000', '1n', 'NaN', 'Infinity', '-Infinity', 'undefined',
  'True', 'nul', "'fern'", 'fern', '"fern', '"\\x41"', '"\\u12G4"', '"\\"', '"a\nb"', '"a\tb"', '"a\u001fb"', '1 2',
  '"a" "b"', '[1,]', '[,1]', '{"a":1,}', '{"a"}', '{a:1}', '{"a":}', '1 // one', '/* one */ 1', '\u00a01', '(1)', ''
]

const values: ReadonlyArray<[type: string, texts: string[]]> = [
  ['null', ['null']],
  ['boolean', ['true', 'false']],
  ['string', ['""', '"1"', '"fern"']],
  ['integer', ['1', '0', '9223372036854775807', '-1.5', '1e400']],
  ['array', ['[]', '[1]', '["fern"]']],
  ['object', ['{}', '{"id":1,"name":"fern"}']]
]

/** Texts that the pattern refuses, with the refused character at each place. */
function refusedTexts (pattern = ''): string[] {
  const expression = new RegExp(pattern, 'u')
  const characters = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
  return characters.filter(character => !expression.test(character)).flatMap(refused => {
    const character = `\\u${refused.charCodeAt(0).toString(16).padStart(4, '0')}`
    return [`"${character}"`, `"fern${character}"`, `"${character}fern"`, `"fe${character}\\nrn"`]
  })
}

function changesOf ({ name, isRequired, schema }: Member): MemberChange[] {
  const { type, pattern } = schema
  const own = type === 'number' ? 'integer' : type
  const without = (list: List) => list.filter(([other]) => other !== name)
  // The last of duplicate members counts.
  const secondIsNull = `${type === 'string' ? '"fern"' : '1'},"${name}":null`
  const wrong = [
    // A union or a constant may take any of them.
    ...type === undefined ? [] : values.filter(([other]) => other !== own).flatMap(([, texts]) => texts),
    ...type === 'string' ? [...refusedTexts(pattern), ...loneSurrogates] : [],
    ...typeof type === 'string' && type !== 'string' ? wrongNumbers(schema) : [],
    ...notJson,
    secondIsNull
  ]
  return [
    ...isRequired ? [{ change: `no ${name}`, apply: without }] : [],
    ...wrong.map(text => {
      return { change: `${name} is ${text}`, apply: (list: List): List => [...without(list), [name, new Raw(text)]] }
    })
  ]
}

const memberChanges: readonly MemberChange[] = [
  ...members.flatMap(changesOf),
  ...loneSurrogates.map(text => ({
    change: `an undeclared member is ${text}`,
    // No random member has this name: of duplicates the last one counts.
    apply: (list: List): List => [...list, ['the broken member', new Raw(text)]]
  }))
]

/**
 * A place between 0, the start of the text, and 1, its end, exclusive. A double would be close to 0
 * most times.
 */
const place = fc.nat(9999).map(number => number / 10_000)
const textChanges: Arbitrary<TextChange> = fc.oneof(
  place.map(place => {
    // White space at the end is not needed: the cut is before it.
    return { change: `an end at ${place}`, apply: (body: string) => body.slice(0, place * body.trimEnd().length) }
  }),
  fc.tuple(place, fc.constantFrom('\xff', '\x80', '\xbf', '\xc1', '\xf5')).map(([place, byte]) => ({
    change: `the byte ${byte.charCodeAt(0)}, so that it is not UTF-8, at ${place}`,
    apply: (body: string) => body.slice(0, place * body.length) + byte + body.slice(place * body.length)
  })),
  fc.constantFrom('}', ']', ',', ',{}', 'x', '\0', '""', '\\', '//', '/**/').map(tail => {
    return { change: `${JSON.stringify(tail)} after the end`, apply: (body: string) => body + tail }
  }),
  fc.constantFrom('[', '{', '"', ',', '\\', 'x', '\0', ' \xef\xbb\xbf', '\xa0', '\x0b').map(head => {
    return { change: `${JSON.stringify(head)} before the start`, apply: (body: string) => head + body }
  }),
  fc.constantFrom('null', 'true', '1', '"x"', '[]', '[{}]', '{}', '', ' ').map(text => {
    return { change: `"${text}" instead of the plant`, apply: () => text }
  })
)

const bytesOf = (text: string) => Buffer.from(text).toString('latin1')

/** Bodies that are answered 400. */
export const brokenPlants: Arbitrary<BrokenPlant> = fc.oneof(
  fc.tuple(plantsAndWriters, fc.constantFrom(...memberChanges)).map(([{ list, write }, { change, apply }]) => {
    return { change, body: bytesOf(write(apply(list))) }
  }),
  fc.tuple(plantsAndWriters, textChanges).map(([{ list, write }, { change, apply }]) => {
    return { change, body: apply(bytesOf(write(list))) }
  })
)
