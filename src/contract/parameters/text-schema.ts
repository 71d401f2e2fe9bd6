// What a schema says of a value that is sent as text, and the JSON of such a value.
import { composedSchemas, isSchemaObject, lazily } from '../schema/index.ts'
import type { Schema, Schemas } from '../schema/index.ts'

/** The texts of a value: one, a list, or one for each member. */
export type Tree = string | readonly Tree[] | ReadonlyMap<string, Tree>

/** The schemas of a value, by $ref, allOf, anyOf and oneOf taken together. */
export interface Shape {
  readonly types: ReadonlySet<string>
  /** The declared members. */
  readonly names: ReadonlySet<string>
  /** Whether additionalProperties or patternProperties ask for undeclared members, or no member is declared. */
  readonly hasOthers: boolean
  items (): Shape
  member (name: string): Shape
}

/** The shape of a schema. `known` keeps those of inner schemas, because a schema may contain itself. */
export function shapeOf (schema: Schema, schemas: Schemas, known = new Map<Schema, Shape>()): Shape {
  const parts = [...composedSchemas(schema, schemas)]
  const allOf = (inside: unknown[]): Shape => {
    const [first = {}, ...more] = inside.filter(isSchemaObject)
    const inner = more.length === 0 ? first : { anyOf: [first, ...more] }
    const shape = known.get(inner) ?? shapeOf(inner, schemas, known)
    known.set(inner, shape)
    return shape
  }
  const maps = (keyword: string) => parts.map(part => part[keyword] ?? {}) as Schema[]
  const declared = Map.groupBy(maps('properties').flatMap(Object.entries), ([name]) => name)
  const members = new Map(Array.from(declared, ([name, ofMember]) => {
    return [name, lazily(() => allOf(ofMember.map(([, schema]) => schema)))]
  }))
  const additional = parts.map(({ additionalProperties }) => additionalProperties)
  const patterns = maps('patternProperties').flatMap(Object.entries).map(([pattern, schema]) => {
    return { pattern: new RegExp(pattern, 'u'), shape: lazily(() => allOf([schema])) }
  })
  const other = lazily(() => allOf(additional))
  const undeclared = (name: string) => patterns.find(({ pattern }) => pattern.test(name))?.shape() ?? other()
  return {
    types: new Set(parts.flatMap(typesOf)),
    names: new Set(declared.keys()),
    hasOthers: additional.some(Boolean) || patterns.length > 0 || (declared.size === 0 && !additional.includes(false)),
    items: lazily(() => allOf(parts.map(({ items }) => items))),
    member: name => members.get(name)?.() ?? undeclared(name)
  }
}

/** The types that a schema names, or those of its values. A schema with members describes an object. */
function typesOf (schema: Schema): string[] {
  if (schema.type !== undefined) return [schema.type].flat() as string[]
  if ('properties' in schema || 'additionalProperties' in schema) return ['object']
  const values = [schema.enum ?? [], 'const' in schema ? schema.const : []].flat()
  return values.filter(value => value !== null).map(value => typeof value)
}

/** Whether the value may be one text. A schema without types allows any. */
export function mayBeText ({ types }: Shape): boolean {
  return ![...types].every(type => ['array', 'object', 'null'].includes(type)) || types.size === 0
}

/**
 * The JSON of texts. A text becomes a number (RFC 8259, section 6) or a boolean where its shape allows it, else a
 * string; `prefersText` makes it a string where the shape allows that too.
 */
export function toJson (tree: Tree, shape: Shape, prefersText: boolean): string {
  if (typeof tree === 'string') return textToJson(tree, shape.types, prefersText)
  if (tree instanceof Map) {
    const members = Array.from(tree as ReadonlyMap<string, Tree>, ([name, member]) => {
      return `${JSON.stringify(name)}:${toJson(member, shape.member(name), prefersText)}`
    })
    return `{${members.join()}}`
  }
  return `[${(tree as Tree[]).map(item => toJson(item, shape.items(), prefersText)).join()}]`
}

export function textToJson (text: string, types: ReadonlySet<string>, prefersText = false): string {
  if (prefersText && types.has('string')) return JSON.stringify(text)
  const mayBeNumber = types.has('integer') || types.has('number')
  const isNumber = mayBeNumber && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(text)
  const isBoolean = types.has('boolean') && (text === 'true' || text === 'false')
  return isNumber || isBoolean ? text : JSON.stringify(text)
}
