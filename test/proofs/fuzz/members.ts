// The members of a plant, as its schema in generated/ declares them.
import { operations, schemas } from '../../../generated/operations.ts'

export interface Schema {
  $ref?: string
  allOf?: readonly Schema[]
  type?: string | readonly string[]
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  const?: unknown
  enum?: readonly unknown[]
  oneOf?: readonly Schema[]
  anyOf?: readonly Schema[]
  items?: Schema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  required?: readonly string[]
  properties?: Readonly<Record<string, Schema>>
  readOnly?: boolean
  description?: string
}

/** A declared member of a plant. */
export interface Member { name: string, isRequired: boolean, schema: Schema }

const componentOf = ({ $ref = '' }: Schema): Schema => {
  return (schemas as Readonly<Record<string, Schema>>)[$ref.replace(/#$/, '')] ?? {}
}

/** A schema with the keywords of what it refers to. */
export function resolve (schema: Schema): Schema {
  const { $ref, ...own } = schema
  return $ref === undefined ? own : { ...resolve(componentOf(schema)), ...own }
}

/** The members that a schema declares. */
export function membersOf (schema: Schema): Member[] {
  const inside = [componentOf(schema), ...schema.allOf ?? []].filter(part => Object.keys(part).length > 0)
  // The service refuses a request with a readOnly member.
  const own = Object.entries(schema.properties ?? {}).map(([name, schema]) => {
    return { name, isRequired: false, schema: resolve(schema) }
  }).filter(({ schema }) => schema.readOnly !== true)
  const required = new Set(schema.required)
  return [...inside.flatMap(membersOf), ...own].map(member => {
    return { ...member, isRequired: member.isRequired || required.has(member.name) }
  })
}

export const members = membersOf(operations.createPlant.body.content['application/json'].schema)
