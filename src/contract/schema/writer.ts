// Answers to JSON: first whether they are what the contract says, then their text, without what it does not declare.
import fastJson from 'fast-json-stringify'
import type { Schema as FastJsonSchema } from 'fast-json-stringify'
import { internal } from '../../errors.ts'
import { isInt64 } from './int64.ts'
import { withDoubles } from './json.ts'
import { refersTo, subschemas } from './schemas.ts'
import type { Declared, Schema, Schemas } from './schemas.ts'
import type { Compile, Finding } from './validator.ts'

/** The JSON text of an answer. Throws ServiceError `internal`, whose cause says what is wrong with the answer. */
export type Write = (answer: unknown) => string

/** A compiler of writers, one for all the answers that have the same schema. */
export function createWriters (schemas: Schemas, compile: Compile): (schema: object) => Write {
  const writers = new Map<string, Write>()
  return schema => {
    const text = JSON.stringify(schema)
    const write = writers.get(text) ?? toWriter(schema as Schema, schemas, compile)
    writers.set(text, write)
    return write
  }
}

function toWriter (schema: Schema, schemas: Schemas, compile: Compile): Write {
  const validate = compile(schema)
  const components = plainComponents(schema, schemas)
  const exact = holdsInt64(schema, schemas)
  const fast = components && fastJson(schema as unknown as FastJsonSchema, { schema: components })
  return answer => {
    const holder = { '': answer }
    const { fault, findings } = validate(exact ? withDoubles(holder) : holder, '')
    if (fault !== undefined) throw internal(new Error(`the answer${fault.path && ` at ${fault.path}`} ${fault.problem}`))
    return fast === undefined ? writeDeclared(answer, findings) : fast(answer)
  }
}

function holdsInt64 (schema: Schema, schemas: Schemas, seen = new Set<Schema>()): boolean {
  if (seen.has(schema)) return false
  seen.add(schema)
  const inside = [refersTo(schemas, schema) ?? [], subschemas(schema).map(([, inner]) => inner)].flat()
  return isInt64(schema) || inside.some(inner => holdsInt64(inner, schemas, seen))
}

/** JSON.stringify, but for members that no schema of their object declares, and with bigints as the numbers that they are. */
function writeDeclared (answer: unknown, findings: readonly Finding[]): string {
  const described = Map.groupBy(findings.filter(finding => 'declared' in finding), ({ pointer }) => pointer)
  const copy = (value: unknown, pointer: string): unknown => {
    if (typeof value === 'bigint') return JSON.rawJSON(String(value))
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item, index) => copy(item, `${pointer}/${index}`))
    const schemas = described.get(pointer)
    // An object that no schema describes may have any members, and may know itself how it is written.
    if (schemas === undefined && 'toJSON' in value) return value
    const isDeclared = (name: string) => schemas?.some(({ declared }) => declares(declared, name)) ?? true
    const members = Object.entries(value).filter(([name]) => isDeclared(name))
    return Object.fromEntries(members.map(([name, member]) => [name, copy(member, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)]))
  }
  return JSON.stringify(copy(answer, ''))
}

function declares ({ any, names, patterns }: Declared, name: string): boolean {
  return any || names.includes(name) || patterns.some(pattern => new RegExp(pattern, 'u').test(name))
}

/** What a plain schema may say, and fast-json-stringify, which knows draft 7, writes exactly; and annotations, which it leaves alone. */
const plainWords = new Set(['$ref', 'type', 'properties', 'required', 'items', 'enum', 'const', 'format', 'pattern', 'minLength', 'maxLength',
  'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems',
  'title', 'description', 'example', 'examples', 'deprecated', 'readOnly', 'externalDocs', 'xml'])

/** The components that a schema needs, if it and they are plain; undefined when one of them is not. */
function plainComponents (schema: Schema, schemas: Schemas): Record<string, FastJsonSchema> | undefined {
  const components: Record<string, FastJsonSchema> = {}
  const isPlain = (schema: Schema): boolean => {
    const { type, format, $ref } = schema
    const words = Object.keys(schema)
    if (!words.every(word => plainWords.has(word) || word.startsWith('x-')) || format === 'unsafe') return false
    // What every object inherits, fast-json-stringify would take for a member.
    if (Object.keys(schema.properties ?? {}).some(name => name in Object.prototype)) return false
    if ($ref === undefined) return typeof type === 'string' && subschemas(schema).every(([, inside]) => isPlain(inside))
    const name = String($ref).replace(/#$/, '')
    const component = name.includes('#') ? undefined : refersTo(schemas, schema)
    if (component === undefined || words.some(word => ['type', 'properties', 'items'].includes(word))) return false
    if (name in components) return true
    components[name] = component as unknown as FastJsonSchema
    return isPlain(component)
  }
  return isPlain(schema) ? components : undefined
}
