// The keyword multipleOf (JSON Schema 2020-12 validation, section 6.2.1). It replaces ajv's, which
// divides doubles: 19.99 / 0.01 is 1998.9999999999998, and 1e22 / 2 is no integer to it.
import { _, type CodeKeywordDefinition, str } from 'ajv'

export const multipleOfKeyword: CodeKeywordDefinition = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  error: {
    message: ({ schemaCode }) => str`must be a multiple of ${schemaCode}`,
    params: ({ schemaCode }) => _`{ multipleOf: ${schemaCode} }`
  },
  code (context) {
    const { gen, data, schema } = context
    const isMultiple = gen.scopeValue('keyword', { ref: multipleOf(schema) })
    context.fail(_`!${isMultiple}(${data})`)
  }
}

/** Returns a function that compares the decimal numbers that JSON writes for two doubles. */
function multipleOf (step: number): (value: number) => boolean {
  const divisor = decimal(step)
  return value => {
    if (Number.isInteger(value) && Number.isInteger(step)) return value % step === 0
    const { digits, exponent } = decimal(value)
    const lowest = Math.min(exponent, divisor.exponent)
    const scaled = digits * 10n ** BigInt(exponent - lowest)
    return scaled % (divisor.digits * 10n ** BigInt(divisor.exponent - lowest)) === 0n
  }
}

/** A number is its digits times ten to the power of the exponent (ECMA-262, Number::toString). */
function decimal (value: number): { digits: bigint, exponent: number } {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}
