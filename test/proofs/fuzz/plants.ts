// Random plants that the contract allows, generated from its schema in generated/, each as one of
// its JSON texts.
import { isDeepStrictEqual } from 'node:util'
import fc, { type Arbitrary, type WeightedArbitrary } from 'fast-check'
import { seededRandom } from '../../fixtures/random.ts'
import { type Member, members, membersOf, resolve, type Schema } from './members.ts'
import { Members, plain, Raw, spell } from './spelling.ts'

/** The members of a plant by name. */
export type Plant = Readonly<Record<string, unknown>>

/** A plant and a JSON text that means it. */
export interface SentPlant { plant: Plant, body: string }

/** The range of an integer with a format. */
export function rangeOf (schema: Schema): { min: bigint, max: bigint } {
  const limit = schema.format === 'int32' ? 2n ** 31n : 2n ** 63n
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema
  const min = Math.max(Math.ceil(minimum), Math.floor(exclusiveMinimum) + 1)
  const max = Math.min(Math.floor(maximum), Math.ceil(exclusiveMaximum) - 1)
  return { min: Number.isFinite(min) ? BigInt(min) : -limit, max: Number.isFinite(max) ? BigInt(max) : limit - 1n }
}

/** Few values, so that plants meet, the ends of the range, what a double rounds, and any other. */
function integers (schema: Schema): Arbitrary<bigint> {
  const { min, max } = rangeOf(schema)
  const step = BigInt(schema.multipleOf ?? 1)
  const toMultiple = (integer: bigint) => integer - integer % step
  const isAllowed = (integer: bigint) => integer >= min && integer <= max
  const near = [0n, 2n ** 31n, 2n ** 53n, -(2n ** 53n), 10n ** 15n, 10n ** 18n, min, max]
  const special = near.flatMap(integer => [integer - step, integer, integer + step]).map(toMultiple).filter(isAllowed)
  const few = special.slice(0, 2)
  return fc.oneof(fc.constantFrom(...few), fc.constantFrom(...special), fc.bigInt({ min, max }).map(toMultiple).filter(isAllowed))
}

const codePoint = (min: number, max: number) => fc.integer({ min, max }).map(code => String.fromCodePoint(code))

/** Characters of every kind, except halves of surrogate pairs, which UTF-8 cannot hold. */
export const character = fc.oneof(
  codePoint(0x20, 0x7e),
  codePoint(0, 0x1f),
  codePoint(0x7f, 0x24f),
  codePoint(0x300, 0x1fff),
  codePoint(0x2000, 0xd7ff),
  codePoint(0xe000, 0xffff),
  codePoint(0x10000, 0x10ffff),
  fc.constantFrom('"', '\\', '/', 'e\u0301', '\u2028', '\ufeff', '\ufffe', '\u{1ffff}', '\ufffd', '\u202e')
)

const few = ['fern', '']
const long = ['x'.repeat(20_000), '\u{1f335}'.repeat(4000), '\u0001\\'.repeat(3000)]

const day = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
const formats: Readonly<Record<string, Arbitrary<string>>> = {
  date: day.map(date => date.toISOString().slice(0, 10)),
  'date-time': day.map(date => date.toISOString()),
  email: fc.emailAddress(),
  hostname: fc.domain(),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
  time: day.map(date => date.toISOString().slice(11)),
  uri: fc.webUrl(),
  uuid: fc.uuid()
}

/** Without samples that pass, a filter would never end. */
function samplesOf (arbitrary: Arbitrary<string>): string[] {
  return fc.sample(arbitrary, { seed: 1, numRuns: 1000 })
}

function texts (schema: Schema): Arbitrary<string> {
  const { format, pattern = '', minLength = 0, maxLength = Infinity } = schema
  const expression = new RegExp(pattern, 'u')
  // JSON Schema counts code points.
  const isAllowed = (text: string) => {
    const { length } = [...text]
    return expression.test(text) && length >= minLength && length <= maxLength
  }
  const only = (arbitrary: Arbitrary<string>) => {
    if (samplesOf(arbitrary).some(isAllowed)) return arbitrary.filter(isAllowed)
    throw new Error(`test/proofs/fuzz/plants.ts finds no text that ${JSON.stringify(schema)} allows: add one there.`)
  }
  if (format !== undefined) return only(formats[format] ?? unknownType(schema))
  // A code, such as of two letters and a digit, takes no single character.
  if (!samplesOf(character).some(text => expression.test(text))) return only(fc.stringMatching(expression))
  const unit = character.filter(text => expression.test(text))
  const usual = Math.min(maxLength, Math.max(minLength, 40))
  const any = only(fc.string({ unit, minLength, maxLength: usual }))
  return fc.oneof(
    { weight: 40, arbitrary: any },
    ...constants(60, few.filter(isAllowed)),
    ...constants(1, long.filter(isAllowed))
  )
}

function constants (weight: number, values: string[]): Array<WeightedArbitrary<string>> {
  return values.length === 0 ? [] : [{ weight, arbitrary: fc.constantFrom(...values) }]
}

function doubles (schema: Schema): Arbitrary<number> {
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity, multipleOf } = schema
  const min = Math.max(schema.minimum ?? -Number.MAX_VALUE, exclusiveMinimum)
  const max = Math.min(schema.maximum ?? Number.MAX_VALUE, exclusiveMaximum)
  const isInside = (number: number) => number > exclusiveMinimum && number < exclusiveMaximum
  if (multipleOf === undefined) return fc.double({ min, max, noNaN: true }).filter(isInside)
  const limit = 10 ** 9
  const factors = { min: Math.max(-limit, Math.ceil(min / multipleOf)), max: Math.min(limit, Math.floor(max / multipleOf)) }
  // 7 * 0.01 is no multiple of 0.01.
  return fc.integer(factors).map(factor => Number((factor * multipleOf).toPrecision(15))).filter(isInside)
}

const keywords = new Set([
  'type', 'format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum',
  'exclusiveMaximum', 'multipleOf', 'const', 'enum', 'oneOf', 'anyOf', 'items', 'minItems', 'maxItems', 'uniqueItems',
  'properties', 'required', 'additionalProperties', 'propertyNames', 'description', 'title', 'default', 'example',
  'examples', 'readOnly', 'writeOnly', 'deprecated'
])

/** A keyword that is ignored here would make plants that the service refuses. */
function refuseUnknown (schema: Schema): void {
  const unknown = Object.keys(schema).find(keyword => !keywords.has(keyword))
  if (unknown !== undefined) throw new Error(`test/proofs/fuzz/plants.ts does not know the keyword ${unknown}: add it there.`)
}

/** The values that a schema allows, but of an object only the declared members. */
export function valuesOf (schema: Schema): Arbitrary<unknown> {
  refuseUnknown(schema)
  const choice = schema.oneOf ?? schema.anyOf
  const { type, format, enum: values, items, minItems, maxItems } = schema
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (values !== undefined) return fc.constantFrom(...values)
  // Some spellings of 0 mean -0, from which isDeepStrictEqual() tells it.
  if (choice !== undefined) return fc.oneof(...choice.map(each => valuesOf(resolve(each)))).filter(value => value !== 0)
  if (type === 'integer') return format === 'int64' ? integers(schema) : integers(schema).map(Number)
  if (type === 'string') return texts(schema)
  if (type === 'boolean') return fc.boolean()
  // JSON.stringify() writes -0 as 0.
  if (type === 'number' && format !== 'float') return doubles(schema).map(number => number + 0)
  if (type === 'array' && items !== undefined) {
    const lengths = { minLength: minItems ?? 0, maxLength: maxItems ?? 10 }
    const item = valuesOf(resolve(items))
    return schema.uniqueItems === true
      ? fc.uniqueArray(item, { ...lengths, comparator: isDeepStrictEqual })
      : fc.array(item, lengths)
  }
  if (type === 'object') return objects(membersOf(schema))
  return unknownType(schema)
}

/** Objects with the declared members; optional ones may be missing. */
function objects (members: readonly Member[]): Arbitrary<Plant> {
  return fc.record(Object.fromEntries(members.map(({ name, schema }) => [name, valuesOf(schema)])), {
    requiredKeys: members.filter(({ isRequired }) => isRequired).map(({ name }) => name), noNullPrototype: true
  })
}

function unknownType (schema: Schema): never {
  if ([schema.type].flat().includes('null')) {
    throw new Error(`NULL in a column stands for a missing member: take null from ${JSON.stringify(schema)}.`)
  }
  throw new Error(`test/proofs/fuzz/plants.ts cannot generate a value of ${JSON.stringify(schema)}: add its type there.`)
}

const undeclaredName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'toJSON', 'ID', 'id ', 'Name', '', '$ref', '\u0000'),
  fc.string({ unit: character, maxLength: 10 })
).filter(name => members.every(member => member.name !== name))

const number = fc.constantFrom('1e400', '-0', '-1E-400', '123456789012345678901234567890', '9007199254740993', '1.50')
const deep = fc.constantFrom(10, 490).map(depth => '[{"":'.repeat(depth) + '1' + '}]'.repeat(depth))
/** Any JSON, also numbers that no double holds, and values that are nearly 1,000 levels deep. */
const anyJson = fc.oneof(
  { weight: 20, arbitrary: fc.jsonValue({ maxDepth: 3, stringUnit: character }) },
  { weight: 10, arbitrary: number.map(text => new Raw(text)) },
  { weight: 1, arbitrary: deep.map(text => new Raw(text)) }
)

export const plants = objects(members)

const noises = fc.record({
  undeclared: fc.array(fc.tuple(undeclaredName, anyJson), { maxLength: 3 }),
  /** The last of duplicate members counts, so these are written before the true ones. */
  duplicates: fc.array(fc.tuple(fc.constantFrom(...members.map(({ name }) => name)), anyJson), { maxLength: 2 }),
  /** 0 is the plainest spelling; fast-check shrinks to it. */
  spelling: fc.oneof(fc.constant(0), fc.nat())
})

/** Members of a plant in their order. */
export type List = Array<[name: string, value: unknown]>
type Noise = ReturnType<typeof noises.generate>['value']

/**
 * Writes members among undeclared and duplicate ones; the duplicates of a member that is absent are
 * left out.
 */
function writeBody (list: List, { undeclared, duplicates, spelling }: Noise): string {
  const random = spelling === 0 ? plain : seededRandom(String(spelling))
  const all = [...list]
  for (const member of undeclared) all.splice(random.below(all.length + 1), 0, member)
  if (random.below(2) === 1) all.reverse()
  for (const duplicate of duplicates) {
    const first = all.findIndex(([name]) => name === duplicate[0])
    if (first >= 0) all.splice(random.below(first + 1), 0, duplicate)
  }
  const byteOrderMark = random.below(20) === 19 ? '\ufeff' : ''
  return byteOrderMark + spell(new Members(all), random)
}

/** A plant, its noise, and how many places before it the plant is that it repeats. */
export const plannedPlants = fc.tuple(plants, noises, fc.constantFrom(0, 0, 0, 1, 3))
type PlannedPlant = ReturnType<typeof plannedPlants.generate>['value']

/**
 * Plants in texts with undeclared and duplicate members, in any order. Some are sent again in
 * another text: two random plants are seldom the same.
 */
export function writePlants (planned: PlannedPlant[]): SentPlant[] {
  return planned.map(([own, noise, back], index) => {
    const [plant] = planned[index - back] ?? [own]
    return { plant, body: writeBody(Object.entries(plant), noise) }
  })
}

/** The members of a plant, and what writes a text with changed ones. */
export const plantsAndWriters = fc.tuple(plants, noises).map(([plant, noise]) => {
  return { list: Object.entries(plant), write: (list: List) => writeBody(list, noise) }
})
