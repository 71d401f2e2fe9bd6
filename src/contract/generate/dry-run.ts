// Runs the startup work without listening, so that the generator refuses contracts that fail.
import fastify from 'fastify'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { createCompiler, createWriters, escapedKey } from '../schema/index.ts'
import type { Compile } from '../schema/index.ts'
import type { Content, Contract, Operation, Parameter, Response } from '../types.ts'
import { valueReader } from '../parameters/parameters.ts'
import { routedOperations, routerOptions, toRoute } from '../message/paths.ts'
import { noTexts } from '../message/request-texts.ts'

/** A startup error, the JSON pointer of its cause and the id of its operation. */
export interface Failure { pointer: string, operation?: string, error: Error }

/** Checks that only the generator makes; each throws an Error that describes the problem. */
export interface Checks { schema: (schema: object) => void, path: (template: string) => void }

export function dryRun (contract: Contract, checks: Checks): Failure[] {
  return steps(contract, checks).flatMap(([pointer, step, operation]) => {
    try {
      step()
      return []
    } catch (error) {
      return [{ pointer, error: error as Error, ...operation !== undefined && { operation } }]
    }
  })
}

type Step = [pointer: string, step: () => unknown, operation?: string]

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

  const ofContent = (place: string, compile: (schema: object) => unknown, content: Content = {}) => {
    return Object.values(content).map(({ schema = {} }): Step => [place, () => compile(schema)])
  }
  const ofResponse = (place: string, { content, headers = {} }: Response): Step[] => [
    ...ofContent(place, write, content),
    ...Object.entries(headers).map(([name, header]): Step => [`${place}/headers/${name}`, () => answer(header.schema)])
  ]
  const readDefault = (parameter: Parameter) => {
    refuseRounded(parameter)
    const read = valueReader({ ...parameter, required: false }, schemas, request)
    try {
      read(noTexts)
    } catch (error) {
      throw new Error(`the default breaks its schema. ${(error as Error).message}`, { cause: error })
    }
  }
  const ofOperation = ([id, operation]: [string, Operation]): Step[] => {
    const { url, method, parameters, body, responses } = operation
    const place = `#/paths/${escapedKey(url)}/${method.toLowerCase()}`
    return [
      [place, () => addRoutes(app, { ...contract, operations: { [id]: operation } }, checks)],
      ...parameters.map((parameter): Step => [`${place}/parameters`, () => readDefault(parameter)]),
      ...ofContent(`${place}/requestBody`, request, body?.content),
      ...Object.entries(responses).flatMap(([key, response]) => ofResponse(`${place}/responses/${key}`, response))
    ]
  }
  return [
    ...Object.keys(schemas).map((name): Step => [`#/components/schemas/${name}`, () => request({ $ref: `${name}#` })]),
    ...Object.entries(contract.operations).flatMap(entry => {
      return ofOperation(entry).map(([pointer, step]): Step => [pointer, step, entry[0]])
    })
  ]
}

/** Registers the routes: a server path may make one invalid. */
function addRoutes (app: FastifyInstance, contract: Contract, checks: Checks): void {
  for (const { method, url, template } of routedOperations(contract, {})) {
    // The service has paths of its own at the root and below the path of the server.
    for (const path of [template, decodeURI(url)]) checks.path(path)
    app.route({ method: method as HTTPMethods, url: toRoute(template), exposeHeadRoute: false, handler: String })
  }
}

/** The parser of YAML or JSON has already rounded such an integer. */
function refuseRounded ({ name, default: value }: Parameter): void {
  const rounded = [value].flat().find(item => Number.isInteger(item) && !Number.isSafeInteger(item))
  if (rounded === undefined) return
  throw new Error(`the default of "${name}" is beyond 2^53, where a contract's numbers are rounded`)
}
