// Objects of answers that lose all members: an answer has those that its schema declares.
import { kindOf } from '../../message/media-type.ts'
import { isSchemaObject, valueAt } from '../../schema/index.ts'
import {
  type Description, listOperations, operationPointer, pointerOf, visitValues
} from '../description/description.ts'

/** The places of these schemas, as JSON pointers. */
export function emptiedObjects (document: Description): string[] {
  const found = new Set<string>()
  // Of responses, and of the schemas to which they lead.
  const parts = new Set<string>()
  for (const { url, method, operation } of listOperations(document)) {
    for (const status of Object.keys(Object(operation.responses))) {
      parts.add(operationPointer(url, method) + pointerOf(['responses', status]).slice(1))
    }
  }
  for (const part of parts) {
    visitValues(valueAt(document, part.slice(1)), (value, path) => {
      if (!isSchemaObject(value) || path.some(name => others.has(name))) return
      const [keyword, type = ''] = path
      if (keyword === 'content' && !ofJson.includes(kindOf(type))) return
      const { $ref } = value
      const isReference = typeof $ref === 'string' && $ref.startsWith('#')
      const schema = isReference ? valueAt(document, $ref.slice(1)) : value
      // The schema around an allOf, or another part of it, may declare members.
      if (path.at(-2) === 'allOf' && hasOnlyType(schema)) return
      if (isReference) parts.add($ref)
      else if (hasOnlyType(schema)) found.add(part + pointerOf(path).slice(1))
    })
  }
  return [...found]
}

/** Bodies of other kinds are not written by their schema. */
const ofJson = ['json', 'lines', 'events']

/** What is no schema of a body. */
const others = new Set(['headers', 'links', 'example', 'examples', 'default', 'enum', 'const'])

/** Whether a schema says of an object that it is one, and nothing of its members. */
function hasOnlyType (schema: unknown): boolean {
  if (!isSchemaObject(schema) || ![schema.type].flat().includes('object')) return false
  return !describing.some(word => Object.hasOwn(schema, word))
}

const describing = [
  'properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties', 'required',
  'dependentRequired', 'dependentSchemas', 'allOf', 'anyOf', 'oneOf', 'if', '$ref', 'enum', 'const',
  'maxProperties'
]
