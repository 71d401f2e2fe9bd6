// Reads the contract: lints and bundles it, and refuses what this service cannot serve, or leaves it out where the
// owner of the contract asks for that. It uses openapi-core, so that every finding has its file, line and JSON pointer.
import { bundle, createConfig, lint } from '@redocly/openapi-core'
import type { NormalizedProblem, RawUniversalConfig } from '@redocly/openapi-core'
import { resolve } from 'node:path'
import type { Contract } from '../src/contract/index.ts'
import type { Description } from './description.ts'
import { toContract } from './emit-operations.ts'
import { ContractError, describe, locate, unreadable } from './findings.ts'
import { withMappings } from './mapped.ts'
import { withNeeded } from './needed.ts'
import { servedPart, withIds } from './served.ts'
import { Skipped } from './skipped.ts'
import { Survey, supported } from './supported.ts'
import { failuresOf } from './uncompilable.ts'
import { unsupported } from './unsupported.ts'
import { isError, isKnownKeyword, warningsOf } from './warnings.ts'

/** What the owner of a contract accepts. */
export interface Leniency {
  /** Leave out operations that cannot be served, instead of refusing the contract. */
  skipUnsupported?: boolean
  /** Serve operations without security to everyone. */
  allowOpen?: boolean
}

export interface ContractFile {
  /** The bundled description, with internal references only. */
  document: Description
  /** Its operations that are served, as the emitters read them. */
  served: Description
  contract: Contract
  /** A line each. */
  warnings: string[]
  /** The files that the description consists of. */
  files: string[]
}

/**
 * Reads an OpenAPI 3.1 description and every file that it refers to.
 * @param file path of the description, YAML or JSON
 * @throws ContractError with all findings at once
 */
export async function readContract (file: string, leniency: Leniency = {}): Promise<ContractFile> {
  try {
    return await read(file, leniency)
  } catch (error) {
    throw error instanceof ContractError ? error : unreadable(file, error as Error)
  }
}

async function read (file: string, { skipUnsupported = false, allowOpen = false }: Leniency): Promise<ContractFile> {
  const survey = new Survey()
  const config = await createConfig(linterConfig(survey, allowOpen))
  const problems = (await lint({ ref: file, config })).filter(problem => !isMapping(problem))
  const errors = problems.filter(problem => isError(problem, survey))
  const refuse = (findings: string[]) => { throw new ContractError(findings) }
  if (errors.length > 0 && !skipUnsupported) refuse(errors.map(describe))

  const { bundle: { parsed, source }, fileDependencies } = await bundle({ ref: file, config })
  // The rule `supported` runs only on OpenAPI 3: this refuses Swagger 2.0.
  if (!String((parsed as Description).openapi).startsWith('3.1.')) {
    refuse([`${locate({ source, pointer: '#/', reportOnKey: false })} Not supported: ${unsupported.version}.`])
  }
  const document = withMappings(parsed as Description)
  const named = withIds(document)
  const skipped = new Skipped(named, survey, source)
  const fatal = errors.filter(problem => !skipped.addUsersOf(problem))
  if (fatal.length > 0) refuse(fatal.map(describe))

  // Compile the operations, without those that have an error already.
  const failures = failuresOf(toContract(servedPart(named, skipped)))
  if (failures.length > 0 && !skipUnsupported) {
    refuse(failures.map(({ pointer, message }) => `${survey.locate(source, pointer)} ${message}`))
  }
  for (const { operations, message } of failures) skipped.add(operations, message)
  const served = servedPart(named, skipped)
  return {
    document: skipped.note(document),
    served,
    contract: { ...withNeeded(toContract(served)), skipped: skipped.list() },
    warnings: warningsOf(problems.filter(problem => !errors.includes(problem) && !isKnownKeyword(problem, survey)), survey),
    files: [resolve(file), ...fileDependencies]
  }
}

/** Rules for what the generator finds out itself. */
const ownMatters = ['operation-operationId', 'operation-operationId-unique', 'security-defined', 'no-empty-servers']

function linterConfig (survey: Survey, allowOpen: boolean): RawUniversalConfig {
  return {
    extends: ['recommended'],
    plugins: [{ id: 'service', rules: { oas3: { supported: supported(survey, allowOpen) } } }],
    rules: { 'service/supported': 'error', ...Object.fromEntries(ownMatters.map(rule => [rule, 'off'])) }
  }
}

/** Whether a finding is about a discriminator mapping; `supported` checks those. */
function isMapping ({ ruleId, location: [place] }: NormalizedProblem): boolean {
  return ruleId === 'no-unresolved-refs' && /\/discriminator\/mapping\//.test(String(place?.pointer))
}
