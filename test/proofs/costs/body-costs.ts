// npm run prove -- costs: measures bodies of 64 KiB of many shapes, from their bytes to a validated
// value, and prints a JSON text for each. body-costs.test.ts runs it in its own process, because
// coverage counters triple the cost of the measured code.
import { parseNumber, readOptions } from '../../../scripts/options.ts'
import { schemas } from '../../../generated/operations.ts'
import { createCompiler, readJson, type Validate } from '../../../src/contract/schema/index.ts'

/**
 * `own` is what the service adds to JSON.parse of the same bytes, in times of JSON.parse of an
 * ordinary body.
 */
export interface Cost { shape: string, milliseconds: number, own: number }

const size = 64 * 1024

/** A JSON text of 64 KiB: as many units as fit, and white space at the end. */
function fill (start: string, unit: string | ((index: number) => string), end: string, separator = ','): string {
  const units: string[] = []
  let left = size - Buffer.byteLength(start + end)
  for (let index = 0; ; index++) {
    const next = typeof unit === 'string' ? unit : unit(index)
    left -= Buffer.byteLength(next) + separator.length
    if (left < 0) break
    units.push(next)
  }
  const text = `${start}${units.join(separator)}${end}`
  return text + ' '.repeat(size - Buffer.byteLength(text))
}

const plant = '"id":1,"name":"x"'
const list = (unit: string | ((index: number) => string), more = '') => fill(`{${plant},"x":[`, unit, `]${more}}`)
const members = (unit: string | ((index: number) => string), more = '') => fill(`{${plant},"x":{`, unit, `}${more}}`)
const text = (unit: string, more = '') => fill(`{${plant},"x":"`, unit, `"${more}}`, '')
const nest = (open: string, inside: string, close: string, depth: number) =>
  fill(`{${plant},"x":${open.repeat(depth)}${inside}${close.repeat(depth)},"y":[`, '1', ']}')
const name = (index: number) => index.toString(36)

const exponent = ',"e":1e1'
const surrogate = ',"s":"\\ud83c\\udf35"'

/** Bodies of the contract's NewPlant, most of them with undeclared members. */
const plants: Record<string, string> = {
  'a long name': fill('{"id":1,"name":"', 'x', '"}', ''),
  'small numbers': list('1'),
  'small numbers and an exponent': list('1', exponent),
  'small numbers and a long one': list('1', ',"e":9007199254740993'),
  'small numbers and a rounded fraction': list('1', ',"e":1.00000000000000000001'),
  'small numbers and a surrogate pair': list('1', surrogate),
  'small numbers and a lone surrogate': list('1', ',"s":"\\ud83c"'),
  'integers with exponents': list('1e1'),
  'large integers with exponents': list('1e16'),
  'large integers with fractions and exponents': list('1.000000e16'),
  'zeros with exponents': list('0e1'),
  'tiny numbers': list('1e-999'),
  'infinite numbers': list('1e999'),
  'fractions and an exponent': list('0.1', exponent),
  'long integers': list(index => String(9007199254740993n + BigInt(index))),
  'numbers of a thousand digits': list('9'.repeat(1000)),
  'a number of 65,000 digits': list('9'.repeat(65_000)),
  'a number of 65,000 zeros': list(`1${'0'.repeat(65_000)}1`),
  'a fraction of 65,000 zeros': list(`0.${'0'.repeat(65_000)}1`),
  'an exponent of 65,000 digits': list(`1e${'0'.repeat(65_000)}1`),
  'duplicate ids': fill('{"name":"x",', '"id":1e16', '}'),
  'empty strings and an exponent': list('""', exponent),
  'strings of numbers': list('"1e16"'),
  'a string of numbers': text(':1e16,'),
  'escaped line feeds': text('\\n', exponent),
  'escaped quotes': list('"\\""', exponent),
  'escaped backslashes': text('\\\\', exponent),
  'escaped backslashes and a surrogate pair': text('\\\\', surrogate),
  'escaped letters': text('\\u0041', exponent),
  'surrogate pairs': text('\\ud83c\\udf35'),
  'strings of surrogate pairs': list('"\\ud83c\\udf35"', exponent),
  'members with surrogate pairs': members(index => `"\\ud83c\\udf35${name(index)}":1`, exponent),
  'cacti and an exponent': list('"🌵"', exponent),
  'many members and an exponent': members(index => `"${name(index)}":1`, exponent),
  'many members with exponents': members(index => `"${name(index)}":1e16`),
  'numbered members': members(index => `"${9999 - index}":1e16`),
  'members with escaped names': members(index => `"\\n${name(index)}":1e16`),
  'duplicate members': members('"a":1e16'),
  'duplicate members without a name': members('"":1', exponent),
  'members named __proto__': list('{"__proto__":1e16}'),
  'members named toJSON': list('{"toJSON":1e16}'),
  'a name of 60,000 characters': members(`"${'k'.repeat(60_000)}":1e16`),
  'empty objects and an exponent': list('{}', exponent),
  'objects with an exponent': list('{"a":1e16}'),
  'objects with different members': list(index => `{"${name(index)}":1e16}`),
  'empty arrays and an exponent': list('[]', exponent),
  'arrays with an exponent': list('[1e16]'),
  'trees of arrays': list('[[[1],[1]],[[1],[1]]]', exponent),
  'objects with numbered members, an escaped name and a surrogate pair': list(
    index => `{"${index}":1e1}`, `,"\\n":1${surrogate}`
  ),
  'literals and an exponent': list('null', exponent),
  'white space': fill(`{${plant},"x":[`, '\n', '1e16]}', ''),
  'arrays nested 900 deep and an exponent': nest('[', '1e1', ']', 900),
  'arrays nested 30,000 deep': nest('[', '1', ']', 30_000),
  'exponents at 900 depths': nest('{"a":1e16,"b":', '1', '}', 900),
  'lists of 900 levels': list(`${'['.repeat(900)}${']'.repeat(900)}`),
  'unclosed arrays': '['.repeat(size),
  'an error at the end': fill(`{${plant},"x":[`, '1e1', '],}')
}

const int64 = { type: 'integer', format: 'int64' }
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const kind = (value: string) => object({ kind: { const: value }, n: int64 }, { required: ['kind'] })
const declared = object({
  list: { type: 'array', items: int64 },
  numbers: { type: 'array', items: { type: 'number' } },
  map: { type: 'object', additionalProperties: int64 },
  objects: { type: 'array', items: object({ n: int64 }) },
  kinds: { type: 'array', items: { oneOf: [kind('a'), kind('b')] } },
  tree: { $ref: 'Tree#' },
  unique: { $ref: 'Unique#' },
  union: { $ref: 'Union#' },
  contains: { type: 'array', contains: { $ref: 'Holder#' } },
  url: { type: 'string', format: 'url' },
  comment: { $ref: 'Comment#' }
})
const components = {
  ...schemas,
  Tree: object({ n: int64, leaf: { $ref: 'Tree#' } }),
  Holder: object({ plant: { $ref: 'NewPlant#' } }),
  Comment: object({ replies: { type: 'array', items: { $ref: 'Comment#' } } }),
  Union: { oneOf: ['a', 'b'].map(value => object({ leaf: { $ref: 'Union#' }, kind: { const: value } })) },
  Unique: { uniqueItems: true, items: { $ref: 'Unique#' } }
}

/** Bodies with int64s at many places that the schema declares. */
const others: Record<string, string> = {
  'declared small numbers': fill('{"list":[', '1', ']}'),
  'declared small numbers and an exponent': fill('{"list":[', '1', `]${exponent}}`),
  'declared large numbers': fill('{"list":[', '1e16', ']}'),
  'declared fractions with exponents': fill('{"list":[', '1.000000e16', ']}'),
  'declared zeros with exponents': fill('{"list":[', '0e1', ']}'),
  'declared long integers': fill('{"list":[', '9007199254740993', ']}'),
  'declared doubles': fill('{"numbers":[', '1e16', ']}'),
  'declared members': fill('{"map":{', index => `"${name(index)}":1e16`, '}}'),
  'declared objects': fill('{"objects":[', '{"n":1e16}', ']}'),
  'declared alternatives': fill('{"kinds":[', '{"kind":"b","n":1e16}', ']}'),
  'unique objects': fill('{"unique":[', index => `{"n":${index},"name":"Monstera"}`, ']}'),
  'unique lists': fill('{"unique":[', index => `["Monstera deliciosa",${index}]`, ']}'),
  'unique members': fill('{"unique":["",{', index => `"${name(index)}":1`, '}]}'),
  'unique lists in lists': fill(`{"unique":${'["",'.repeat(1_000)}1${']'.repeat(1_000)},"x":[`, '1', ']}'),
  'items that contains does not match': fill('{"contains":[', '"Monstera"', ']}'),
  'a URL of colons': fill('{"url":"http://', ':', '"}', ''),
  'a comment with many replies': fill('{"comment":{"replies":[', '{}', ']}}'),
  'a tree of unions': fill(`{"union":${'{"kind":"a","leaf":'.repeat(500)}{"kind":"b"}${'}'.repeat(500)},"x":[`, '1', ']}'),
  'a fault in a tree of unions': fill(`{"union":${'{"kind":"a","leaf":'.repeat(100)}{"kind":1}${'}'.repeat(100)},"x":[`, '1', ']}'),
  'a declared tree': fill(`{"tree":${'{"n":1e16,"leaf":'.repeat(900)}{}${'}'.repeat(900)},"x":[`, '1', ']}')
}

/**
 * The unit of the costs. JSON.parse of the measured body would be no steady unit: it takes from
 * 0.01 ms to 4 ms.
 */
const ordinary = fill('[', '{"id":1,"name":"Boston fern","tag":"fern"}', ']')

const texts = readOptions({
  rounds: { type: 'string', default: '10' },
  /** Shapes whose own part is above it get more rounds. */
  limit: { type: 'string', default: '20' }
})
const rounds = parseNumber('rounds', texts.rounds)
const limit = parseNumber('limit', texts.limit)
const compile = createCompiler(components, 'request')
const shapes = [
  ...measured(plants, compile({ $ref: 'NewPlant#' })),
  ...measured(others, compile(declared))
]
let unit = Infinity
for (let round = 0; round < rounds; round++) for (const shape of shapes) measure(shape)
// Other processes only make a run longer, so a shape over the limit gets more runs: up to 30 s of
// CPU time.
const mostMs = 30_000
for (const shape of shapes) {
  while (own(shape) > limit && spentMs() < mostMs) measure(shape)
}
for (const shape of shapes) {
  const cost: Cost = { shape: shape.name, milliseconds: shape.least, own: own(shape) }
  console.log(JSON.stringify(cost))
}

function spentMs (): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

interface Measured { name: string, run: () => unknown, parse: () => unknown, least: number, leastParse: number }

function measured (shapes: Record<string, string>, validate: Validate): Measured[] {
  return Object.entries(shapes).map(([name, text]) => {
    const bytes = Buffer.from(text)
    if (bytes.length !== size) throw new Error(`${name}: ${bytes.length} bytes`)
    return { name, run: () => readJson(validate, bytes), parse: () => parses(text), least: Infinity, leastParse: Infinity }
  })
}

function measure (shape: Measured): void {
  unit = Math.min(unit, time(() => JSON.parse(ordinary)))
  shape.least = Math.min(shape.least, time(shape.run))
  shape.leastParse = Math.min(shape.leastParse, time(shape.parse))
}

function own ({ least, leastParse }: Measured): number {
  return (least - leastParse) / unit
}

function parses (text: string): boolean {
  try {
    return Boolean(JSON.parse(text))
  } catch {
    return false
  }
}

function time (run: () => unknown): number {
  const began = performance.now()
  run()
  return performance.now() - began
}
