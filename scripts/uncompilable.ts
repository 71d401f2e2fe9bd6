// Compiles every schema as the service will, to find what would fail at startup.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { dryRun } from '../src/contract/index.ts'
import type { Contract } from '../src/contract/index.ts'
import { referenced, subschemas } from '../src/contract/schema/index.ts'
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
  const failures = dryRun(contract, { schema: refuseInvalid, path: refuseOwnPath })
  const byMessage = Map.groupBy(failures, ({ error }) => error.message)
  return [...invalid, ...Array.from(byMessage, ([message, found]): CompileFailure => {
    const operations = found.flatMap(({ operation }) => operation ?? [])
    return { pointer: String(found[0]?.pointer), message: worded(message), operations }
  })]
}

function worded (message: string): string {
  return message.startsWith('Not supported: ') ? message : `cannot be compiled: ${message}`
}

/** The operations that need a component schema. */
function usersOf (name: string, { operations, schemas }: Contract): string[] {
  return Object.entries(operations).flatMap(([id, operation]) => schemasOf(operation, schemas).has(name) ? [id] : [])
}

function problemOf (schema: object, schemas: Schemas): string | undefined {
  try {
    refuseInvalid(schema)
    return containsItself(schema as Schema, schemas) ? `Not supported: ${unsupported.loop}.` : undefined
  } catch (error) {
    return (error as Error).message
  }
}

const metaschema = new Ajv2020()

/** @throws Error when a schema is not one of JSON Schema 2020-12 */
function refuseInvalid (schema: object): void {
  metaschema.validateSchema(schema, true)
}

/** Whether a schema applies itself to the same value again: validation would never end. */
function containsItself (schema: Schema, schemas: Schemas, above: Schema[] = []): boolean {
  if (above.includes(schema)) return true
  const inPlaceApplicators = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']
  const inside = subschemas(schema).flatMap(([keyword, inner]) => inPlaceApplicators.includes(keyword) ? [inner] : [])
  const applied = [referenced(schemas, schema) ?? [], inside].flat()
  return applied.some(inner => containsItself(inner, schemas, [...above, schema]))
}
