// What the rest of the engine uses of this folder. schema/door.ts has what users get.
export type { Fault } from './json.ts'
export { shorten } from './sentences.ts'
export { describesEvent } from './event-schema.ts'
export { parseJson } from './json.ts'
export { parseText } from './json-text.ts'
export { mapValues, pick } from './members.ts'
export { isInt64 } from './int64.ts'
export {
  composedSchemas, composing, escapedKey, isFileSchema, isSchemaObject, isString,
  mapSubschemas, referenced, references, type Schema, type Schemas, schemasIn, schemasWithin,
  valueAt
} from './schemas.ts'
export { removeUndeclared } from './undeclared-members.ts'
export { lazily } from './lazily.ts'
export {
  type Compile, createCompiler, createTrialCompiler, readJson, type Validate, type Validated
} from './validator.ts'
export { createWriters, type Write, writeUnchecked, writeValid } from './json-writer.ts'
