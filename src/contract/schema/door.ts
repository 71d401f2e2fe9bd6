// The door for programs without a server: exact JSON and JSON Schema, without Fastify.
export type { Fault } from './json.ts'
export type { Schemas } from './schemas.ts'
export {
  type Compile, createCompiler, readJson, type Validate, type Validated
} from './validator.ts'
export { createWriters, type Write } from './json-writer.ts'
