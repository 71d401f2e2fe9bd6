// Handlers for operations that are not written yet: they answer 501, or with the examples of the contract.
import type { Contract, Media, Operation } from './types.ts'
import type { Schema } from './schema/index.ts'
import type { AnyAnswer } from './answers/response-writer.ts'
import { describesEvent } from './answers/events.ts'
import { exampleReader } from './examples.ts'
import type { Node } from './examples.ts'
import { HttpError } from '../server/http-error.ts'
import { kindOf } from './message/media-type.ts'

/** A handler for each operation of a contract; for the compiler it returns nothing that a contract could refuse. */
export type Stubs<C extends Contract> = { readonly [Id in keyof C['operations']]: (request: object) => never }

/**
 * Handlers for all operations. Those that are written replace them: `handlers: { ...stubs(contract), createPlant }`.
 * @param document the description: the stubs then answer with its examples, and 501 only where it has none
 */
export function stubs<C extends Contract> (contract: C, document?: object): Stubs<C> {
  const handlers = Object.keys(contract.operations).map(id => {
    return [id, document === undefined ? () => refuse(id) : exampleHandler(id, contract, document)]
  })
  return Object.fromEntries(handlers)
}

function refuse (id: string, reason = ''): never {
  throw new HttpError(501, `The operation ${id} is not implemented yet${reason}.`)
}

/** Its answer is checked like that of any handler: an example that its own schema refuses becomes 500. */
function exampleHandler (id: string, { operations, schemas }: Contract, document: object) {
  const operation = operations[id] as Operation
  const refuseWithout = (part: string) => refuse(id, `, and its contract has no example of ${part}`)
  const { resolve, exampleOf } = exampleReader(document)
  const success = successOf(operation)
  if (success === undefined) return () => refuseWithout('a success')
  const [key, { content = {}, headers = {} }] = success
  const types = Object.keys(content)
  const described = (): Node => {
    const { paths } = document as { paths: Node }
    const { responses } = resolve(resolve(paths[operation.url])[operation.method.toLowerCase()])
    return resolve(resolve(responses)[key])
  }
  const bodyOf = (type: string): unknown => {
    const example = fitting(type, exampleOf(resolve(resolve(described().content)[type]))) ?? refuseWithout('its body')
    if (kindOf(type) !== 'events') return example
    const { schema } = content[type] as Media
    return oneEvent(schema !== undefined && describesEvent(schema as Schema, schemas) ? example : { data: example })
  }
  const headersOf = () => Object.entries(headers).flatMap(([name, { required }]) => {
    const value = exampleOf(resolve(resolve(described().headers)[name]))
    if (value === undefined && required) refuseWithout(`its header field ${name}`)
    return value === undefined ? [] : [[name, value]]
  })
  return ({ accept }: { accept?: string }): AnyAnswer => {
    const type = types.find(type => type === accept) ?? types[0]
    const fields = Object.fromEntries(headersOf())
    return {
      status: key === 'default' ? 200 : Number(key.replace('XX', '00')),
      ...Object.keys(fields).length > 0 && { headers: fields },
      ...type !== undefined && { body: bodyOf(type) },
      ...types.length > 1 && { contentType: type }
    }
  }
}

/** The first success, else the first redirection, else the default (OpenAPI 3.1, section 4.8.16). */
function successOf ({ responses }: Operation) {
  const declared = Object.entries(responses)
  return ['2', '3', 'default'].flatMap(start => declared.filter(([key]) => key.startsWith(start)))[0]
}

/** Only JSON and events can be written from any value; a range does not say which type its example has. */
function fitting (type: string, example: unknown): unknown {
  switch (kindOf(type)) {
    case 'json':
    case 'events': return example
    default: return typeof example === 'string' && !type.includes('*') ? example : undefined
  }
}

async function * oneEvent (event: unknown): AsyncGenerator<unknown> {
  yield event
}
