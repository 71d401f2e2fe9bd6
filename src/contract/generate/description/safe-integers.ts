// Describes integers of format int64 as those that a number holds exactly.
import { isInt64, isSchemaObject, mapSubschemas, type Schema } from '../../schema/index.ts'
import type { Description } from './description.ts'
import { changeSchemas } from './normalize.ts'

/**
 * A copy whose integers of format int64 are plain integers within the safe range. Every check and
 * every type then follows from the schema.
 */
export function withSafeIntegers (document: Description): Description {
  return changeSchemas(document, safeIntegers) as Description
}

function safeIntegers (given: unknown): unknown {
  if (!isSchemaObject(given)) return given
  const schema = mapSubschemas(given, (_keyword, inner) => safeIntegers(inner))
  if (!isInt64(schema)) return schema
  const { format, type, ...words } = schema
  const { minimum = -Infinity, maximum = Infinity } = schema as Bounds
  return {
    ...words,
    type: integerType(type),
    minimum: Math.max(minimum, Number.MIN_SAFE_INTEGER),
    maximum: Math.min(maximum, Number.MAX_SAFE_INTEGER)
  }
}

interface Bounds extends Schema { minimum?: number, maximum?: number }

/** An int64 is an integer, also where its type is `number`. */
function integerType (type: unknown): unknown {
  const types = [type].flat().map(name => name === 'number' ? 'integer' : name)
  return types.length === 1 ? types[0] : [...new Set(types)]
}
