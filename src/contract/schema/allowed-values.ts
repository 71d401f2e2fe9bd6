// The keywords enum and const (JSON Schema 2020-12 validation, section 6.1). They replace ajv's,
// which compare many values one by one, and throw for an object with a member such as `valueOf`.
import { _, type CodeKeywordDefinition } from 'ajv'
import ajvConst from 'ajv/dist/vocabularies/validation/const.js'
import ajvEnum from 'ajv/dist/vocabularies/validation/enum.js'

/** So few are compared faster one by one. */
const few = 32

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function toKeyword (
  ajvKeyword: CodeKeywordDefinition,
  before: string,
  valuesOf: (schema: unknown) => unknown[]
): CodeKeywordDefinition {
  return {
    ...ajvKeyword,
    before,
    code (context) {
      const values = valuesOf(context.schema)
      if (values.length < few && !values.some(isObject)) return ajvKeyword.code(context)
      const { gen, data } = context
      const allows = gen.scopeValue('keyword', { ref: allowing(values) })
      context.fail(_`!${allows}(${data})`)
    }
  }
}

function allowing (values: unknown[]): (value: unknown) => boolean {
  const scalars = new Set(values)
  const objects = values.filter(isObject)
  return value => {
    if (!isObject(value)) return scalars.has(value)
    return objects.some(object => equals(value, object))
  }
}

/** @param object from the contract, and so no large one */
function equals (value: unknown, object: unknown): boolean {
  if (!isObject(value) || !isObject(object)) return value === object
  if (Array.isArray(value) !== Array.isArray(object)) return false
  const members = Object.entries(object)
  if (Object.keys(value).length !== members.length) return false
  return members.every(([name, member]) => {
    return Object.hasOwn(value, name) && equals(value[name as never], member)
  })
}

export const allowedValueKeywords = [
  toKeyword(ajvConst.default as CodeKeywordDefinition, 'enum', value => [value]),
  toKeyword(ajvEnum.default as CodeKeywordDefinition, 'not', values => values as unknown[])
]
