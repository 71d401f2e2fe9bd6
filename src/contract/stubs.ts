// Handlers for operations that are not written yet: 501, or an answer from the contract's examples.
import { HttpError } from './server/http-error.ts'
import type { AnyAnswer } from './answers/response-writer.ts'
import { kindOf, linesMark } from './message/media-type.ts'
import { operationKeys } from './message/methods.ts'
import {
  type Compile, createCompiler, describesEvent, isSchemaObject, isString, mapValues, type Schema,
  valueAt, writeValid
} from './schema/index.ts'
import type { Contract, Operation, Response } from './types/contract.ts'

/** A handler for each operation; `never` is assignable to the answers of any contract. */
export type Stubs<C extends Contract> = {
  readonly [Id in keyof C['operations']]: (request: object) => never
}

/**
 * Handlers for all operations, which throw an HttpError with 501. Written ones replace them:
 * `{ ...stubs(contract), createPlant }`.
 * @param document the description: the stubs answer with its examples, and 501 where it has none
 *   that satisfies its schema
 */
export function stubs<C extends Contract> (contract: C, document?: object): Stubs<C> {
  const compile = createCompiler(contract.schemas, 'answer')
  return mapValues(contract.operations, (_operation, id) => {
    return document === undefined ? () => throwMissing(id) : stub(id, contract, document, compile)
  }) as Stubs<C>
}

function throwMissing (id: string, what?: string): never {
  const reason = what === undefined ? '' : `, and its contract has no ${what}`
  throw new HttpError(501, `The operation ${id} is not implemented yet${reason}.`)
}

function stub (
  id: string, { operations, schemas }: Contract, document: object, compile: Compile
) {
  const { url, method, responses } = operations[id] as Operation
  const success = successOf(responses)
  if (success === undefined) return () => throwMissing(id, 'example of a success')
  const { content = {}, headers = {} } = responses[success] as Response
  const types = Object.keys(content)
  const place = ['paths', url, ...operationKeys(method), 'responses', success]
  const exampleAt = exampleReader(document)

  function bodyOf (type: string): unknown {
    const example = exampleAt([...place, 'content', type])
    const kind = kindOf(type)
    // JSON and items can be written from any value. A range does not name the type of its example.
    const isText = typeof example === 'string' && !type.includes('*')
    const isOfJson = ['json', 'lines', 'events'].includes(kind)
    const isWritable = isOfJson ? example !== undefined : isText
    if (!isWritable) return throwMissing(id, 'example of its body')
    const schema: Schema = { ...content[type]?.schema }
    // The schema of a text may describe what the text means.
    const isChecked = isOfJson || (kind === 'text' && isString(schema, schemas))
    if (!isChecked) return example
    if (kind !== 'lines' && kind !== 'events') return validExample(example, schema, 'its body')
    const areData = kind === 'events' && !describesEvent(schema, schemas)
    const values = areData ? [example] : valuesIn(example, type, isString(schema, schemas))
    const items = values.map(value => validExample(value, schema, 'its body'))
    return iterate(areData ? items.map(data => ({ data })) : items)
  }

  function validExample (example: unknown, schema: object, part: string): unknown {
    const validate = compile(schema)
    const { fault } = writeValid(validate, example)
    if (fault === undefined) return example
    const exact = withBigints(example)
    if (writeValid(validate, exact).fault === undefined) return exact
    const { path, problem } = fault
    const name = path === '' ? 'it' : `"${path}"`
    return throwMissing(id, `valid example of ${part}: ${name} ${problem}`)
  }

  return ({ accept = '' }: { accept?: string }): AnyAnswer => {
    const status = success === 'default' ? 200 : Number(success.replace('XX', '00'))
    const answer: { -readonly [Member in keyof AnyAnswer]: AnyAnswer[Member] } = { status }
    for (const [name, { required, schema }] of Object.entries(headers)) {
      const example = exampleAt([...place, 'headers', name])
      const part = `its header field ${name}`
      if (example !== undefined) {
        answer.headers = { ...answer.headers, [name]: validExample(example, schema, part) }
      } else if (required) throwMissing(id, `example of ${part}`)
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

/** The parser of the contract rounded these integers, and the largest int64 to 2^63. */
function withBigints (example: unknown): unknown {
  if (Number.isInteger(example) && !Number.isSafeInteger(example)) {
    return example === 2 ** 63 ? 2n ** 63n - 1n : BigInt(example as number)
  }
  if (Array.isArray(example)) return example.map(withBigints)
  return isSchemaObject(example) ? mapValues(example, withBigints) : example
}

/** An example of a sequence is a list of its items, one of them, or the text of JSON lines. */
function valuesIn (example: unknown, type: string, mayBeText: boolean): unknown[] {
  if (Array.isArray(example)) return example
  if (typeof example !== 'string' || mayBeText) return [example]
  const texts = example.split(linesMark(type) || '\n').filter(text => text.trim() !== '')
  try {
    return texts.map(text => JSON.parse(text))
  } catch {
    // The schema refuses it.
    return [example]
  }
}

async function * iterate (items: unknown[]): AsyncGenerator<unknown> {
  yield * items
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
    const { value, dataValue = value } = resolve(first)
    return node.example ?? dataValue ?? exampleOf(node.itemSchema ?? node.schema)
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
