// Writes a value as one of the many JSON texts that mean it: white space, escapes and spellings of
// numbers.
import type { Random } from '../../fixtures/random.ts'

/** A JSON text that is written as it is. */
export class Raw {
  readonly text: string
  constructor (text: string) { this.text = text }
}

/** The members of an object in their order; a name may occur more than once. */
export class Members {
  readonly list: ReadonlyArray<readonly [name: string, value: unknown]>
  constructor (list: ReadonlyArray<readonly [name: string, value: unknown]>) { this.list = list }
}

/** Always picks the first of all choices, which is the plainest spelling. */
export const plain: Random = { below: () => 0, pick: values => values[0] as (typeof values)[number] }

/**
 * Spells a value of JSON, of bigints, Raw and Members.
 * @param zeros the signs of 0: inside of a value isDeepStrictEqual() would tell -0 from 0
 */
export function spell (value: unknown, random: Random, zeros = ['', '', '-']): string {
  const inside = (value: unknown) => spell(value, random, [''])
  const space = () => random.pick(['', '', '', ' ', '\n', '\t', '\r\n  '])
  const list = (texts: string[]) => texts.map(text => space() + text + space()).join(',') || space()
  if (value instanceof Raw) return value.text
  if (typeof value === 'bigint') return spellInteger(value, random, zeros)
  if (typeof value === 'number' && Number.isSafeInteger(value)) return spellInteger(BigInt(value), random, zeros)
  if (typeof value === 'string') return spellText(value, random)
  if (Array.isArray(value)) return `[${list(value.map(inside))}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const spellMember = (name: string, text: string) => `${spellText(name, random)}${space()}:${space()}${text}`
  const members = value instanceof Members
    ? value.list.map(([name, member]) => spellMember(name, spell(member, random)))
    : Object.entries(value).map(([name, member]) => spellMember(name, inside(member)))
  return `{${list(members)}}`
}

/** For example 120, 120.0, 12e1, 1.2E+02 and 12000e-2. */
function spellInteger (integer: bigint, random: Random, signs: string[]): string {
  const sign = integer < 0n ? '-' : integer === 0n ? random.pick(signs) : ''
  const digits = String(integer).replace('-', '')
  const e = random.pick(['e', 'E'])
  const zeros = integer === 0n ? 0 : random.below(4)
  const forms = [
    () => digits,
    () => digits,
    () => `${digits}.${'0'.repeat(zeros + 1)}`,
    () => `${digits}${e}${random.pick(['', '+', '-'])}${'0'.repeat(zeros + 1)}`,
    () => `${digits}${'0'.repeat(zeros)}${e}-${zeros}`,
    () => `${digits[0]}.${digits.slice(1)}0${e}${random.pick(['', '+', '+0'])}${digits.length - 1}`,
    () => `0.${'0'.repeat(zeros)}${digits}${e}${digits.length + zeros}`,
    () => `${digits.replace(/0*$/, '') || '0'}${e}${/0*$/.exec(digits)?.[0].length}`
  ]
  return sign + random.pick(forms)()
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"', '\\': '\\\\', '/': '\\/', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t'
}

function spellText (text: string, random: Random): string {
  // None, one in four or all of the characters are escaped.
  const oneIn = random.pick([0, 0, 4, 1])
  const characters = Array.from(text, character => {
    const mustEscape = character < ' ' || character === '"' || character === '\\'
    if (!mustEscape && (oneIn === 0 || random.below(oneIn) > 0)) return character
    const short = shortEscapes[character]
    return short !== undefined && random.below(2) === 0 ? short : escapeUnits(character, random)
  })
  return `"${characters.join('')}"`
}

/** A character beyond the BMP becomes a pair of surrogates. */
function escapeUnits (character: string, random: Random): string {
  return character.split('').map(unit => {
    const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
    return `\\u${random.below(2) === 0 ? hex : hex.toUpperCase()}`
  }).join('')
}
