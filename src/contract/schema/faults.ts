// Describes ajv's errors for readers who do not know the schema.
import type { ErrorObject } from 'ajv'
import type { Fault } from './json.ts'

/** The most specific of the faults that ajv found. */
export function explain (errors: ErrorObject[]): Fault {
  return toFault(mostSpecific(withoutQuiet(errors)))
}

/** Without the items that `contains` does not mean: only that there is no other one is a fault. */
function withoutQuiet (errors: ErrorObject[]): ErrorObject[] {
  return errors.filter(({ keyword }) => keyword !== 'quietBranch')
}

const unions = ['anyOf', 'oneOf']
/** These errors only repeat that there are errors inside. */
const repeating = ['if', 'propertyNames']
/** Members that a faulty schema would have evaluated count as unevaluated. */
const consequences = ['unevaluatedProperties', 'unevaluatedItems']

/** The faults that ajv found with allErrors: for a union the most specific one. */
export function explainAll (errors: ErrorObject[]): Fault[] {
  const found: ErrorObject[] = []
  for (const error of withoutQuiet(errors)) {
    const inside = found.splice(found.findLastIndex(other => !isInside(other, error)) + 1)
    if (unions.includes(error.keyword)) found.push(mostSpecific([...inside, error]))
    else found.push(...inside, ...repeating.includes(error.keyword) ? [] : [error])
  }
  const causes = found.filter(({ keyword }) => !consequences.includes(keyword))
  return (causes.length > 0 ? causes : found).map(toFault)
}

/** Whether an error that ajv found earlier may be the reason of another one. */
function isInside (inner: ErrorObject, outer: ErrorObject): boolean {
  const isSibling = inner.parentSchema === outer.parentSchema && inner.instancePath === outer.instancePath
  return !isSibling && `${inner.instancePath}/`.startsWith(`${outer.instancePath}/`)
}

function toFault (error: ErrorObject): Fault {
  const name = error.propertyName === undefined ? '' : `has the member "${error.propertyName}", whose name `
  return { path: error.instancePath.slice(1), problem: name + describe(error) }
}

/** Without allErrors the last error is the outermost; errors inside unions are more specific. */
function mostSpecific (errors: ErrorObject[]): ErrorObject {
  const outermost = errors.at(-1) as ErrorObject
  const inside = errors.slice(0, -1)
  if (repeating.includes(outermost.keyword)) return mostSpecific(inside)
  if (!unions.includes(outermost.keyword)) return outermost
  const { discriminatorName } = outermost.parentSchema as { discriminatorName?: string }
  if (discriminatorName !== undefined) {
    return inSelectedBranch(inside, `${outermost.instancePath}/${discriminatorName}`, outermost)
  }
  const deeper = inside.filter(error => error.instancePath.length > outermost.instancePath.length)
  if (deeper.length > 0) return deeper[0] as ErrorObject
  if (inside.length === 0 || !inside.every(({ keyword }) => keyword === 'type')) return outermost
  const type = [...new Set(inside.flatMap(({ params }) => params.type))]
  return { ...outermost, keyword: 'type', params: { type } }
}

/** The error in the branch that the discriminator selects or, where it selects none, of the discriminator itself. */
function inSelectedBranch (errors: ErrorObject[], path: string, outermost: ErrorObject): ErrorObject {
  const misses = errors.filter(error => ['enum', 'const'].includes(error.keyword) && error.instancePath === path)
  const other = errors.find(error => !misses.includes(error) && error.keyword !== 'branch')
  if (other !== undefined) return other
  const [miss] = misses
  if (miss === undefined) return outermost
  const allowedValues = misses.flatMap(({ params }) => params.allowedValues ?? [params.allowedValue])
  return { ...miss, keyword: 'enum', params: { allowedValues: [...new Set(allowedValues)] } }
}

function describe ({ keyword, params, message, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'type': return `must be ${[params.type].flat().map(withArticle).join(' or ')}`
    case 'required': return `must have the member "${params.missingProperty}"`
    case 'enum': return `must be one of ${listed(params.allowedValues)}`
    case 'const': return `must be ${JSON.stringify(params.allowedValue)}`
    case 'additionalProperties': return `must not have the member "${params.additionalProperty}"`
    case 'unevaluatedProperties': return `must not have the member "${params.unevaluatedProperty}"`
    case 'false schema': return 'must not be sent'
    case 'anyOf':
    case 'oneOf':
      if (params.passingSchemas) return 'matches more than one of the forms that the contract declares'
      return 'matches none of the forms that the contract declares'
    // ajv-rewriter.ts adds the upper limit.
    case 'contains': return String(message).replace(` and no more than ${Number.MAX_SAFE_INTEGER}`, '')
    case 'pattern': return `${message}${meaningOf(parentSchema)}`
    default: return String(message)
  }
}

function listed (values: unknown[]): string {
  return values.map(value => JSON.stringify(value)).join(', ')
}

/** Adds the schema's description, because a pattern does not explain itself. */
function meaningOf (schema: ErrorObject['parentSchema']): string {
  return schema?.description === undefined ? '' : `: ${schema.description.replace(/\.$/, '')}`
}

function withArticle (type: string): string {
  if (type === 'null') return type
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}
