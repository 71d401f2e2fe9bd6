// Exports for programs without a server: exact JSON and JSON Schema, without Fastify.
export type { Fault } from './json.ts'
export { parseText } from './json-text.ts'
export {
  composedSchemas, containsInt64, escapedKey, isFileSchema, isSchemaObject, isString, mapSubschemas,
  referenced, subschemas, valueAt
} from './schemas.ts'
export type { Schema, Schemas } from './schemas.ts'
export { removeUndeclared } from './undeclared-members.ts'
export { createCompiler, lazily, readJson, whenUsed } from './validator.ts'
export type { Compile, Validate, Validated } from './validator.ts'
export { createWriters, writeDeclared, writeUnchecked } from './json-writer.ts'
export type { Write } from './json-writer.ts'
