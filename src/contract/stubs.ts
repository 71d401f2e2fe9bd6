// Handlers for operations that are not written yet: 501, or an answer from the contract's examples.
import { HttpError } from './server/http-error.ts'
import { describesEvent } from './answers/events.ts'
import type { AnyAnswer } from './answers/response-writer.ts'
import { kindOf } from './message/media-type.ts'
import { isSchemaObject, mapValues, type Schema, valueAt } from './schema/index.ts'
import type { Contract, Operation, Response } from './types/contract.ts'

/** A handler for each operation; `never` is assignable to the answers of any contract. */
export type Stubs<C extends Contract> = {
  readonly [Id in keyof C['operations']]: (request: object) => never
}

/**
 * Handlers for all operations, which throw an HttpError with 501. Written ones replace them:
 * `{ ...stubs(contract), createPlant }`.
 * @param document the description: the stubs answer with its examples, and 501 where it has none
 */
export function stubs<C extends Contract> (contract: C, document?: object): Stubs<C> {
  return mapValues(contract.operations, (_operation, id) => {
    return document === undefined ? () => throwMissing(id) : stub(id, contract, document)
  }) as Stubs<C>
}

function throwMissing (id: string, part?: string): never {
  const reason = part === undefined ? '' : `, and its contract has no example of ${part}`
  throw new HttpError(501, `The operation ${id} is not implemented yet${reason}.`)
}

/** The engine checks its answer like any other: an example that breaks its schema becomes 500. */
function stub (id: string, { operations, schemas }: Contract, document: object) {
  const { url, method, responses } = operations[id] as Operation
  const success = successOf(responses)
  if (success === undefined) return () => throwMissing(id, 'a success')
  const { content = {}, headers = {} } = responses[success] as Response
  const types = Object.keys(content)
  const place = ['paths', url, method.toLowerCase(), 'responses', success]
  const exampleAt = exampleReader(document)

  function bodyOf (type: string): unknown {
    const example = exampleAt([...place, 'content', type])
    const kind = kindOf(type)
    // JSON and events can be written from any value. A range does not name the type of its example.
    const isText = typeof example === 'string' && !type.includes('*')
    const isWritable = kind === 'json' || kind === 'events' ? example !== undefined : isText
    if (!isWritable) return throwMissing(id, 'its body')
    if (kind !== 'events') return example
    const schema = content[type]?.schema as Schema | undefined
    const isEvent = schema !== undefined && describesEvent(schema, schemas)
    return oneEvent(isEvent ? example : { data: example })
  }

  return ({ accept = '' }: { accept?: string }): AnyAnswer => {
    const status = success === 'default' ? 200 : Number(success.replace('XX', '00'))
    const answer: { -readonly [Member in keyof AnyAnswer]: AnyAnswer[Member] } = { status }
    for (const [name, { required }] of Object.entries(headers)) {
      const example = exampleAt([...place, 'headers', name])
      if (example !== undefined) answer.headers = { ...answer.headers, [name]: example }
      else if (required) throwMissing(id, `its header field ${name}`)
    }
    const type = types.includes(accept) ? accept : types[0]
    if (type !== undefined) answer.body = bodyOf(type)
    if (type !== undefined && types.length > 1) answer.contentType = type
    return answer
  }
}

/** The first success, else a redirection, else the default (OpenAPI 3.1, section 4.8.16). */
function successOf (responses: Operation['responses']): string | undefined {
  const keys = Object.keys(responses)
  const first = (start: string) => keys.find(key => key.startsWith(start))
  return first('2') ?? first('3') ?? first('default')
}

async function * oneEvent (event: unknown): AsyncGenerator<unknown> {
  yield event
}

type Node = Readonly<Record<string, unknown>>

/** Returns a function that reads the example of the media type or header field at these names. */
function exampleReader (document: object): (place: string[]) => unknown {
  /** By reference; undefined during the search, because a schema may contain itself. */
  const known = new Map<unknown, unknown>()

  function resolve (value: unknown): Node {
    if (!isSchemaObject(value)) return {}
    const { $ref, ...own } = value
    if (typeof $ref !== 'string') return value
    return { ...resolve(valueAt(document, $ref.slice(1))), ...own }
  }

  function exampleOf (schema: unknown): unknown {
    const { $ref } = Object(schema) as Node
    if (known.has($ref)) return known.get($ref)
    if ($ref !== undefined) known.set($ref, undefined)
    const example = ownExample(resolve(schema)) ?? composedExample(resolve(schema))
    if ($ref !== undefined) known.set($ref, example)
    return example
  }

  /** The examples of the parts together; undefined also where a required member has none. */
  function composedExample ({ items, properties, required, allOf, oneOf, anyOf }: Node): unknown {
    if (items !== undefined) {
      const item = exampleOf(items)
      return isPresent(item) ? [item] : undefined
    }
    const parts = listOf(allOf).map(exampleOf)
    parts.push([...listOf(oneOf), ...listOf(anyOf)].map(exampleOf).find(isPresent))
    const hidden = new Set<unknown>()
    for (const [name, member] of Object.entries(Object(properties))) {
      if (resolve(member).writeOnly === true) hidden.add(name)
      else if (exampleOf(member) !== undefined) parts.push({ [name]: exampleOf(member) })
    }
    const [first, ...others] = parts.filter(isPresent)
    const whole = others.length === 0 ? first : Object.assign({}, first, ...others)
    for (const name of listOf(required)) {
      if (!hidden.has(name) && !Object.hasOwn(Object(whole), name as string)) return undefined
    }
    return whole
  }

  return place => {
    let node: Node = document as Node
    for (const name of place) node = resolve(node[name])
    const [first] = Object.values(Object(node.examples))
    return node.example ?? resolve(first).value ?? exampleOf(node.schema)
  }
}

/** Null shows nothing, so the next one counts. */
function ownExample ({ examples, example, default: value, const: only, enum: values }: Node) {
  return listOf(examples)[0] ?? example ?? value ?? only ?? listOf(values)[0]
}

function listOf (value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function isPresent (example: unknown): boolean {
  return example !== undefined
}
