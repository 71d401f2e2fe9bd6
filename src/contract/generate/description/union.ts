// Unites path items: the operation of a method takes what any of their operations takes, and
// declares the answers of all.
import { isDeepStrictEqual } from 'node:util'
import { isMethodField } from '../../message/methods.ts'
import { isSchemaObject, type Schema, valueAt } from '../../schema/index.ts'
import { bodilessStatuses } from '../../types/contract.ts'
import { withoutExtensions } from './description.ts'

/** Members that only describe, or differ in case only: those of the first apply. */
const describing = [
  'operationId', 'tags', 'summary', 'externalDocs', 'links', 'example', 'examples', 'name'
]

export class Union {
  readonly #origins = new Map<unknown, unknown>()
  readonly #root: unknown

  /** @param root the description, to which references lead */
  constructor (root: unknown) {
    this.#root = root
  }

  /** The part of the description that a new part replaces, the first of several; else the part. */
  originOf (part: unknown): unknown {
    return this.#origins.get(part) ?? part
  }

  /** Records what a new part replaces. */
  made (part: Schema, origin: unknown): Schema {
    this.#origins.set(part, this.originOf(origin))
    return part
  }

  /** The object that a part of the description is, or refers to. */
  target (part: unknown): Schema {
    if (!isSchemaObject(part)) throw new Error('the form of its parts')
    const { $ref } = part
    if ($ref === undefined) return part
    if (!String($ref).startsWith('#')) throw new Error('references to other files')
    return this.target(valueAt(this.#root, String($ref).slice(1)))
  }

  /** Parameters by what makes them unique (OpenAPI 3.1, section 4.8.12). */
  byPlace (parameters: unknown): Schema {
    const named: Record<string, unknown> = {}
    for (const parameter of [parameters ?? []].flat()) {
      const { in: place, name } = this.target(parameter)
      const key = `${place} ${place === 'header' ? String(name).toLowerCase() : name}`
      if (key in named) throw new Error('parameters')
      named[key] = parameter
    }
    return named
  }

  /**
   * @param given objects of one kind
   * @throws Error whose message is the name of a member that cannot be united
   */
  unite (given: unknown[]): Schema {
    const [first, ...others] = given
    if (others.every(other => isDeepStrictEqual(other, first))) return first as Schema
    const parts = given.map(part => this.target(part))
    const origin = parts[0] as Schema
    const united: Record<string, unknown> = {}
    for (const name of new Set(parts.flatMap(Object.keys))) {
      const isOfFirst = describing.includes(name) || name.startsWith('x-')
      const value = isOfFirst ? origin[name] : this.#member(name, parts)
      if (value !== undefined) united[name] = value
    }
    return this.made(united, origin)
  }

  #member (name: string, parts: Schema[]): unknown {
    const values = parts.map(part => part[name])
    if (values.every(value => isDeepStrictEqual(value, values[0]))) return values[0]
    if (name === 'requestBody' || isMethodField(name)) return this.#optional(values)
    switch (name) {
      case 'required': case 'deprecated': return false
      case 'description': return [...new Set(values.filter(Boolean))].join('\n\n')
      case 'explode': return this.#explode(parts)
      case 'headers': case 'callbacks': return this.#byName(values)
      case 'parameters': return Object.values(this.#byName(values.map(list => this.byPlace(list))))
    }
    // What is absent or empty is another statement, and no alternative.
    if (name === 'schema' && !values.includes(undefined)) return this.#anyOf(values)
    const areFull = values.every(value => Object.keys(Object(value)).length > 0)
    if (name === 'responses' && areFull) return this.#responses(values as Schema[])
    // A parameter has one media type.
    const isOfParameter = parts.some(part => 'in' in part)
    if (name === 'content' && areFull && !isOfParameter) return this.#byName(values)
    throw new Error(name)
  }

  #byName (maps: unknown[]): Schema {
    const targets = maps.map(map => this.target(map ?? {}))
    const named: Record<string, unknown> = {}
    for (const name of new Set(targets.flatMap(Object.keys))) {
      named[name] = this.#optional(targets.map(target => target[name]))
    }
    return named
  }

  /** What some do without is not required. */
  #optional (values: unknown[]): unknown {
    const present = values.filter(value => value !== undefined)
    const united = this.unite(present)
    if (present.length === values.length) return united
    const part = this.target(united)
    return part.required === true ? this.made({ ...part, required: false }, part) : united
  }

  /** It means nothing for a value that is one text (OpenAPI 3.1, section 4.8.12.2.1). */
  #explode (parts: Schema[]): unknown {
    const isText = ({ schema }: Schema) => {
      return /^(?:string|number|integer|boolean)$/.test(String(this.target(schema).type))
    }
    const values = new Set(parts.filter(part => !isText(part)).map(({ explode }) => explode))
    if (values.size > 1) throw new Error('explode')
    return [...values][0]
  }

  #anyOf (schemas: unknown[]): Schema {
    const alternatives = schemas.filter((schema, index) => {
      return schemas.findIndex(known => isDeepStrictEqual(known, schema)) === index
    })
    return this.made({ anyOf: alternatives }, schemas[0])
  }

  #responses (given: Schema[]): Schema {
    const all = given.map(withoutExtensions)
    const united: Record<string, unknown> = {}
    for (const status of new Set(all.flatMap(Object.keys))) {
      const declared = all.map(responses => responseOf(responses, status))
      united[status] = this.unite(declared.filter(response => response !== undefined))
    }
    return united
  }
}

/** The most specific response for a status or a range; of 204, 205 and 304 only their own. */
function responseOf (responses: Schema, status: string): unknown {
  const isBodiless = bodilessStatuses.some(known => String(known) === status)
  if (status in responses || isBodiless) return responses[status]
  return responses[`${status[0]}XX`] ?? responses.default
}
