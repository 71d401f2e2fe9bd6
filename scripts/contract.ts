// Reads the contract: lints and bundles it, and refuses the features that this service cannot serve.
// It uses openapi-core, so that every finding has its file, line and JSON pointer.
import { bundle, createConfig, getLineColLocation, lint } from '@redocly/openapi-core'
import type { LocationObject, NormalizedProblem, Oas3Discriminator, RawUniversalConfig } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { relative, resolve } from 'node:path'
import { dryRun } from '../src/contract/index.ts'
import type { Contract } from '../src/contract/index.ts'
import { referenced, subschemas } from '../src/contract/schema/index.ts'
import type { Schema, Schemas } from '../src/contract/schema/index.ts'
import type { Description } from './description.ts'
import { supported } from './supported.ts'
import { refuseOwnPath, unsupported } from './unsupported.ts'

/** A contract that is refused: a line for each finding, `file:line:column pointer sentence`. */
export class ContractError extends Error {
  readonly findings: string[]
  constructor (findings: string[]) {
    super(findings.join('\n'))
    this.findings = findings
  }
}

export interface ContractFile {
  /** The bundled description, with internal references only. */
  document: Description
  /** The linter's warnings, a line each. */
  warnings: string[]
  /** The files that the description consists of. */
  files: string[]
  /** Puts file, line and column before a JSON pointer. */
  locate: (pointer: string) => string
}

const linterConfig: RawUniversalConfig = {
  extends: ['recommended'],
  plugins: [{ id: 'service', rules: { oas3: { supported } } }],
  rules: {
    'service/supported': 'error',
    // Matters of style are for the authors of a contract.
    'operation-summary': 'warn',
    'no-server-trailing-slash': 'warn',
    'no-path-trailing-slash': 'warn',
    // The rule `supported` requires these where they matter: not in webhooks and callbacks.
    'operation-operationId': 'off',
    'security-defined': 'off',
    'no-empty-servers': 'off'
  }
}

/**
 * Reads an OpenAPI 3.1 description and every file that it refers to.
 * @param file path of the description, YAML or JSON
 * @throws ContractError with all findings at once
 */
export async function readContract (file: string): Promise<ContractFile> {
  const config = await createConfig(linterConfig)
  try {
    const problems = (await lint({ ref: file, config })).filter(problem => !isMapping(problem))
    const errors = problems.filter(problem => problem.severity === 'error')
    if (errors.length > 0) throw new ContractError(errors.map(describe))
    const { bundle: { parsed, source }, fileDependencies } = await bundle({ ref: file, config })
    // The rule `supported` runs only on OpenAPI 3: this refuses Swagger 2.0.
    if (!String((parsed as Description).openapi).startsWith('3.1.')) {
      const place = locate({ source, pointer: '#/', reportOnKey: false })
      throw new ContractError([`${place} Not supported: ${unsupported.version}.`])
    }
    return {
      document: withMappedReferences(parsed as Description),
      warnings: problems.map(describe),
      files: [resolve(file), ...fileDependencies],
      locate: pointer => locate({ source, pointer, reportOnKey: true })
    }
  } catch (error) {
    throw error instanceof ContractError ? error : unreadable(file, error as Error)
  }
}

/** A file that cannot be parsed: the first line of the message ends with the place, the rest is an excerpt. */
function unreadable (file: string, error: Error): ContractError {
  const [message = ''] = error.message.split('\n')
  const [, problem = message, path = file, place] = /^(.*) in "(.*)" \((\d+:\d+)\)$/.exec(message) ?? []
  return new ContractError([place === undefined ? `${file}: ${problem}` : `${relative('', path)}:${place} ${problem}`])
}

/** Whether a finding is about a discriminator mapping; `supported` checks those. */
function isMapping ({ ruleId, location: [place] }: NormalizedProblem): boolean {
  return ruleId === 'no-unresolved-refs' && /\/discriminator\/mapping\//.test(String((place as LocationObject).pointer))
}

/** Replaces names of schemas in discriminator mappings (OpenAPI 3.1, section 4.8.25) by references, for all readers. */
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
 * Compiles every schema as the service will, to refuse a contract that would fail at startup.
 * @throws ContractError with each schema that is not valid JSON Schema 2020-12 and each default that its own schema
 * refuses, at the first of its places
 */
export function refuseUncompilable (contract: Contract, locate: ContractFile['locate']): void {
  const invalid = Object.entries(contract.schemas).flatMap(([name, schema]) => {
    const problem = problemOf(schema, contract.schemas)
    return problem === undefined ? [] : [finding(locate(`#/components/schemas/${name}`), problem)]
  })
  if (invalid.length > 0) throw new ContractError(invalid)
  const failures = dryRun(contract, { schema: refuseInvalid, path: refuseOwnPath })
  const byMessage = Map.groupBy(failures, ({ error }) => error.message)
  const findings = Array.from(byMessage, ([message, [first]]) => finding(locate(String(first?.pointer)), message))
  if (findings.length > 0) throw new ContractError(findings)
}

function problemOf (schema: object, schemas: Schemas): string | undefined {
  try {
    refuseInvalid(schema)
    return containsItself(schema as Schema, schemas) ? `Not supported: ${unsupported.loop}.` : undefined
  } catch (error) {
    return (error as Error).message
  }
}

function finding (place: string, message: string): string {
  return `${place} ${message.startsWith('Not supported: ') ? message : `cannot be compiled: ${message}`}`
}

const metaschema = new Ajv2020()

/** @throws Error when a schema is not one of JSON Schema 2020-12 */
function refuseInvalid (schema: object): void {
  metaschema.validateSchema(schema, true)
}

/** Whether a schema applies itself to the same value again: validation would never end. */
function containsItself (schema: Schema, schemas: Schemas, above: Schema[] = []): boolean {
  if (above.includes(schema)) return true
  const inPlaceApplicators = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']
  const inside = subschemas(schema).flatMap(([keyword, inner]) => inPlaceApplicators.includes(keyword) ? [inner] : [])
  const applied = [referenced(schemas, schema) ?? [], inside].flat()
  return applied.some(inner => containsItself(inner, schemas, [...above, schema]))
}

function describe ({ location: [place], message, ruleId }: NormalizedProblem): string {
  return `${locate(place as LocationObject)} ${message} (${ruleId})`
}

function locate (place: LocationObject): string {
  const { line, col } = getLineColLocation(place).start
  return `${relative('', place.source.absoluteRef)}:${line}:${col} ${place.pointer}`
}
