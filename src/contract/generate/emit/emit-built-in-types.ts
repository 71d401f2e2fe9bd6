// Emits the types of a contract as text, in the shape of openapi-typescript's and without a
// compiler. Each schema is an alias, because members of interfaces cannot be recursive lists.
import { methods } from '../../message/methods.ts'
import {
  composedSchemas, isFileSchema, isInt64, isSchemaObject, type Schema, valueAt
} from '../../schema/index.ts'
import {
  defaultOf, type Description, hasIgnoredBody, type ListedOperation, listOperations,
  type Parameter, parametersOf, resolve, valueOf, withoutExtensions
} from '../description/description.ts'
import { distinctionsIn } from '../description/discriminators.ts'
import { takeName } from '../description/schema-names.ts'

type Named<Value> = Record<string, Value>
interface Media { schema?: unknown }
interface Body { required?: boolean, description?: string, content?: Named<Media> }
interface Response { description?: string, headers?: Named<object>, content?: Named<Media> }

/** Marks of members that only one side sends: types/body.ts removes them from the other side. */
const marks = `
export type $Read<T> = { readonly $read: T }
export type $Write<T> = { readonly $write: T }
`
const anyObject = '{ [key: string]: unknown }'

/** The types of a bundled description, as emitTypes() of emit-types.ts has them. */
export function emitBuiltInTypes (document: Description): string {
  const schemas = new SchemaTypes(document)
  const listed = listOperations(document)
  const operations = listed.map(one => {
    return member(String(one.operation.operationId), operationType(schemas, one))
  })
  const names = Object.keys(document.components?.schemas ?? {})
  const components = names.map(name => {
    return member(name, schemas.reference(`#/components/schemas/${name}`))
  })
  const parts = [
    `export interface paths ${block(pathMembers(listed))}`,
    `export interface webhooks ${block(webhookMembers(schemas))}`,
    `export interface components ${block([member('schemas', block(components))])}`,
    `export interface operations ${block(operations)}`
  ]
  const aliases = schemas.aliases()
  const text = [...parts, ...aliases].join('\n\n') + '\n'
  return /\$(?:Read|Write)</.test(text) ? text + marks : text
}

/** The types of schemas. The components and parts that they refer to become aliases. */
class SchemaTypes {
  readonly document: Description
  private readonly distinctions
  /** The names of aliases, by reference. */
  private readonly names = new Map<string, string>()
  /** Names of TypeScript's types and words begin with a small letter, but for these. */
  private readonly taken = new Set<unknown>(['Blob', 'Record'])
  private readonly texts = new Map<string, string>()
  /** The references that the type in work consists of: an alias cannot consist of itself. */
  private readonly open = new Set<string>()

  constructor (document: Description) {
    this.document = document
    this.distinctions = distinctionsIn(document)
  }

  /** The declarations of all aliases; to emit one can add others. */
  aliases (): string[] {
    for (const reference of this.names.keys()) this.addAlias(reference)
    return [...this.names.keys()].map(reference => this.texts.get(reference) as string)
  }

  /** The name of the type that a reference leads to. */
  reference (reference: string): string {
    const known = this.names.get(reference)
    if (known !== undefined) return known
    const plain = reference.replace('#/components/schemas/', '').replaceAll(/\W+/g, '_')
    const word = /^[a-z]/i.test(plain) ? plain : `_${plain}`
    const name = takeName(word.slice(0, 1).toUpperCase() + word.slice(1), this.taken)
    this.names.set(reference, name)
    return name
  }

  /**
   * @param isPart whether an alias consists of the type, instead of having it in a member
   * @param isExact whether integers are int64, by a schema that composes this one
   */
  type (schema: unknown, isPart = false, isExact = this.isExact(schema)): string {
    if (schema === false) return 'never'
    if (!isSchemaObject(schema)) return 'unknown'
    const { $ref, allOf = [], anyOf = [true], oneOf = [true] } = schema as Named<any>
    const inner = (part: unknown) => this.type(part, isPart, isExact || this.isExact(part))
    const composed = intersection([
      typeof $ref === 'string' ? this.referenceType($ref, isPart) : 'unknown',
      ...allOf.map(inner), union(anyOf.map(inner)), union(oneOf.map(inner)),
      requiredMembers(schema)
    ])
    const own = this.ownType(schema, isExact)
    if (composed === 'unknown') return own
    // A composition of objects says more than that there is an object.
    return own === anyObject ? composed : intersection([own, composed])
  }

  /** Whether the integers of a schema are int64, also by a schema that applies besides. */
  private isExact (schema: unknown): boolean {
    if (!isSchemaObject(schema)) return false
    return composedSchemas(schema, { '': this.document }, ['allOf']).values().some(isInt64)
  }

  private referenceType (reference: string, isPart: boolean): string {
    if (isPart) {
      if (this.open.has(reference)) return 'unknown'
      this.addAlias(reference)
    }
    return this.reference(reference)
  }

  private addAlias (reference: string): void {
    if (this.texts.has(reference)) return
    const name = this.reference(reference)
    const schema = valueAt(this.document, reference.slice(1)) as Schema
    this.open.add(reference)
    const parts = [this.type(schema, true)]
    this.open.delete(reference)
    const distinction = this.distinctions.get(reference)
    if (distinction?.isDefault === false) {
      const { property, values } = distinction
      parts.push(`{ ${member(property, union(values.map(literal)))} }`)
    }
    this.texts.set(reference, `${comment(schema)}export type ${name} = ${intersection(parts)}`)
  }

  /** The type by the keywords of the schema itself, without those that apply other schemas. */
  private ownType (schema: Schema, isExact: boolean): string {
    const { const: constant, enum: values = [constant] } = schema as Named<any>
    if (constant !== undefined || schema.enum !== undefined) {
      return union(values.map(isExact ? exactLiteral : literal))
    }
    if (schema.type !== undefined) {
      const types = [schema.type].flat() as string[]
      return union(types.map(type => this.typeNamed(type, schema, isExact)))
    }
    if (objectWords.some(word => word in schema)) return this.objectType(schema)
    return isFileSchema(schema) && !('$ref' in schema) ? 'Blob' : 'unknown'
  }

  private typeNamed (type: string, schema: Schema, isExact: boolean): string {
    if (type === 'object') return this.objectType(schema)
    if (type === 'array') return this.arrayType(schema)
    if (type === 'string') return isFileSchema(schema) ? 'Blob' : 'string'
    if (type === 'integer' || type === 'number') return isExact ? 'bigint' : 'number'
    return type
  }

  private objectType (schema: Schema): string {
    const { properties = {}, patternProperties = {}, required = [], additionalProperties } =
      schema as Named<any>
    const members = Object.entries(properties).map(([name, inner]) => {
      const text = marked(inner, this.type(inner))
      return comment(inner) + member(name, text, !required.includes(name))
    })
    const indexed = Object.values(patternProperties).map(inner => this.type(inner))
    if (additionalProperties) indexed.push(this.type(additionalProperties))
    const index = indexed.length === 0 ? [] : [`{ [key: string]: ${union(indexed)} }`]
    if (members.length > 0) return intersection([block(members), ...index])
    return index[0] ?? (additionalProperties === false ? 'Record<string, never>' : anyObject)
  }

  private arrayType (schema: Schema): string {
    const { prefixItems, items, minItems = 0 } = schema as Named<any>
    const rest = items === undefined ? 'unknown' : this.type(items)
    if (prefixItems === undefined) return `${rest}[]`
    const first = prefixItems.map((inner: unknown, index: number) => {
      return index < minItems ? this.type(inner) : `${this.type(inner)}?`
    })
    if (items !== false) first.push(`...${rest}[]`)
    return `[${first.join(', ')}]`
  }
}

const objectWords = ['properties', 'additionalProperties', 'patternProperties']

/** Other schemas that apply to the same value may declare what this schema requires. */
function requiredMembers ({ required = [], properties = {} }: Schema): string {
  const others = (required as string[]).filter(name => !Object.hasOwn(properties as object, name))
  if (others.length === 0) return 'unknown'
  return `{ ${others.map(name => member(name, '{} | null')).join('; ')} }`
}

function operationType (schemas: SchemaTypes, listed: ListedOperation): string {
  const { operation } = listed
  const body = hasIgnoredBody(listed) ? undefined : operation.requestBody
  const responses = Object.entries(withoutExtensions(operation.responses as Named<Response>))
  return block([
    member('parameters', parametersType(schemas, listed)),
    requestBody(schemas, body),
    member('responses', block(responses.map(([status, given]) => {
      const response = resolve<Response>(schemas.document, given)
      return comment(response) + member(status, responseType(schemas, response))
    })))
  ])
}

function parametersType (schemas: SchemaTypes, listed: ListedOperation): string {
  const { document } = schemas
  const byPlace = Map.groupBy(parametersOf(document, listed), parameter => String(parameter.in))
  const places = new Set(['query', 'header', 'path', 'cookie', ...byPlace.keys()])
  return block([...places].map(place => {
    const here = byPlace.get(place)
    if (here === undefined) return member(place, 'never', true)
    const optional = here.filter(parameter => isOptional(document, parameter))
    const members = here.map(parameter => {
      const type = schemas.type(valueOf(parameter).schema)
      return comment(parameter) + member(parameter.name, type, optional.includes(parameter))
    })
    return member(place, block(members), optional.length === here.length)
  }))
}

/** Handlers get the default of a parameter that was not sent. */
function isOptional (document: Description, parameter: Parameter): boolean {
  if (parameter.in === 'path' || parameter.required === true) return false
  return defaultOf(document, valueOf(parameter).schema) === undefined
}

function requestBody (schemas: SchemaTypes, given: unknown): string {
  if (given === undefined) return member('requestBody', 'never', true)
  const body = resolve<Body>(schemas.document, given as Body)
  const content = contentType(schemas, Object(body.content)) ?? '{ "*/*"?: never }'
  return comment(body) + member('requestBody', `{ content: ${content} }`, body.required !== true)
}

function responseType (schemas: SchemaTypes, { headers = {}, content = {} }: Response): string {
  const fields = Object.entries(headers).map(([name, given]) => {
    const header = resolve<Media & { required?: boolean }>(schemas.document, given)
    const type = schemas.type(valueOf(header as object).schema)
    return comment(header) + member(name, type, header.required !== true)
  })
  const type = contentType(schemas, content)
  return block([
    member('headers', block([...fields, '[name: string]: unknown'])),
    member('content', type ?? 'never', type === undefined)
  ])
}

function contentType (schemas: SchemaTypes, content: Named<Media>): string | undefined {
  const members = Object.entries(content).map(([type, { schema }]) => {
    return member(type, schemas.type(schema))
  })
  return members.length === 0 ? undefined : block(members)
}

/** For clients: openapi-fetch finds an operation by its path and method. */
function pathMembers (listed: ListedOperation[]): string[] {
  const byPath = Map.groupBy(listed, ({ url }) => url)
  return [...byPath].map(([url, here]) => {
    const declared = here.map(({ method, operation }) => {
      return member(method, `operations[${literal(operation.operationId)}]`)
    })
    const others = methods.filter(method => here.every(one => one.method !== method))
    return member(url, block([...declared, ...others.map(name => member(name, 'never', true))]))
  })
}

/** For code that sends webhooks: the engine does not serve them. */
function webhookMembers (schemas: SchemaTypes): string[] {
  const { document } = schemas
  const listed = listOperations({ ...document, paths: document.webhooks ?? {} } as Description)
  return [...Map.groupBy(listed, ({ url }) => url)].map(([name, here]) => {
    return member(name, block(here.map(one => {
      return member(one.method, operationType(schemas, one))
    })))
  })
}

function marked (schema: unknown, type: string): string {
  const { readOnly = false, writeOnly = false } = Object(schema) as Schema
  if (readOnly === writeOnly) return type
  return readOnly === true ? `$Read<${type}>` : `$Write<${type}>`
}

function member (name: string, type: string, isOptional = false): string {
  const key = /^(?:[a-z_$][\w$]*|[1-9]\d{0,8})$/i.test(name) ? name : literal(name)
  return `${key}${isOptional ? '?' : ''}: ${type}`
}

function block (members: string[]): string {
  if (members.length === 0) return '{}'
  return `{\n${members.join('\n').replaceAll(/^(?=.)/gm, '  ')}\n}`
}

/** In parentheses, as an intersection is: either can be a part of any other type. */
function union (types: string[]): string {
  const unique = [...new Set(types)]
  if (unique.length === 0) return 'never'
  if (unique.includes('unknown')) return 'unknown'
  return unique.length === 1 ? unique.join() : `(${unique.join(' | ')})`
}

function intersection (types: string[]): string {
  const unique = [...new Set(types)].filter(type => type !== 'unknown')
  if (unique.length === 0) return 'unknown'
  return unique.length === 1 ? unique.join() : `(${unique.join(' & ')})`
}

function literal (value: unknown): string {
  return JSON.stringify(value)
}

function exactLiteral (value: unknown): string {
  return typeof value === 'number' ? `${value}n` : literal(value)
}

function comment (described: unknown): string {
  const { description, deprecated, default: preset } = Object(described) as Schema
  const lines: string[] = []
  if (typeof description === 'string') lines.push(...description.trim().split(/\r?\n/))
  if (preset !== undefined) lines.push(`@default ${literal(preset)}`)
  if (deprecated === true) lines.push('@deprecated')
  const safe = lines.map(line => line.replaceAll('*/', '*\\/').trimEnd())
  if (safe.length === 0) return ''
  if (safe.length === 1) return `/** ${safe[0]} */\n`
  return `/**\n${safe.map(line => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}
