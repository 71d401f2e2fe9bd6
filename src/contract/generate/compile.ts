// Compiles every schema as the service will, to find what would fail at startup.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { dryRun } from './dry-run.ts'
import type { Contract } from '../types.ts'
import { composedSchemas, containsInt64, referenced, subschemas } from '../schema/index.ts'
import type { Schema, Schemas } from '../schema/index.ts'
import { schemasOf } from './needed.ts'
import { refuseOwnPath, unsupported } from './unsupported.ts'

/** What cannot be compiled, and the ids of the operations that need it. */
export interface CompileFailure { pointer: string, message: string, operations: string[] }

/**
 * Finds each schema that is not valid JSON Schema 2020-12, and each default that its own schema refuses, at the first of
 * its places.
 */
export function failuresOf (contract: Contract): CompileFailure[] {
  const invalid = Object.entries(contract.schemas).flatMap(([name, schema]): CompileFailure[] => {
    const problem = problemOf(schema, contract.schemas)
    if (problem === undefined) return []
    return [{ pointer: `#/components/schemas/${name}`, message: worded(problem), operations: usersOf(name, contract) }]
  })
  const refuse = (schema: object) => {
    const problem = problemOf(schema, contract.schemas)
    if (problem !== undefined) throw new Error(problem)
  }
  const failures = dryRun(contract, { schema: refuse, path: refuseOwnPath })
  // What refers to an invalid schema fails like it.
  const isNew = ({ error, operation, ...failure }: typeof failures[number]) => !invalid.some(known => {
    const isKnown = operation === undefined ? known.pointer === failure.pointer : known.operations.includes(operation)
    return isKnown && known.message === worded(error.message)
  })
  const byMessage = Map.groupBy(failures.filter(isNew), ({ error }) => error.message)
  return [...invalid, ...Array.from(byMessage, ([message, found]): CompileFailure => {
    const operations = found.flatMap(({ operation }) => operation ?? [])
    return { pointer: String(found[0]?.pointer), message: worded(message), operations }
  })]
}

function worded (message: string): string {
  if (message === 'Maximum call stack size exceeded') {
    return 'cannot be compiled: it has too many members, or is nested too deeply'
  }
  return message.startsWith('Not supported: ') ? message : `cannot be compiled: ${message}`
}

/** The operations that need a component schema. */
function usersOf (name: string, { operations, schemas }: Contract): string[] {
  return Object.entries(operations).flatMap(([id, operation]) => schemasOf(operation, schemas).has(name) ? [id] : [])
}

function problemOf (schema: object, schemas: Schemas): string | undefined {
  try {
    refuseInvalid(schema)
    if (hasLoop(schema as Schema, schemas, applied)) return `Not supported: ${unsupported.loop}.`
    if (hasLoop(schema as Schema, schemas, typedAtOnce)) return `Not supported: ${unsupported.listLoop}.`
    return comparesInt64(schema as Schema, schemas) ? `Not supported: ${unsupported.uniqueInt64}.` : undefined
  } catch (error) {
    return (error as Error).message
  }
}

const metaschema = new Ajv2020()

/** @throws Error when a schema is not one of JSON Schema 2020-12 */
function refuseInvalid (schema: object): void {
  metaschema.validateSchema(schema, true)
}

/** Whether a schema, at any depth, wants unique items that have int64: it would compare them as doubles. */
function comparesInt64 (schema: Schema, schemas: Schemas): boolean {
  const parts = [...composedSchemas(schema, schemas)]
  const items = parts.flatMap(part => subschemas(part).flatMap(([keyword, inner]) => {
    return ['items', 'prefixItems', 'contains', 'unevaluatedItems'].includes(keyword) ? [inner] : []
  }))
  const areUnique = parts.some(({ uniqueItems }) => uniqueItems === true)
  if (areUnique && items.some(item => containsInt64(item, schemas))) return true
  return subschemas(schema).some(([, inner]) => comparesInt64(inner, schemas))
}

/** The schemas in a schema that apply to the same value: validation of one that contains itself would never end. */
function applied (schema: Schema): Schema[] {
  return inside(schema, ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'])
}

/** The schemas that TypeScript resolves together with a schema; it resolves the types of members when it needs them. */
function typedAtOnce (schema: Schema): Schema[] {
  const isList = [schema.type].flat().includes('array')
  return inside(schema, ['allOf', 'anyOf', 'oneOf', ...isList ? ['items', 'prefixItems'] : []])
}

function inside (schema: Schema, keywords: string[]): Schema[] {
  return subschemas(schema).flatMap(([keyword, inner]) => keywords.includes(keyword) ? [inner] : [])
}

type Inside = typeof applied

/** Whether a schema or one in it, at any depth, contains itself by `inside` and references. */
function hasLoop (schema: Schema, schemas: Schemas, inside: Inside, passed = new Map<Schema, boolean>()): boolean {
  return leadsBack(schema, schemas, inside, passed) ||
    subschemas(schema).some(([, inner]) => hasLoop(inner, schemas, inside, passed))
}

/** @param passed whether all that a schema leads to was looked at */
function leadsBack (schema: Schema, schemas: Schemas, inside: Inside, passed: Map<Schema, boolean>): boolean {
  const isWhole = passed.get(schema)
  if (isWhole !== undefined) return !isWhole
  passed.set(schema, false)
  const next = [referenced(schemas, schema) ?? [], inside(schema)].flat()
  const isFound = next.some(inner => leadsBack(inner, schemas, inside, passed))
  passed.set(schema, true)
  return isFound
}
