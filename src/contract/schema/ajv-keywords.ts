// Our keywords for ajv that record what a validation finds. ajv-rewriter.ts adds them to schemas.
import {
  _, type Code, type CodeGen, type CodeKeywordDefinition, type ErrorObject, type Name
} from 'ajv'
import names from 'ajv/dist/compile/names.js'
import { Type } from 'ajv/dist/compile/util.js'
import { usePattern } from 'ajv/dist/vocabularies/code.js'
import ajvPattern from 'ajv/dist/vocabularies/validation/pattern.js'
import { type Declared, declares } from './ajv-rewriter.ts'
import type { IntegersOfValue } from './int64.ts'
import { type Key, writesItself } from './json.ts'
import type { CheckedPlaces } from './recursion.ts'
import type { Schema } from './schemas.ts'
import { type AcceptedValues, recordAccepted } from './unevaluated.ts'
import type { ComparedValues } from './unique-items.ts'

/** What one validation records; our keywords get it as `this`. */
export interface Validation
  extends IntegersOfValue, AcceptedValues, ComparedValues, CheckedPlaces {
  errors: ErrorObject[] | undefined
}

/**
 * Wraps a branch and discards its records, if it may have any, when it fails. One error of each
 * branch is enough, as without allErrors; its last error is about the branch, so that messages can
 * tell branches apart.
 */
const toBranchKeyword = (
  keyword: string,
  isOfContains: boolean,
  recordsAccepted: boolean
): CodeKeywordDefinition => ({
  keyword,
  schemaType: ['object', 'boolean'],
  code (context) {
    const { gen, data, schema, parentSchema, it } = context
    const { parentData: holder, parentDataProperty: key } = it
    const restore = parentSchema.isPlain === true ? () => {} : saveRecords(gen)
    const valid = gen.name('valid')
    context.subschema({ keyword, allErrors: false }, valid)
    gen.if(_`!${valid}`, () => {
      restore()
      context.error()
    })
    if (recordsAccepted) {
      const record = gen.scopeValue('keyword', { ref: recordAccepted })
      const branch = gen.scopeValue('schema', { ref: schema })
      // Members and items are evaluated of objects and arrays, but `contains` accepts any item.
      const isRecorded = isOfContains ? valid : _`${valid} && typeof ${data} === 'object'`
      gen.if(isRecorded, () => gen.code(_`${record}(this, ${branch}, ${holder}, ${key})`))
    }
    context.ok(valid)
  }
})

/** Returns a function that writes the code which discards later records. */
function saveRecords (gen: CodeGen): () => void {
  const integers = gen.const('integers', _`this.integers.length`)
  const described = gen.const('described', _`this.described.length`)
  const inner = gen.const('inner', _`this.inner.length`)
  const hasUndeclared = gen.const('hasUndeclared', _`this.hasUndeclared`)
  return () => {
    gen.code(_`this.integers.length = ${integers}`)
    gen.code(_`this.described.length = ${described}`)
    gen.code(_`this.inner.length = ${inner}`)
    gen.code(_`this.hasUndeclared = ${hasUndeclared}`)
  }
}

/** @param recordsAccepted whether the keywords of unevaluated.ts need to know */
export function branchKeywords (recordsAccepted: boolean): CodeKeywordDefinition[] {
  return [
    toBranchKeyword('branch', false, recordsAccepted),
    toBranchKeyword('containsBranch', true, recordsAccepted)
  ]
}

/**
 * Replaces ajv's anyOf, which skips each branch after a valid one: some have records, too. The
 * errors of the branches go inside the error of the union, so that no one need look for them.
 */
function toUnionKeyword (
  keyword: string,
  before: string,
  isNeeded: (matches: Name, branch: Schema) => Code,
  isValid: (matches: Name) => Code
): CodeKeywordDefinition {
  return {
    keyword,
    schemaType: 'array',
    trackErrors: true,
    before,
    error: {
      message: `must match ${keyword}`,
      params: ({ params: { matches, inside } }) => _`{matches: ${matches}, inside: ${inside}}`
    },
    code (context) {
      const { gen, schema, errsCount } = context
      const matches = gen.let('matches', 0)
      const isBranchValid = gen.name('isBranchValid')
      for (const [schemaProp, branch] of schema.entries()) {
        gen.if(isNeeded(matches, branch), () => {
          context.subschema({ keyword, schemaProp, compositeRule: true }, isBranchValid)
          gen.if(isBranchValid, () => gen.code(_`${matches}++`))
        })
      }
      context.result(isValid(matches), () => context.reset(), () => {
        const { vErrors } = names.default
        const inside = gen.const('inside', _`(${vErrors} ?? []).slice(${errsCount})`)
        context.reset()
        context.setParams({ matches, inside })
        context.error(true)
      })
    }
  }
}

export const unionKeywords = [
  toUnionKeyword(
    'anyOf', 'oneOf',
    (matches, { isPlain }) => isPlain === true ? _`${matches} === 0` : _`true`,
    matches => _`${matches} > 0`
  ),
  toUnionKeyword('oneOf', 'allOf', matches => _`${matches} < 2`, matches => _`${matches} === 1`)
]

/**
 * Replaces ajv's, which copies the errors of all items before for each item, skips items after
 * enough valid ones, whose records are needed, and takes an empty array for one like that before.
 */
export const containsKeyword: CodeKeywordDefinition = {
  keyword: 'contains',
  type: 'array',
  schemaType: ['object', 'boolean'],
  trackErrors: true,
  // After that, ajv skips keywords of an array that lacks the items of `prefixItems`.
  before: 'prefixItems',
  error: {
    message: 'must contain valid items',
    params: ({ params: { least, most = null } }) => _`{ least: ${least}, most: ${most} }`
  },
  code (context) {
    const { gen, data, keyword, parentSchema } = context
    const { minContains: least = 1, maxContains: most } = parentSchema
    const count = gen.let('count', 0)
    const isValid = gen.name('isValid')
    gen.forRange('place', 0, _`${data}.length`, dataProp => {
      const item = { keyword, dataProp, dataPropType: Type.Num, compositeRule: true } as const
      context.subschema(item, isValid)
      gen.if(isValid, () => gen.code(_`${count}++`))
      // Other items may be valid: these errors are no faults.
      context.reset()
    })
    context.setParams({ least, most })
    context.fail(_`${count} < ${least} || ${count} > ${most ?? Infinity}`)
  }
}

/** Finds no fault in a text that is too long: some patterns take exponential time. */
export const patternKeyword: CodeKeywordDefinition = {
  ...ajvPattern.default as CodeKeywordDefinition,
  code (context) {
    const { data, schema, parentSchema: { maxLength = Infinity } } = context
    const expression = usePattern(context, schema)
    // A character beyond U+FFFF has a length of 2.
    context.fail(_`${data}.length <= ${2 * maxLength} && !${expression}.test(${data})`)
  }
}

/** Records which members of an object are declared. */
export const declaresKeyword: CodeKeywordDefinition = {
  keyword: 'declares',
  schemaType: 'object',
  type: 'object',
  code ({ gen, data, schema, it: { parentData: holder, parentDataProperty: key } }) {
    const describe = gen.scopeValue('keyword', { ref: describer(schema) })
    gen.code(_`${describe}(this, ${data}, ${holder}, ${key})`)
  }
}

function describer (declared: Declared) {
  return (validation: Validation, object: object, holder: object, key: Key): void => {
    validation.described.push({ object, holder, key, declared })
    if (validation.hasUndeclared) return
    if (writesItself(object)) validation.hasUndeclared = true
    for (const name in object) if (!declares(declared, name)) validation.hasUndeclared = true
  }
}
