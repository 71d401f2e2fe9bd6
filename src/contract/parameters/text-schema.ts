// What a schema says of a value that arrives as text: a parameter, a member of a form or a body.
import {
  type Compile, composedSchemas, isFileSchema, isSchemaObject, lazily, type Schema, type Schemas,
  type Validate
} from '../schema/index.ts'

/** A schema and those that it consists of, by $ref, allOf, anyOf and oneOf, taken together. */
export interface TextSchema {
  /** The JSON types except null. A value without any may be anything. */
  readonly types: ReadonlySet<string>
  readonly mayBeFile: boolean
  /** Whether it may be a value that is neither a file nor a list. */
  readonly mayBeValue: boolean
  /** Whether it may be one text, and so not only a list or an object. */
  readonly mayBeText: boolean
  /** The declared members. */
  readonly names: ReadonlySet<string>
  /** Whether it asks for members that it does not declare, or declares none. */
  readonly hasOthers: boolean
  /** Undefined for what cannot be a list. */
  item (): TextSchema | undefined
  /** Undefined where it declares other members and asks for no more. */
  member (name: string): TextSchema | undefined
  /** Compiles the schema for the first value that needs it. */
  validator (): Validate
}

/** Describes a schema, and each schema inside it once: it may contain itself. */
export function textSchema (schema: object, schemas: Schemas, compile: Compile): TextSchema {
  const known = new Map<Schema, TextSchema>()
  const describeOne = (schema: Schema): TextSchema => {
    const described = known.get(schema) ?? {
      ...describeParts([...composedSchemas(schema, schemas)], describe),
      validator: lazily(() => compile(schema))
    }
    known.set(schema, described)
    return described
  }
  const describe = (candidates: unknown[]): TextSchema => {
    const found = candidates.filter(isSchemaObject).map(describeOne)
    return eitherOf(found) ?? describeOne(anything)
  }
  return describe([schema])
}

const anything = {}

/** Compiles no schema for a combination: names may match patterns in very many. */
function eitherOf (found: TextSchema[]): TextSchema | undefined {
  if (found.length < 2) return found[0]
  return {
    types: new Set(found.flatMap(({ types }) => [...types])),
    mayBeFile: found.some(({ mayBeFile }) => mayBeFile),
    mayBeValue: found.some(({ mayBeValue }) => mayBeValue),
    mayBeText: found.some(({ mayBeText }) => mayBeText),
    get names () { return new Set(found.flatMap(({ names }) => [...names])) },
    hasOthers: found.some(({ hasOthers }) => hasOthers),
    item: () => eitherOf(found.flatMap(schema => schema.item() ?? [])),
    member: name => eitherOf(found.flatMap(schema => schema.member(name) ?? [])),
    validator: () => firstAccepting(found.map(schema => schema.validator()))
  }
}

function firstAccepting (validators: Validate[]): Validate {
  const accepting = (root: Root) => validators.find(validate => validate.accepts(root))
  const validate = (root: Root) => (accepting(root) ?? validators[0] as Validate)(root)
  return Object.assign(validate, { accepts: (root: Root) => accepting(root) !== undefined })
}

type Root = Parameters<Validate>[0]

function describeParts (
  parts: Schema[],
  describe: (candidates: unknown[]) => TextSchema
): Omit<TextSchema, 'validator'> {
  const types = new Set(parts.flatMap(typesOf))
  types.delete('null')
  const values = parts.filter(part => !isFileSchema(part))
  const isScalar = (type: string) => type !== 'array' && type !== 'object'
  const isList = types.has('array') || parts.some(part => !('type' in part) && 'items' in part)
  const properties = parts.map(part => (part.properties ?? {}) as Schema)
  const names = new Set(properties.flatMap(Object.keys))
  const members = new Map<string, () => TextSchema>()
  for (const name of names) {
    members.set(name, lazily(() => describe(properties.map(declared => declared[name]))))
  }
  const patterns: Array<{ pattern: RegExp, schema: unknown }> = []
  const others: unknown[] = []
  for (const { patternProperties = {}, additionalProperties, unevaluatedProperties } of parts) {
    for (const [source, schema] of Object.entries(patternProperties as object)) {
      patterns.push({ pattern: new RegExp(source, 'u'), schema })
    }
    others.push(additionalProperties, unevaluatedProperties)
  }
  const item = lazily(() => describe(parts.map(part => part.items)))
  const other = lazily(() => describe(others))
  const isOpen = others.some(Boolean) || (names.size === 0 && !others.includes(false))
  return {
    types,
    mayBeFile: values.length < parts.length,
    mayBeValue: values.some(part => !typesOf(part).every(type => /^(?:array|null)$/.test(type))),
    mayBeText: types.size === 0 || types.values().some(isScalar),
    names,
    hasOthers: isOpen || patterns.length > 0,
    item: () => isList ? item() : undefined,
    member (name) {
      const member = members.get(name)
      if (member !== undefined) return member()
      const matching = patterns.filter(({ pattern }) => pattern.test(name))
      if (matching.length > 0) return describe(matching.map(({ schema }) => schema))
      return isOpen ? other() : undefined
    }
  }
}

/** The types that a schema names, or those of its values. One with members describes an object. */
function typesOf (schema: Schema): string[] {
  if (schema.type !== undefined) return [schema.type].flat() as string[]
  if ('properties' in schema || 'additionalProperties' in schema) return ['object']
  if (isFileSchema(schema)) return ['string']
  const values = 'const' in schema ? [schema.const] : schema.enum as unknown[] | undefined ?? []
  return values.map(value => value === null ? 'null' : typeof value)
}
