// Whether a schema describes server-sent events, or only their data.
import {
  composedSchemas, isSchemaObject, referenced, type Schema, type Schemas
} from './schemas.ts'

/**
 * Whether a schema describes the events, as itemSchema of OpenAPI 3.2 does, and not their data:
 * each of its forms declares `data`, and nothing but fields of events. The type EventOf of
 * types/body.ts has the same rule.
 */
export function describesEvent (schema: unknown, schemas: Schemas): boolean {
  const pending = new Set([schema])
  for (const form of pending) {
    if (!isSchemaObject(form)) return false
    const target = referenced(schemas, form)
    const inner = target === undefined ? form.oneOf ?? form.anyOf : [target]
    if (inner === undefined && !isFormOfEvent(form, schemas)) return false
    for (const next of inner as unknown[] | undefined ?? []) pending.add(next)
  }
  return true
}

const fieldNames = ['event', 'id', 'retry', 'data']

function isFormOfEvent (form: Schema, schemas: Schemas): boolean {
  const names: string[] = []
  for (const { properties = {}, additionalProperties = false } of composedSchemas(form, schemas)) {
    if (additionalProperties !== false) return false
    names.push(...Object.keys(properties as object))
  }
  return names.includes('data') && names.every(name => fieldNames.includes(name))
}
