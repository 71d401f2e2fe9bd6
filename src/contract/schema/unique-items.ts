// The keyword uniqueItems (JSON Schema 2020-12 validation, section 6.4.3). It replaces ajv's, which
// compares each object with each other one, in quadratic time, and int64s as doubles.
import { _, type CodeKeywordDefinition } from 'ajv'
import { integerAt } from './int64.ts'
import { type ExactNumbers, type Key, writesItself } from './json.ts'

/**
 * Input: the numbers that a double may round. Output: the names of the objects and lists that were
 * compared, and the names by what they contain. Lists inside of lists stay linear by them.
 */
export interface ComparedValues {
  exact: ExactNumbers
  compared: { names: Map<object, string>, namesByContent: Map<string, string> } | undefined
}

export const uniqueItemsKeyword: CodeKeywordDefinition = {
  keyword: 'uniqueItems',
  schemaType: 'boolean',
  type: 'array',
  // After that, ajv skips keywords of an array that lacks the items of `prefixItems`.
  before: 'prefixItems',
  error: { message: ({ params }) => _`${params.message}` },
  code (context) {
    const { gen, data, schema } = context
    if (schema !== true) return
    const check = gen.scopeValue('keyword', { ref: describeEqualItems })
    // `this` is the validation (ajv's option passContext).
    const message = gen.const('message', _`${check}(this, ${data})`)
    context.setParams({ message })
    context.fail(_`${message} !== undefined`)
  }
}

function describeEqualItems (validation: ComparedValues, items: unknown[]): string | undefined {
  if (items.length < 2) return undefined
  const places = new Map<string, number>()
  for (const [place, item] of items.entries()) {
    const name = nameOf(item, items, place, validation)
    const other = places.get(name)
    if (other !== undefined) return `must not have equal items, as those at ${other} and ${place}`
    places.set(name, place)
  }
  return undefined
}

/**
 * A name that only equal values have (JSON Schema 2020-12 core, section 4.2.2): 1.0 equals 1, and
 * the order of members does not matter. An integer of up to 19 digits is exact, as it was written.
 * @param value the one at `holder[key]`
 */
function nameOf (value: unknown, holder: object, key: Key, validation: ComparedValues): string {
  const { exact } = validation
  if (typeof value === 'number') return `=${integerAt(holder, key, value, exact) ?? value}`
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (writesItself(value)) return `@${JSON.stringify(value)}`
  return nameOfObject(value, validation)
}

function nameOfObject (value: object, validation: ComparedValues): string {
  const { names, namesByContent } = validation.compared ??= {
    names: new Map(), namesByContent: new Map()
  }
  const known = names.get(value)
  if (known !== undefined) return known
  const content = contentOf(value, validation)
  const name = namesByContent.get(content) ?? `#${namesByContent.size}`
  namesByContent.set(content, name)
  names.set(value, name)
  return name
}

function contentOf (value: object, validation: ComparedValues): string {
  if (Array.isArray(value)) {
    let content = '['
    for (let place = 0; place < value.length; place++) {
      content += `${nameOf(value[place], value, place, validation)},`
    }
    return content
  }
  let content = ''
  for (const key of Object.keys(value).sort()) {
    const member = value[key as never]
    if (member === undefined) continue
    content += `${JSON.stringify(key)}:${nameOf(member, value, key, validation)},`
  }
  return content
}
