// Runs the startup work of the service without listening, to find what would fail: every schema of
// the operations is compiled, every default read and every route registered.
import fastify, { type HTTPMethods } from 'fastify'
import { addMethods } from '../message/methods.ts'
import { noTexts } from '../message/request-texts.ts'
import { valueReader } from '../parameters/parameters.ts'
import { routed, routerOptions, toRoute } from '../message/paths.ts'
import { type Compile, createCompiler, createTrialCompiler } from '../schema/index.ts'
import type { Contract, Operation, Parameter } from '../types/contract.ts'
import { operationPointer } from './description/description.ts'
import { pruneContract, schemasOf } from './description/prune-components.ts'
import type { TypesEmitter } from './read-options.ts'
import { schemaFault } from './schema-check.ts'
import { throwOwnPath, unsupported } from './lint/unsupported-features.ts'

/** What the service cannot start with, its place, and the ids of the operations that need it. */
interface Failure { pointer: string, message: string, operations: string[] }

/** Finds each invalid component schema, and each other failure at the first of its places. */
export function findFailures (
  contract: Contract,
  ownPaths: readonly string[],
  types: TypesEmitter | undefined
): Failure[] {
  const findFault: FindFault = schema => schemaFault(schema, contract.schemas, types)
  const invalid = findInvalidSchemas(contract, findFault)
  const others = new Map<string, Failure>()
  dryRun(pruneContract(contract), ownPaths, findFault, (pointer, fault, operation) => {
    const message = toMessage(fault)
    // What refers to an invalid schema fails like it.
    const isKnown = invalid.some(known => known.message === message && (
      operation === undefined ? known.pointer === pointer : known.operations.includes(operation)
    ))
    if (isKnown) return
    const failure = others.get(message) ?? { pointer, message, operations: [] }
    others.set(message, failure)
    if (operation !== undefined) failure.operations.push(operation)
  })
  return [...invalid, ...others.values()]
}

type FindFault = (schema: object) => string | undefined

function findInvalidSchemas ({ operations, schemas }: Contract, findFault: FindFault): Failure[] {
  const failures: Failure[] = []
  for (const [name, schema] of Object.entries(schemas)) {
    const fault = findFault(schema)
    if (fault === undefined) continue
    const users = Object.keys(operations).filter(id => {
      return schemasOf([operations[id] as Operation], schemas, true).has(name)
    })
    const pointer = `#/components/schemas/${name}`
    failures.push({ pointer, message: toMessage(fault), operations: users })
  }
  return failures
}

function toMessage (fault: string): string {
  if (fault === 'Maximum call stack size exceeded') {
    return 'cannot be compiled: it has too many members, or is nested too deeply'
  }
  return fault.startsWith('Not supported: ') ? fault : `cannot be compiled: ${fault}`
}

/** @param onFault gets the id of the operation that needs the step, unless it is of a component */
function dryRun (
  contract: Contract,
  ownPaths: readonly string[],
  findFault: FindFault,
  onFault: (pointer: string, fault: string, operation?: string) => void
): void {
  const { schemas } = contract
  const compile = createTrialCompiler(schemas)
  const tryOut = (schema: object) => {
    const fault = findFault(schema)
    if (fault !== undefined) throw new Error(fault)
    compile(schema)
  }
  const request = createCompiler(schemas, 'request')
  const app = fastify({ routerOptions })
  const operations = Object.values(contract.operations)
  addMethods(app, operations)
  const attempt = (pointer: string, step: () => unknown, operation?: string) => {
    try {
      step()
    } catch (error) {
      onFault(pointer, (error as Error).message, operation)
    }
  }

  for (const name of Object.keys(schemas)) {
    attempt(`#/components/schemas/${name}`, () => tryOut({ $ref: `${name}#` }))
  }
  for (const [id, operation] of Object.entries(contract.operations)) {
    const { url, method, parameters, body, responses } = operation
    const place = operationPointer(url, method)
    attempt(place, () => {
      const { template } = routed(operation, contract.server, {})
      // The service answers its own paths at the root and below the path of the server.
      for (const path of [template, decodeURI(url)]) throwOwnPath(path, ownPaths)
      const route = { method: method as HTTPMethods, url: toRoute(template) }
      if (app.hasRoute(route)) {
        const other = operations.find(known => {
          return known.method === method && withoutNames(known.url) === withoutNames(url)
        })
        throw new Error(`Not supported: ${unsupported.samePath} (${other?.url} and ${url}).`)
      }
      app.route({ ...route, exposeHeadRoute: false, handler: String })
    }, id)
    for (const parameter of parameters) {
      attempt(`${place}/parameters`, () => {
        tryOut(parameter.schema)
        readDefault(parameter, contract, request)
      }, id)
    }
    for (const { schema = {} } of Object.values(body?.content ?? {})) {
      attempt(`${place}/requestBody`, () => tryOut(schema), id)
    }
    for (const [key, { content = {}, headers = {} }] of Object.entries(responses)) {
      const response = `${place}/responses/${key}`
      for (const { schema = {} } of Object.values(content)) {
        attempt(response, () => tryOut(schema), id)
      }
      for (const [name, { schema }] of Object.entries(headers)) {
        attempt(`${response}/headers/${name}`, () => tryOut(schema), id)
      }
    }
  }
}

/** Paths with the same text are one to the router. */
function withoutNames (path: string): string {
  return decodeURI(path.replaceAll(/\{[^{}]*\}/g, '{}'))
}

function readDefault (parameter: Parameter, { schemas }: Contract, request: Compile): void {
  const { name, default: value } = parameter
  // The parser of YAML or JSON has already rounded such an integer.
  const isRounded = (item: unknown) => Number.isInteger(item) && !Number.isSafeInteger(item)
  if ([value].flat().some(isRounded)) {
    const rounding = "is beyond 2^53, where a contract's numbers are rounded"
    throw new Error(`the default of "${name}" ${rounding}`)
  }
  const read = valueReader({ ...parameter, required: false }, schemas, request)
  try {
    read(noTexts)
  } catch (error) {
    const message = `the default breaks its schema. ${(error as Error).message}`
    throw new Error(message, { cause: error })
  }
}
