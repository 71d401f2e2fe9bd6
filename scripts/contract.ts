// Reads the contract: lints and bundles it, and refuses what this service cannot serve.
// openapi-core does the reading, so that each finding, ours included, knows its file, line and JSON pointer.
import { bundle, createConfig, getLineColLocation, lint } from '@redocly/openapi-core'
import type { LocationObject, NormalizedProblem, Oas3Discriminator } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fastify from 'fastify'
import type { FastifyInstance, HTTPMethods } from 'fastify'
import { relative, resolve } from 'node:path'
import { valueReader } from '../src/contract/http/parameters.ts'
import { routed, routerOptions, toRoute } from '../src/contract/http/paths.ts'
import { refersTo, subschemas } from '../src/contract/schema/schemas.ts'
import type { Schema, Schemas } from '../src/contract/schema/schemas.ts'
import type { Contract, Operation } from '../src/contract/types.ts'
import { createCompiler } from '../src/contract/schema/validator.ts'
import type { Compile } from '../src/contract/schema/validator.ts'
import { createWriters } from '../src/contract/schema/writer.ts'
import type { Description } from './description.ts'
import { ownPaths, supported, unsupported } from './supported.ts'

/** A contract that was not accepted: one line per finding, each `file:line:column pointer sentence`. */
export class ContractError extends Error {
  readonly findings: string[]
  constructor (findings: string[]) {
    super(findings.join('\n'))
    this.findings = findings
  }
}

export interface ContractFile {
  /** The description as one object, with references only into itself. */
  document: Description
  /** What the linter only warns of, a line each. */
  warnings: string[]
  /** The files that the description consists of. */
  files: string[]
  /** A JSON pointer with its file, line and column before it. */
  locate: (pointer: string) => string
}

/**
 * Reads an OpenAPI 3.1 description and every file that it refers to.
 * @param file path of the description, YAML or JSON
 * @throws ContractError with all findings at once
 */
export async function readContract (file: string): Promise<ContractFile> {
  const config = await createConfig({
    extends: ['recommended'],
    plugins: [{ id: 'service', rules: { oas3: { supported } } }],
    rules: {
      'service/supported': 'error',
      // Style, which is for the authors of a contract to choose.
      'operation-summary': 'warn',
      'no-server-trailing-slash': 'warn',
      'no-path-trailing-slash': 'warn',
      // The rule `supported` asks for these where they matter: not in webhooks and callbacks.
      'operation-operationId': 'off',
      'security-defined': 'off',
      'no-empty-servers': 'off'
    }
  })
  try {
    const problems = (await lint({ ref: file, config })).filter(problem => !isMapping(problem))
    const errors = problems.filter(problem => problem.severity === 'error')
    if (errors.length > 0) throw new ContractError(errors.map(describe))
    const { bundle: { parsed, source }, fileDependencies } = await bundle({ ref: file, config })
    // Rules for other versions are others, and ours were not asked.
    if (!String((parsed as Description).openapi).startsWith('3.1.')) throw new ContractError([`${locate({ source, pointer: '#/', reportOnKey: false })} Not supported: ${unsupported.version}.`])
    return {
      document: withMappedReferences(parsed as Description),
      warnings: problems.map(describe),
      files: [resolve(file), ...fileDependencies],
      locate: pointer => locate({ source, pointer, reportOnKey: true })
    }
  } catch (error) {
    if (error instanceof ContractError) throw error
    // What cannot be parsed at all is thrown, with the place at the end of the first line; the rest is an excerpt.
    const [message = ''] = (error as Error).message.split('\n')
    const [, problem = message, path = file, place] = /^(.*) in "(.*)" \((\d+:\d+)\)$/.exec(message) ?? []
    throw new ContractError([place === undefined ? `${file}: ${problem}` : `${relative('', path)}:${place} ${problem}`])
  }
}

/** The rule `supported` looks at the mappings of discriminators. */
function isMapping ({ ruleId, location: [place] }: NormalizedProblem): boolean {
  return ruleId === 'no-unresolved-refs' && /\/discriminator\/mapping\//.test(String((place as LocationObject).pointer))
}

/** Where a discriminator maps to the name of a schema, it maps to the reference (OpenAPI 3.1, section 4.8.25): one spelling for all readers. */
function withMappedReferences (document: Description): Description {
  const names = Object.keys(document.components?.schemas ?? {})
  const toReference = (target: string) => names.includes(target) ? `#/components/schemas/${target}` : target
  return JSON.parse(JSON.stringify(document), (key, value: Partial<Oas3Discriminator>) => {
    if (key !== 'discriminator' || typeof value?.propertyName !== 'string' || value.mapping === undefined) return value
    const mapping = Object.entries(value.mapping).map(([tag, target]) => [tag, toReference(target)])
    return { ...value, mapping: Object.fromEntries(mapping) }
  }) as Description
}

/**
 * Compiles every schema as the service will, so that what it could not start with does not get that far.
 * @throws ContractError naming each schema that is not valid JSON Schema 2020-12, and each default that its own schema
 * refuses; one that is part of others is named once, at the first place
 */
export function refuseUncompilable (contract: Contract, locate: ContractFile['locate']): void {
  const failures = (compilations: Compilation[]) => compilations.flatMap(([pointer, compile]) => {
    try {
      compile()
      return []
    } catch (error) {
      const { message } = error as Error
      const said = message.startsWith('Not supported: ') ? message : `cannot be compiled: ${message}`
      return [{ message, finding: `${locate(pointer)} ${said}` }]
    }
  })
  const invalid = failures(Object.entries(contract.schemas).map(([name, schema]) => [`#/components/schemas/${name}`, () => {
    refuseInvalid(schema)
    if (containsItself(schema as Schema, contract.schemas)) throw new Error(`Not supported: ${unsupported.loop}.`)
  }]))
  if (invalid.length > 0) throw new ContractError(invalid.map(({ finding }) => finding))
  const first = new Map(failures(compilations(contract)).reverse().map(({ message, finding }) => [message, finding]))
  if (first.size > 0) throw new ContractError([...first.values()])
}

type Compilation = [pointer: string, compile: () => unknown]

/** All that is compiled when the service starts, by the place of it in the description. */
function compilations (contract: Contract): Compilation[] {
  const { operations, schemas } = contract
  const request = refusingInvalid(createCompiler(schemas, 'request'))
  const answer = refusingInvalid(createCompiler(schemas, 'answer'))
  const write = createWriters(schemas, answer)
  const app = fastify({ routerOptions })
  return [
    ...Object.keys(schemas).map((name): Compilation => [`#/components/schemas/${name}`, () => request({ $ref: `${name}#` })]),
    ...Object.entries(operations).flatMap(([id, { url, method, parameters, body, responses }]): Compilation[] => {
      const place = `#/paths/${url.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}`
      return [
        [place, () => tryRoute(app, contract, id)],
        ...parameters.map((parameter): Compilation => [`${place}/parameters`, () => valueReader(parameter, schemas, request)]),
        [`${place}/requestBody`, () => body && request(body.schema)],
        ...Object.entries(responses).flatMap(([status, { schema, headers = {} }]): Compilation[] => [
          [`${place}/responses/${status}`, () => schema && write(schema)],
          ...Object.entries(headers).map(([name, header]): Compilation => [`${place}/responses/${status}/headers/${name}`, () => answer(header.schema)])
        ])
      ]
    })
  ]
}

const metaschema = new Ajv2020()

/** @throws Error when a schema is not one of JSON Schema 2020-12 */
function refuseInvalid (schema: object): void {
  metaschema.validateSchema(schema, true)
}

/** The service itself does without: what validates schemas is large, and a start that compiles it is slow. */
function refusingInvalid (compile: Compile): Compile {
  return schema => {
    refuseInvalid(schema)
    return compile(schema)
  }
}

/** Adds the route of an operation, as the service will; its server's path may bring it where it cannot be. */
function tryRoute (app: FastifyInstance, contract: Contract, id: string): void {
  const operations = routed({ ...contract, operations: { [id]: contract.operations[id] as Operation } }, {})
  for (const { template, method } of operations) {
    if (ownPaths.test(template)) throw new Error(`Not supported: ${unsupported.ownPath} (${template}).`)
    // The handler is never called: nobody can reach this application.
    app.route({ method: method as HTTPMethods, url: toRoute(template), exposeHeadRoute: false, handler: String })
  }
}

/** Whether checking a value by a schema would check the same value by that schema again, and so for ever. */
function containsItself (schema: Schema, schemas: Schemas, above: Schema[] = []): boolean {
  if (above.includes(schema)) return true
  const atOnce = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']
  const inside = subschemas(schema).filter(([keyword]) => atOnce.includes(keyword)).map(([, inner]) => inner)
  return [refersTo(schemas, schema) ?? [], inside].flat().some(inner => containsItself(inner, schemas, [...above, schema]))
}

function describe ({ location: [place], message, ruleId }: NormalizedProblem): string {
  return `${locate(place as LocationObject)} ${message} (${ruleId})`
}

function locate (place: LocationObject): string {
  const { line, col } = getLineColLocation(place).start
  return `${relative('', place.source.absoluteRef)}:${line}:${col} ${place.pointer}`
}
