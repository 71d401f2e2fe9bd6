// Compiles every schema as the service will, to find what would fail at startup.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { dryRun } from '../src/contract/index.ts'
import type { Contract } from '../src/contract/index.ts'
import { composedSchemas, containsInt64, referenced, subschemas } from '../src/contract/schema/index.ts'
import type { Schema, Schemas } from '../src/contract/schema/index.ts'
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
  const isNew = ({ error, operation }: typeof failures[number]) => !invalid.some(({ message, operations }) => {
    return message === worded(error.message) && operations.includes(String(operation))
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
    if (containsItself(schema as Schema, schemas, inPlace)) return `Not supported: ${unsupported.loop}.`
    if (containsItself(schema as Schema, schemas, [...inPlace, ...ofLists])) return `Not supported: ${unsupported.listLoop}.`
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

/** Keywords whose schemas apply to the same value: validation of one that contains itself would never end. */
const inPlace = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']
/** TypeScript resolves the types of items at once, and those of members when it needs them. */
const ofLists = ['items', 'prefixItems']

/**
 * Whether a schema, or one in it, contains itself by these keywords and references.
 * @param passed whether the whole of a schema was looked at
 */
function containsItself (
  schema: Schema,
  schemas: Schemas,
  followed: readonly string[],
  passed = new Map<Schema, boolean>()
): boolean {
  const isWhole = passed.get(schema)
  if (isWhole !== undefined) return !isWhole
  passed.set(schema, false)
  const inside = subschemas(schema).flatMap(([keyword, inner]) => followed.includes(keyword) ? [inner] : [])
  const applied = [referenced(schemas, schema) ?? [], inside].flat()
  const isFound = applied.some(inner => containsItself(inner, schemas, followed, passed))
  passed.set(schema, true)
  return isFound
}
