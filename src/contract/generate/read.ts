// Reads the contract: lints and bundles it, and refuses what this service cannot serve, or leaves it out where the
// owner of the contract asks for that. It uses openapi-core, so that every finding has its file, line and JSON pointer.
import { BaseResolver, bundle, createConfig, lint } from '@redocly/openapi-core'
import type { Document, NormalizedProblem, RawUniversalConfig } from '@redocly/openapi-core'
import { resolve } from 'node:path'
import type { Contract } from '../types.ts'
import type { Description } from './description.ts'
import { toContract } from './emit-contract.ts'
import { ContractError, describe, unreadable } from './findings.ts'
import { loopIn } from './loops.ts'
import { withMappings } from './discriminators.ts'
import { withNeeded, withUsedComponents } from './needed.ts'
import { withPlainNames } from './plain-names.ts'
import { servedPart, withIds } from './normalize.ts'
import { Skipped } from './skip-operations.ts'
import { Survey, supported } from './refuse-unsupported.ts'
import { failuresOf } from './compile.ts'
import { refuseOtherVersions, servedVersion, upgraded } from './versions.ts'
import { errorRules, isError, isKnownKeyword, warningsOf } from './warnings.ts'

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
 * Reads an OpenAPI description and every file that it refers to.
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

async function read (file: string, leniency: Leniency): Promise<ContractFile> {
  const { skipUnsupported = false, allowOpen = false } = leniency
  const resolver = new BaseResolver()
  const root = await resolver.resolveDocument(null, file, true) as Document
  refuseOtherVersions(root)
  // Some rules of style fail on malformed descriptions, which the other rules report.
  const { problems, survey, config } = await inspect(file, resolver, linterConfig, allowOpen)
    .catch(() => inspect(file, resolver, strictConfig, allowOpen))
    .catch(error => { throw loopIn(root) ?? error })
  const errors = problems.filter(problem => isError(problem, survey))
  const refuse = (findings: string[]) => { throw new ContractError(findings) }
  if (errors.length > 0 && !skipUnsupported) refuse(errors.map(describe))
  const warnings = problems.filter(problem => !errors.includes(problem) && !isKnownKeyword(problem, survey))
  try {
    const bundled = await bundle({ ref: file, config, externalRefResolver: resolver })
    const { document, served, contract } = servable(bundled.bundle, errors, survey, skipUnsupported)
    const files = [resolve(file), ...bundled.fileDependencies]
    return { document, served, contract, warnings: warningsOf(warnings, survey, bundled.bundle), files }
  } catch (error) {
    // So malformed that it remains unknown which operations could be served.
    if (errors.length > 0 && !(error instanceof ContractError)) refuse(errors.map(describe))
    throw error
  }
}

/** Lints the description, and surveys it. */
async function inspect (file: string, resolver: BaseResolver, configure: typeof linterConfig, allowOpen: boolean) {
  const survey = new Survey()
  const config = await createConfig(configure(survey, allowOpen))
  const problems = await lint({ ref: file, config, externalRefResolver: resolver })
  return { problems: problems.filter(problem => !isMapping(problem)), survey, config }
}

/** What is served of a description, in which the linter found these errors. */
function servable (
  { parsed, source }: Document,
  errors: NormalizedProblem[],
  survey: Survey,
  skipUnsupported: boolean
): Pick<ContractFile, 'document' | 'served' | 'contract'> {
  const refuse = (findings: string[]) => { throw new ContractError(findings) }
  const { document: plain, formerNames } = withPlainNames(upgraded(parsed as Description))
  const document = withMappings(plain, formerNames)
  const named = withIds(document)
  const skipped = new Skipped(named, survey, source)
  const fatal = errors.filter(problem => !skipped.addUsersOf(problem))
  if (fatal.length > 0) refuse(fatal.map(describe))

  // Compile the operations, without those that have an error already.
  const sound = errors.length === 0 ? (part: Description) => part : withUsedComponents
  const failures = failuresOf(toContract(sound(servedPart(named, skipped))))
  if (failures.length > 0 && !skipUnsupported) {
    refuse(failures.map(({ pointer, message }) => `${survey.locate(source, pointer)} ${message}`))
  }
  for (const { operations, message } of failures) skipped.add(operations, message)
  const served = sound(servedPart(named, skipped))
  return {
    document: skipped.note(document),
    served,
    contract: { ...withNeeded(toContract(served)), skipped: skipped.list() }
  }
}

/** Rules for what the generator finds out itself. */
const ownMatters = ['operation-operationId', 'operation-operationId-unique', 'security-defined', 'no-empty-servers']

function linterConfig (survey: Survey, allowOpen: boolean): RawUniversalConfig {
  return {
    extends: ['recommended'],
    plugins: [{ id: 'service', rules: { oas3: { supported: supported(survey, allowOpen), version: servedVersion } } }],
    rules: {
      'service/supported': 'error',
      'service/version': 'error',
      ...Object.fromEntries(ownMatters.map(rule => [rule, 'off']))
    }
  }
}

/** Without rules of style. */
function strictConfig (survey: Survey, allowOpen: boolean): RawUniversalConfig {
  const { plugins = [] } = linterConfig(survey, allowOpen)
  return { plugins, rules: Object.fromEntries(errorRules.map(rule => [rule, 'error'])) }
}

/** Whether a finding is about a discriminator mapping; `supported` checks those. */
function isMapping ({ ruleId, location: [place] }: NormalizedProblem): boolean {
  return ruleId === 'no-unresolved-refs' && /\/discriminator\/mapping\//.test(String(place?.pointer))
}
