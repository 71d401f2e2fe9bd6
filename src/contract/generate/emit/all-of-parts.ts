// Rewrites allOf for openapi-typescript, which makes a member required only where the schema around
// the allOf requires it and a part describes it directly.
import { isSchemaObject, type Schema } from '../../schema/index.ts'
import { type Description, resolve, visitValues } from '../description/description.ts'

type Names = readonly string[]

/** Moves what a part requires, and another part describes, to the schema around the allOf. */
export function moveRequired (document: Description): void {
  visitValues(document, value => {
    if (!isSchemaObject(value)) return
    if (typeof value.$ref === 'string' && Array.isArray(value.required)) composeSiblings(value)
    if (!Array.isArray(value.allOf)) return
    const parts = value.allOf.filter(isSchemaObject)
    const required = new Set([value, ...parts].flatMap(requiredBy))
    const allOf = parts.map(withOwnRequired).filter(saysMore)
    const inlined = allOf.map(part => inline(document, part, [...required], [value]))
    Object.assign(value, required.size > 0 && { required: [...required] }, { allOf: inlined })
    // openapi-typescript has no type for an allOf of nothing.
    if (allOf.length === 0) delete (value as { allOf?: unknown }).allOf
  })
}

/** openapi-typescript ignores what is beside a `$ref`. */
function composeSiblings (schema: { $ref?: unknown, allOf?: unknown }): void {
  const { $ref, allOf = [] } = schema
  delete schema.$ref
  schema.allOf = [{ $ref }, ...allOf as object[]]
}

/** An example may have anything by that name. */
function requiredBy ({ required }: Schema): Names {
  return Array.isArray(required) ? required : []
}

/** A part that requires members which it describes, and no others. */
function withOwnRequired (part: Schema): Schema {
  const { required, ...others } = part
  const own = requiredBy(part).filter(name => describes(part, name))
  return own.length === 0 ? others : { ...others, required: own }
}

function describes ({ properties }: Schema, name: string): boolean {
  return Object.hasOwn(Object(properties), name)
}

/** Whether a part says more than that a value is an object, whose type would be empty. */
function saysMore ({ type = 'object', title, description, ...others }: Schema): boolean {
  return type !== 'object' || Object.keys(others).length > 0
}

/** Puts a component in the place of its reference, if its own allOf describes what is required. */
function inline (document: Description, part: Schema, names: Names, around: Schema[]): Schema {
  const target = resolve<Schema>(document, part)
  const { allOf } = target
  const isDirect = names.every(name => describes(target, name))
  if (!Array.isArray(allOf) || isDirect || around.includes(target)) return part
  const inner = allOf.map(each => inline(document, each, names, [...around, target]))
  return { ...target, allOf: inner }
}
