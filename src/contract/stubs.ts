// Handlers for operations that are not written yet: 501, or a sample answer of the contract.
import { Readable } from 'node:stream'
import { HttpError } from './server/http-error.ts'
import type { AnyAnswer } from './answers/response-writer.ts'
import { kindOf, linesMark } from './message/media-type.ts'
import { operationKeys } from './message/methods.ts'
import { type SampleAt, sampler } from './samples.ts'
import {
  type Compile, createCompiler, describesEvent, isSchemaObject, isString, mapValues, type Schema,
  writeValid
} from './schema/index.ts'
import type { Contract, Operation, Response } from './types/contract.ts'

/** A handler for each operation; `never` is assignable to the answers of any contract. */
export type Stubs<C extends Contract> = {
  readonly [Id in keyof C['operations']]: (request: object) => never
}

/**
 * Handlers for all operations, which throw an HttpError with 501. Written ones replace them:
 * `{ ...stubs(contract), createPlant }`.
 * @param document the description: the stubs answer with its examples, with values by type where a
 *   required one has none, and with 501 where these do not satisfy the schema
 */
export function stubs<C extends Contract> (contract: C, document?: object): Stubs<C> {
  const compile = createCompiler(contract.schemas, 'answer')
  const sampleAt = document && sampler(document)
  return mapValues(contract.operations, (_operation, id) => {
    return sampleAt === undefined ? () => throwMissing(id) : stub(id, contract, sampleAt, compile)
  }) as Stubs<C>
}

function throwMissing (id: string, what?: string): never {
  const reason = what === undefined ? '' : `, and its contract has no ${what}`
  throw new HttpError(501, `The operation ${id} is not implemented yet${reason}.`)
}

function stub (
  id: string, { operations, schemas }: Contract, sampleAt: SampleAt, compile: Compile
) {
  const { url, method, responses } = operations[id] as Operation
  const success = successOf(responses)
  if (success === undefined) return () => throwMissing(id, 'example of a success')
  const { content = {}, headers = {} } = responses[success] as Response
  const types = Object.keys(content)
  const place = ['paths', url, ...operationKeys(method), 'responses', success]

  function bodyOf (type: string): unknown {
    const kind = kindOf(type)
    const isOfJson = ['json', 'lines', 'events'].includes(kind)
    const example = sampleAt([...place, 'content', type], isOfJson || kind === 'text')
    // JSON and items can be written from any value. A range does not name the type of its example.
    const isText = typeof example === 'string' && !type.includes('*')
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

  const answerOf = (accept: string): AnyAnswer => {
    const status = success === 'default' ? 200 : Number(success.replace('XX', '00'))
    const answer: { -readonly [Member in keyof AnyAnswer]: AnyAnswer[Member] } = { status }
    for (const [name, { required, schema }] of Object.entries(headers)) {
      const example = sampleAt([...place, 'headers', name], required === true)
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

  return ({ accept = '', body }: { accept?: string, body?: unknown }) => {
    const answer = answerOf(accept)
    return isItems(body) ? skip(body).then(() => answer) : answer
  }
}

type Items = AsyncIterable<{ file?: unknown } | null>

/** Whether a body consists of the parts of a form, or of JSON lines. */
function isItems (body: unknown): body is Items {
  return !(body instanceof Readable) && isSchemaObject(body) && Symbol.asyncIterator in body
}

/** Reads items, which are checked as they arrive. */
async function skip (items: Items): Promise<void> {
  for await (const item of items) {
    if (item?.file instanceof Readable) item.file.resume()
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
