// A value that a schema probably accepts.
import type { Schemas } from '../../src/contract/schema/index.ts'
import { isSchemaObject, referenced } from '../../src/contract/schema/index.ts'

export function sample (schema: unknown, schemas: Schemas, depth = 0): unknown {
  if (!isSchemaObject(schema) || depth > 6) return null
  const inner = (part: unknown) => sample(part, schemas, depth + 1)
  const target = referenced(schemas, schema)
  if (target !== undefined) return inner(target)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const parts = schema[keyword]
    if (Array.isArray(parts) && parts.length > 0) return inner(parts[0])
  }
  const [type = 'properties' in schema ? 'object' : 'string'] = [schema.type].flat()
  if (type === 'integer' || type === 'number') {
    const least = Number(schema.minimum ?? schema.exclusiveMinimum ?? 0) + 1
    return schema.format === 'int64' && Number.isSafeInteger(least) ? BigInt(least) : least
  }
  if (type === 'boolean') return true
  if (type === 'null') return null
  if (type === 'array') return Array.from({ length: Math.min(Number(schema.minItems ?? 1), 3) || 0 }, () => inner(schema.items ?? {}))
  if (type === 'object') {
    const members = Object.entries(Object(schema.properties)).filter(([name]) => Array.isArray(schema.required) && schema.required.includes(name))
    return Object.fromEntries(members.map(([name, member]) => [name, inner(member)]))
  }
  return 'a'.repeat(Math.min(Number(schema.minLength ?? 1), 10) || 1)
}
