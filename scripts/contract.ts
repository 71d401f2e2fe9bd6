// Reads the contract: lints and bundles it, and refuses what this service cannot serve.
// openapi-core does the reading, so that each finding, ours included, knows its file, line and JSON pointer.
import { bundle, createConfig, getLineColLocation, lint } from '@redocly/openapi-core'
import type { LocationObject, NormalizedProblem, Oas3Discriminator } from '@redocly/openapi-core'
import { relative, resolve } from 'node:path'
import { valueReader } from '../src/contract/parameters.ts'
import type { Contract } from '../src/contract/types.ts'
import { createCompiler } from '../src/contract/validator.ts'
import { createWriters } from '../src/contract/writer.ts'
import type { Description } from './description.ts'
import { supported } from './supported.ts'

/** A contract that was not accepted: one line per finding, each `file:line:column pointer sentence`. */
export class ContractError extends Error {
  readonly findings: string[]
  constructor (findings: string[]) {
    super(findings.join('\n'))
    this.findings = findings
  }
}

/**
 * Reads an OpenAPI 3.1 description and every file that it refers to.
 * @param file path of the description, YAML or JSON
 * @returns the description as one object (references only into itself), the linter's warnings, a line each, and the files
 * @throws ContractError with all findings at once
 */
export async function readContract (file: string): Promise<{ document: Description, warnings: string[], files: string[] }> {
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
    const { bundle: { parsed }, fileDependencies } = await bundle({ ref: file, config })
    return { document: withMappedReferences(parsed as Description), warnings: problems.map(describe), files: [resolve(file), ...fileDependencies] }
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
    if (key !== 'discriminator' || typeof value.propertyName !== 'string' || value.mapping === undefined) return value
    const mapping = Object.entries(value.mapping).map(([tag, target]) => [tag, toReference(target)])
    return { ...value, mapping: Object.fromEntries(mapping) }
  }) as Description
}

/**
 * Compiles every schema as the service will, so that what it could not start with does not get that far.
 * @throws ContractError naming each schema that is not valid JSON Schema 2020-12, and each default that its own schema refuses
 */
export function refuseUncompilable (file: string, contract: Contract): void {
  const findings = new Set<string>()
  const attempt = (place: string, compile: () => unknown) => {
    try {
      return compile()
    } catch (error) {
      return findings.add(`${file} ${place} cannot be compiled: ${(error as Error).message}`)
    }
  }
  attempt('#/components/schemas', () => {
    for (const [place, compile] of compilations(contract)) attempt(place, compile)
  })
  if (findings.size > 0) throw new ContractError([...findings])
}

/** All that is compiled when the service starts, by the name of its place. */
function compilations ({ operations, schemas }: Contract): Array<[place: string, compile: () => unknown]> {
  const request = createCompiler(schemas, 'request')
  const answer = createCompiler(schemas, 'answer')
  const write = createWriters(schemas, answer)
  return [
    ...Object.keys(schemas).map((name): [string, () => unknown] => [`#/components/schemas/${name}`, () => request({ $ref: `${name}#` })]),
    ...Object.entries(operations).flatMap(([id, { parameters, body, responses }]): Array<[string, () => unknown]> => [
      ...parameters.map((parameter): [string, () => unknown] => [`the ${parameter.in} parameter ${parameter.name} of ${id}`, () => valueReader(parameter, schemas, request)]),
      [`the body of ${id}`, () => body && request(body.schema)],
      ...Object.entries(responses).flatMap(([status, { schema, headers = {} }]): Array<[string, () => unknown]> => [
        [`the answer ${status} of ${id}`, () => schema && write(schema)],
        ...Object.entries(headers).map(([name, header]): [string, () => unknown] => [`the header field ${name} of the answer ${status} of ${id}`, () => answer(header.schema)])
      ])
    ])
  ]
}

function describe (problem: NormalizedProblem): string {
  const place = problem.location[0] as LocationObject
  const { line, col } = getLineColLocation(place).start
  return `${relative('', place.source.absoluteRef)}:${line}:${col} ${place.pointer} ${problem.message} (${problem.ruleId})`
}
