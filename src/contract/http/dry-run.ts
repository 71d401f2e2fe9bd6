// Everything that a service would compile and register at startup, for the generator: a contract that fails here is refused.
import fastify from 'fastify'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { createCompiler, createWriters } from '../schema/index.ts'
import type { Compile } from '../schema/index.ts'
import type { Contract } from '../types.ts'
import { valueReader } from './parameters.ts'
import { routedOperations, routerOptions, toRoute } from './paths.ts'
import type { RoutedOperation } from './paths.ts'

/** A part of the contract by its JSON pointer in the description, and the error that it would cause at startup. */
export interface Failure { pointer: string, error: Error }

/** Checks that a service leaves to the generator; each throws what is wrong. */
export interface Checks { schema: (schema: object) => void, path: (template: string) => void }

export function dryRun (contract: Contract, checks: Checks): Failure[] {
  return steps(contract, checks).flatMap(([pointer, step]) => {
    try {
      step()
      return []
    } catch (error) {
      return [{ pointer, error: error as Error }]
    }
  })
}

type Step = [pointer: string, step: () => unknown]

function steps (contract: Contract, checks: Checks): Step[] {
  const { schemas } = contract
  const checked = (compile: Compile): Compile => schema => {
    checks.schema(schema)
    return compile(schema)
  }
  const request = checked(createCompiler(schemas, 'request'))
  const answer = checked(createCompiler(schemas, 'answer'))
  const write = createWriters(schemas, answer)
  const app = fastify({ routerOptions })
  return [
    ...Object.keys(schemas).map((name): Step => [`#/components/schemas/${name}`, () => request({ $ref: `${name}#` })]),
    ...Object.entries(contract.operations).flatMap(([id, operation]): Step[] => {
      const place = `#/paths/${operation.url.replaceAll('~', '~0').replaceAll('/', '~1')}/${operation.method.toLowerCase()}`
      return [
        [place, () => routedOperations({ ...contract, operations: { [id]: operation } }, {}).forEach(routed => addRoute(app, routed, checks))],
        ...operation.parameters.map((parameter): Step => [`${place}/parameters`, () => valueReader(parameter, schemas, request)]),
        [`${place}/requestBody`, () => operation.body && request(operation.body.schema)],
        ...Object.entries(operation.responses).flatMap(([status, { schema, headers = {} }]): Step[] => [
          [`${place}/responses/${status}`, () => schema && write(schema)],
          ...Object.entries(headers).map(([name, header]): Step => [`${place}/responses/${status}/headers/${name}`, () => answer(header.schema)])
        ])
      ]
    })
  ]
}

/** The path of its server may make a route impossible. The handler is never called. */
function addRoute (app: FastifyInstance, { method, template }: RoutedOperation, checks: Checks): void {
  checks.path(template)
  app.route({ method: method as HTTPMethods, url: toRoute(template), exposeHeadRoute: false, handler: String })
}
