// What is wrong with a value, in words for people who do not know the schema.
import type { ErrorObject } from 'ajv'
import type { Fault } from './json.ts'

/** The fault that says most of those that ajv found. */
export function explain (errors: ErrorObject[]): Fault {
  const error = mostTelling(errors)
  const name = error.propertyName === undefined ? '' : `has the member "${error.propertyName}", whose name `
  return { path: error.instancePath.slice(1), problem: name + describe(error) }
}

/** Without allErrors the last error is the outermost. That of a union or a condition says less than those inside it. */
function mostTelling (errors: ErrorObject[]): ErrorObject {
  const outermost = errors.at(-1) as ErrorObject
  const inside = errors.slice(0, -1)
  if (['if', 'propertyNames'].includes(outermost.keyword)) return mostTelling(inside)
  if (!['anyOf', 'oneOf'].includes(outermost.keyword)) return outermost
  const { discriminatorName } = outermost.parentSchema as { discriminatorName?: string }
  if (discriminatorName !== undefined) return inSelectedBranch(inside, `${outermost.instancePath}/${discriminatorName}`, outermost)
  const deeper = inside.filter(error => error.instancePath.length > outermost.instancePath.length)
  if (deeper.length > 0) return deeper[0] as ErrorObject
  const types = inside.flatMap(({ keyword, params }) => keyword === 'type' ? params.type : [])
  return types.length === inside.length && types.length > 0 ? { ...outermost, keyword: 'type', params: { type: types } } : outermost
}

/** What is wrong in the branch that the discriminator selects or, where it selects none, with the discriminator. */
function inSelectedBranch (errors: ErrorObject[], path: string, outermost: ErrorObject): ErrorObject {
  const misses = errors.filter(({ keyword, instancePath }) => keyword === 'enum' && instancePath === path)
  const other = errors.find(error => !misses.includes(error) && error.keyword !== 'branch')
  if (other !== undefined) return other
  const [miss] = misses
  if (miss === undefined) return outermost
  return { ...miss, params: { allowedValues: misses.flatMap(({ params }) => params.allowedValues) } }
}

function describe ({ keyword, params, message, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'type': return `must be ${[params.type].flat().map(withArticle).join(' or ')}`
    case 'required': return `must have the member "${params.missingProperty}"`
    case 'enum': return `must be one of ${params.allowedValues.map((value: unknown) => JSON.stringify(value)).join(', ')}`
    case 'const': return `must be ${JSON.stringify(params.allowedValue)}`
    case 'additionalProperties': return `must not have the member "${params.additionalProperty}"`
    case 'unevaluatedProperties': return `must not have the member "${params.unevaluatedProperty}"`
    case 'false schema': return 'must not be sent'
    case 'anyOf':
    case 'oneOf': return params.passingSchemas ? 'fits more than one of the forms that the contract declares' : 'has none of the forms that the contract declares'
    // Only the contract's author can say what a pattern means.
    case 'pattern': return `${message}${parentSchema?.description === undefined ? '' : `: ${parentSchema.description.replace(/\.$/, '')}`}`
    default: return String(message)
  }
}

function withArticle (type: string): string {
  if (type === 'null') return type
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}
