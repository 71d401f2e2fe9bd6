// What the schema of a form says of its members, and their texts as JSON. Validation of JSON then keeps integers exact.
import { composedSchemas, isFileSchema, isSchemaObject, readJson } from '../schema/index.ts'
import type { Compile, Schema, Schemas, Validate, Validated } from '../schema/index.ts'
import { textToJson } from '../parameters/text-schema.ts'

/** A text as JSON, and whether it is valid. */
export type ReadText = Validated & { json: string }

/** A form, or one member of it, whose schema may be in several parts of the form's. */
export interface Member {
  /** The JSON types that it may have, except null; without any it may be anything. */
  readonly types: ReadonlySet<string>
  /** Whether it may be a file. */
  readonly isFile: boolean
  /** Of an array. */
  readonly item: Member | undefined
  /** Reads a text as the types allow it: JSON, a number or a boolean before a string. */
  readonly read: (text: string, isJson?: boolean) => ReadText
  /** The same without the value; it validates the text only if the types allow several readings. */
  readonly jsonOf: (text: string) => string
  /** The names that it declares for its own members. */
  readonly names: ReadonlySet<string>
  /** Its member of this name; undefined when the schema names others only. */
  readonly member: (name: string) => Member | undefined
}

/** Understands a schema as that of a form. It looks at members, and compiles their schemas, when they are first sent. */
export function toMember (found: readonly Schema[], schemas: Schemas, compile: Compile): Member {
  const parts = found.flatMap(schema => [...composedSchemas(schema, schemas)])
  const values = parts.filter(part => !isFileSchema(part))
  const types = new Set(values.flatMap(typesOf))
  types.delete('null')
  const items = parts.flatMap(({ items }) => toSchema(items))
  const isArray = types.has('array')
  const schema = found.length === 1 ? found[0] as Schema : found.length === 0 ? {} : { anyOf: found }
  let validate: Validate | undefined
  let item: Member | undefined
  const read = (text: string, isJson = false): ReadText => {
    validate ??= compile(schema)
    return readText(candidatesOf(text, types, isJson), validate)
  }
  return {
    types,
    isFile: values.length < parts.length,
    get item () {
      if (isArray) item ??= toMember(items, schemas, compile)
      return item
    },
    read,
    jsonOf (text) {
      const [first, ...others] = candidatesOf(text, types, false)
      return others.length > 0 ? read(text).json : first as string
    },
    ...membersOf(parts, found => toMember(found, schemas, compile))
  }
}

function membersOf (parts: readonly Schema[], toMember: (found: Schema[]) => Member): Pick<Member, 'names' | 'member'> {
  const named = Map.groupBy(entriesOf(parts, 'properties'), ([name]) => name)
  const patterned = entriesOf(parts, 'patternProperties').map(([source, schema]) => {
    return { pattern: new RegExp(source, 'u'), schemas: toSchema(schema) }
  })
  const others = parts.flatMap(part => [part.additionalProperties, part.unevaluatedProperties].flatMap(toSchema))
  const isOpen = others.length > 0 || named.size === 0
  const known = new Map<string, Member>()
  const knownByPatterns = new Map<string, Member>()
  const matched = (matching: typeof patterned) => {
    const sources = JSON.stringify(matching.map(({ pattern }) => pattern.source))
    // Names may match patterns in very many combinations.
    if (knownByPatterns.size >= 100) knownByPatterns.clear()
    return knownByPatterns.get(sources) ??
      setIn(knownByPatterns, sources, toMember(matching.flatMap(({ schemas }) => schemas)))
  }
  let other: Member | undefined
  return {
    names: new Set(named.keys()),
    member (name) {
      const declared = known.get(name)
      if (declared !== undefined) return declared
      const found = named.get(name)?.flatMap(([, schema]) => toSchema(schema))
      if (found !== undefined) return setIn(known, name, toMember(found))
      const matching = patterned.filter(({ pattern }) => pattern.test(name))
      if (matching.length > 0) return matched(matching)
      if (isOpen) other ??= toMember(others)
      return other
    }
  }
}

function entriesOf (parts: readonly Schema[], keyword: 'properties' | 'patternProperties'): Array<[string, unknown]> {
  return parts.flatMap(part => Object.entries(part[keyword] ?? {}))
}

function setIn<Value> (map: Map<string, Value>, key: string, value: Value): Value {
  map.set(key, value)
  return value
}

/** The boolean schema `true` admits anything; `false` is for the validation. */
function toSchema (schema: unknown): Schema[] {
  if (schema === true) return [{}]
  return isSchemaObject(schema) ? [schema] : []
}

/** The types that one schema names, without those that it consists of. */
function typesOf (part: Schema): string[] {
  if (part.type !== undefined) return [part.type].flat() as string[]
  const values = [part.enum ?? [], 'const' in part ? part.const : []].flat().filter(value => value !== null)
  if (values.length > 0) return values.map(value => typeof value)
  return [...'properties' in part ? ['object'] : [], ...'items' in part ? ['array'] : []]
}

/** The first valid reading of a text, or the fault of the first. */
function readText (candidates: string[], validate: Validate): ReadText {
  const read = candidates.map(json => ({ ...readJson(validate, Buffer.from(json)), json }))
  return (read.find(({ fault }) => fault === undefined) ?? read[0]) as ReadText
}

function candidatesOf (text: string, types: ReadonlySet<string>, isJson: boolean): string[] {
  const mayBeJson = isJson || types.has('object') || types.has('array')
  const string = types.size === 0 || types.has('string') ? [JSON.stringify(text)] : []
  return [...new Set([...mayBeJson && isJsonText(text) ? [text] : [], textToJson(text, types), ...string])]
}

function isJsonText (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
