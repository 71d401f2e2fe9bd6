// Finds examples in a description: those of a media type or a header field, else of its schema, else of the parts of
// the schema (OpenAPI 3.1, sections 4.8.14 and 4.8.21; JSON Schema 2020-12 validation, section 9.5).
import { isSchemaObject, valueAt } from './schema/index.ts'

/** An object of a description. */
export type Node = Readonly<Record<string, unknown>>

interface ExampleReader {
  /** The object that a member of a description is or refers to; empty for any other value. */
  resolve: (value: unknown) => Node
  /** The example of a media type or a header field, as JSON; undefined if there is none. */
  exampleOf: (holder: Node) => unknown
}

export function exampleReader (document: object): ExampleReader {
  const resolve = (value: unknown): Node => {
    if (!isSchemaObject(value)) return {}
    const { $ref, ...own } = value
    return typeof $ref === 'string' ? { ...resolve(valueAt(document, $ref.replace(/^#/, ''))), ...own } : value
  }
  /** By reference; undefined while it is being looked for, because a schema may contain itself. */
  const known = new Map<unknown, unknown>()
  const ofSchema = (schema: unknown): unknown => {
    const { $ref } = Object(schema) as Node
    if (known.has($ref)) return known.get($ref)
    if ($ref !== undefined) known.set($ref, undefined)
    const example = ownExample(resolve(schema)) ?? ofParts(resolve(schema))
    if ($ref !== undefined) known.set($ref, example)
    return example
  }
  /** Undefined as well where a required member has no example. */
  const ofParts = ({ items, properties = {}, required = [], ...unions }: Composed): unknown => {
    if (items !== undefined) return listOf(ofSchema(items))
    const members = Object.entries(properties).filter(([, member]) => resolve(member).writeOnly !== true)
    const examples = members.map(([name, member]) => [name, ofSchema(member)]).filter(([, value]) => isPresent(value))
    const { allOf = [], oneOf = [], anyOf = [] } = unions
    const branch = [...oneOf, ...anyOf].map(ofSchema).find(isPresent)
    const object = examples.length > 0 ? Object.fromEntries(examples) : undefined
    const parts = [...allOf.map(ofSchema), branch, object].filter(isPresent)
    const whole = parts.length > 1 ? Object.assign({}, ...parts) : parts[0]
    const isSent = (name: string) => Object.hasOwn(Object(whole), name) || resolve(properties[name]).writeOnly === true
    return required.every(isSent) ? whole : undefined
  }
  return {
    resolve,
    exampleOf: ({ example, examples, schema }) => {
      const [first] = Object.values(Object(examples))
      return example ?? resolve(first).value ?? ofSchema(schema)
    }
  }
}

/** The keywords of a schema that has an example for each of its parts. */
interface Composed {
  properties?: Readonly<Record<string, unknown>>
  required?: readonly string[]
  items?: unknown
  allOf?: readonly unknown[]
  oneOf?: readonly unknown[]
  anyOf?: readonly unknown[]
}

function ownExample ({ examples, example, default: value, const: constant, enum: values }: Node): unknown {
  return firstOf(examples) ?? example ?? value ?? constant ?? firstOf(values)
}

function firstOf (list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined
}

function listOf (item: unknown): unknown[] | undefined {
  return isPresent(item) ? [item] : undefined
}

/** Null counts as missing: it shows nothing. */
function isPresent (example: unknown): boolean {
  return example !== undefined && example !== null
}
