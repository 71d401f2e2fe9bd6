// Brings the content of a description into the form that the emitters read: without references, and
// sequences such as JSON lines have the schema of an item.
import { describesEvent, isSchemaObject, mapValues, type Schema } from '../../schema/index.ts'
import { kindOf } from '../../message/media-type.ts'
import { type Description, resolve } from './description.ts'

/** Whether a body of a media type is a sequence of items (OpenAPI 3.2, section 4.14.3.1). */
export function isSequence (type: string): boolean {
  return ['lines', 'events'].includes(kindOf(type))
}

/** A copy with no $ref to a media type, in which `schema` of each sequence describes an item. */
export function withPlainContent (document: Description): Description {
  const change = (node: unknown, key?: string): unknown => {
    if (Array.isArray(node)) return node.map(item => change(item))
    if (!isSchemaObject(node)) return node
    if (key !== 'content') return mapValues(node, change)
    return mapValues(node, (given, type) => {
      // A member of a schema may be called content.
      if (!isSchemaObject(given) || !type.includes('/')) return change(given, type)
      const media = change(resolve<Schema>(document, given)) as Schema
      return isSequence(type) ? itemMedia(document, media, kindOf(type) === 'events') : media
    })
  }
  return change(document) as Description
}

/** `schema` describes all items as an array (OpenAPI 3.2, section 4.14.3.1), else each of them. */
function itemMedia (
  document: Description,
  { schema, itemSchema, ...media }: Schema,
  areEvents: boolean
): Schema {
  const schemas = [itemSchema, itemOf(document, schema, areEvents)]
  const given = schemas.filter(one => one !== undefined)
  if (given.length === 0) return media
  return { ...media, schema: given.length === 1 ? given[0] : { allOf: given } }
}

function itemOf (document: Description, schema: unknown, areEvents: boolean): unknown {
  if (!isSchemaObject(schema)) return schema
  const { type, items = {} } = resolve<Schema>(document, schema)
  if (type !== 'array') return schema
  // The data of an event may be an array.
  return areEvents && !describesEvent(items, { '': document }) ? schema : items
}
