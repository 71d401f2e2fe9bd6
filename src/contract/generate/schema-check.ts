// Checks of schemas that only the generator makes.
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  composing, referenced, type Schema, type Schemas, schemasIn, schemasWithin
} from '../schema/index.ts'
import type { TypesEmitter } from './read-options.ts'
import { unsupported } from './lint/unsupported-features.ts'

const metaschema = new Ajv2020()

/** Why a schema is not served, if it is not: it is invalid or never ends. */
export function schemaFault (
  given: object,
  schemas: Schemas,
  types: TypesEmitter | undefined
): string | undefined {
  const schema = given as Schema
  try {
    metaschema.validateSchema(schema, true)
    if (hasLoop(schema, schemas, applied)) return `Not supported: ${unsupported.loop}.`
    const isTyped = types === 'built-in' || !hasLoop(schema, schemas, typedAtOnce)
    if (!isTyped) return `Not supported: ${unsupported.listLoop}.`
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const applying = [...composing, 'not', 'if', 'then', 'else', 'dependentSchemas']

/** Finds schemas directly inside a schema. */
type Inside = (schema: Schema) => Schema[]

/** The schemas that apply to the same value: one that contains itself would never end. */
const applied: Inside = schema => schemasIn(schema, applying)

/** The schemas that TypeScript resolves together with a schema; it resolves members later. */
const typedAtOnce: Inside = schema => {
  const isList = [schema.type].flat().includes('array')
  return schemasIn(schema, isList ? [...composing, 'items', 'prefixItems'] : composing)
}

/** Whether a schema or one in it, at any depth, contains itself by `inside` and references. */
function hasLoop (schema: Schema, schemas: Schemas, inside: Inside): boolean {
  const passed = new Map<Schema, boolean>()
  return schemasWithin(schema).values().some(inner => leadsBack(inner, schemas, inside, passed))
}

/** @param passed the schemas met, and whether all that each leads to was looked at */
function leadsBack (
  schema: Schema,
  schemas: Schemas,
  inside: Inside,
  passed: Map<Schema, boolean>
): boolean {
  const isDone = passed.get(schema)
  if (isDone !== undefined) return !isDone
  passed.set(schema, false)
  const target = referenced(schemas, schema)
  const isLoop = (target !== undefined && leadsBack(target, schemas, inside, passed)) ||
    inside(schema).some(inner => leadsBack(inner, schemas, inside, passed))
  passed.set(schema, true)
  return isLoop
}
