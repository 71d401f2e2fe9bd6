// Reads the contract: lints and bundles it, and refuses what this service cannot serve, or leaves
// it out where the owner of the contract asks for that. openapi-core gives every finding its file,
// line and JSON pointer.
import {
  type BaseResolver, bundle, createConfig, type Document, lint, type NormalizedProblem,
  type Oas3Decorator, type RawUniversalConfig
} from '@redocly/openapi-core'
import { extname, relative, resolve } from 'node:path'
import { isSchemaObject } from '../schema/index.ts'
import type { Contract } from '../types/contract.ts'
import { ContractFiles } from './files/contract-files.ts'
import type { Description } from './description/description.ts'
import { withMappings } from './description/discriminators.ts'
import { findFailures } from './dry-run.ts'
import { toContract } from './emit/emit-contract.ts'
import { ContractError, describe, placeOf, unreadable } from './files/findings.ts'
import { withoutFragments } from './files/fragment-paths.ts'
import { findLoops } from './lint/reference-loop.ts'
import { servedPart, withIds } from './description/normalize.ts'
import { withPlainNames } from './description/schema-names.ts'
import { applyOverlays } from './files/overlay.ts'
import { pruneContract, pruneDescription } from './description/prune-components.ts'
import type { ReadOptions } from './read-options.ts'
import { unsupportedRule } from './lint/refuse-unsupported.ts'
import { withSafeIntegers } from './description/safe-integers.ts'
import { SkippedOperations } from './skip-operations.ts'
import { placeAt, Survey } from './lint/survey.ts'
import {
  newIn32Rule, throwOtherVersion, toOpenApi31, withServedForms
} from './lint/openapi-version.ts'
import { errorRules, isError, warningsOf } from './lint/warnings.ts'

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
export async function readContract (
  file: string,
  options: ReadOptions = {}
): Promise<ContractFile> {
  try {
    return await read(file, options)
  } catch (error) {
    throw error instanceof ContractError ? error : unreadable(file, error as Error)
  }
}

async function read (file: string, options: ReadOptions): Promise<ContractFile> {
  const resolver = new ContractFiles()
  const contract = await resolver.resolveDocument(null, file, true) as Document
  const { allowOpen = false, overlays = [] } = options
  const overlaid = await applyOverlays(contract, overlays, resolver)
  throwOtherVersion(overlaid.document)
  const { document: root, notices, differences } = withoutFragments(overlaid.document)
  resolver.cache.set(resolve(file), Promise.resolve(root))
  const inspectBy = (styles: RawUniversalConfig) => {
    return inspect(file, resolver, new Survey(differences), allowOpen, styles)
  }
  // Some rules of style fail on malformed descriptions, which the other rules report.
  const inspection = await inspectBy(styleRules)
    .catch(() => inspectBy({}))
    .catch(error => { throw findLoops(root) ?? error })
  const { config, survey, errors, warnings } = inspection
  if (errors.length > 0 && options.skipUnsupported !== true) throwFindings(errors)
  try {
    const bundled = await bundle({ ref: file, config, externalRefResolver: resolver })
    return {
      ...selectServed(bundled.bundle, inspection, options),
      warnings: [
        ...resolver.warnings, ...overlaid.warnings, ...notices,
        ...warningsOf(warnings, survey, bundled.bundle)
      ],
      files: [resolve(file), ...bundled.fileDependencies]
    }
  } catch (error) {
    // So malformed that it remains unknown which operations could be served.
    if (errors.length > 0 && !(error instanceof ContractError)) throwFindings(errors)
    throw error
  }
}

function throwFindings (problems: NormalizedProblem[]): never {
  throw new ContractError(problems.map(describe))
}

/** Lints the description, and surveys it. */
async function inspect (
  file: string,
  resolver: BaseResolver,
  survey: Survey,
  allowOpen: boolean,
  styles: RawUniversalConfig
) {
  const rules = { supported: unsupportedRule(survey, allowOpen), version: newIn32Rule }
  const config = await createConfig({
    ...styles,
    plugins: [{
      id: 'service',
      rules: { oas3: rules },
      decorators: { oas3: { withoutIds } },
      typeExtension: { oas3: withServedForms }
    }],
    decorators: { 'service/withoutIds': 'on' },
    rules: { ...Object.fromEntries(errorRules.map(rule => [rule, 'error'])), ...styles.rules }
  })
  const errors: NormalizedProblem[] = []
  const warnings: NormalizedProblem[] = []
  for (const found of await lint({ ref: file, config, externalRefResolver: resolver })) {
    // Each reference to the file repeats it.
    const [, parseError] = /^Failed to parse: ([^]*)$/.exec(found.message) ?? []
    if (parseError !== undefined) throw unreadable(file, new Error(parseError))
    const problem = withTarget(found, survey)
    const isUntrue = [isAboutMapping, isBooleanSchema, isMisread].some(is => is(problem, survey))
    if (isUntrue) continue
    if (isError(problem)) errors.push(problem)
    else warnings.push(problem)
  }
  return { config, survey, errors, warnings }
}

/** Bundling resolves references; in the bundle an $id would change their meaning. */
const withoutIds: Oas3Decorator = () => ({
  Schema (schema) {
    // A schema may be null in a contract that leaves out its operations.
    if (isSchemaObject(schema)) delete (schema as { $id?: unknown }).$id
  }
})

/** The linter does not say what it cannot resolve, or says it in the words of the system. */
function withTarget (problem: NormalizedProblem, { missing }: Survey): NormalizedProblem {
  const { groups } = /^(?<start>Can't resolve \$ref)(?:: ENOENT.*'(?<file>.*)')?$/.exec(
    problem.message
  ) ?? {}
  if (groups === undefined) return problem
  const { start, file } = groups
  const target = missing.get(placeAt(placeOf(problem)))
  if (file === undefined) return { ...problem, message: `${start}: ${target}` }
  const hint = extname(file) === '' ? ' Within a file it begins with #/components/.' : ''
  return { ...problem, message: `${start}: there is no file ${relative('', file)}.${hint}` }
}

/**
 * Without the rules for what the generator finds out itself, and those that compile a schema for
 * its examples or compare all branches of a union: they take half of the linter's time.
 */
const styleRules: RawUniversalConfig = {
  extends: ['recommended'],
  rules: {
    'no-invalid-media-type-examples': 'off',
    'no-invalid-parameter-examples': 'off',
    'no-invalid-schema-examples': 'off',
    'no-illogical-composition-keywords': 'off',
    'nullable-type-sibling': 'off',
    'operation-operationId': 'off',
    'operation-operationId-unique': 'off',
    'security-defined': 'off',
    'no-empty-servers': 'off'
  }
}

/** Whether a finding is about a discriminator mapping; our own rule checks those. */
function isAboutMapping (problem: NormalizedProblem): boolean {
  const isReference = problem.ruleId === 'no-unresolved-refs'
  return isReference && /\/discriminator\/mapping\//.test(String(placeOf(problem).pointer))
}

/**
 * Whether a finding is about a boolean schema: true takes every value, false none (JSON Schema
 * 2020-12, core, section 4.3.2). The linter knows them in some places only, OpenAPI 3.0 in one.
 */
function isBooleanSchema ({ message }: NormalizedProblem, { version }: Survey): boolean {
  return version !== 'oas3_0' && /^Expected type `Schema` .* but got `boolean`$/.test(message)
}

/** Whether a finding is about a schema that was read as a response or the like. */
function isMisread (problem: NormalizedProblem, { misread }: Survey): boolean {
  if (problem.ruleId !== 'struct' || misread.size === 0) return false
  const place = placeAt(placeOf(problem))
  return misread.values().some(schema => place === schema || place.startsWith(`${schema}/`))
}

/** What is served of a description, in which the linter found these errors. */
function selectServed (
  { parsed, source }: Document,
  { survey, errors }: Awaited<ReturnType<typeof inspect>>,
  { skipUnsupported = false, ownPaths = [], int64 = 'bigint', types }: ReadOptions
): Pick<ContractFile, 'document' | 'served' | 'contract'> {
  const { document: plain, formerNames } = withPlainNames(toOpenApi31(parsed as Description))
  const document = withMappings(plain, formerNames)
  const named = withIds(document)
  const skipped = new SkippedOperations(named, survey, source, ownPaths)
  // The file of an operation may take the place of the info object.
  const isTitled = typeof document.info?.title === 'string'
  const fatal = errors.filter(problem => !skipped.addUsersOf(problem) || !isTitled)
  if (fatal.length > 0) throwFindings(fatal)

  // What is unsupported may be in components that no other operation uses.
  const select = (faults: unknown[]) => {
    const part = servedPart(named, skipped)
    const served = int64 === 'number' ? withSafeIntegers(part) : part
    return faults.length === 0 ? served : pruneDescription(served)
  }
  const tried = select(errors)
  const whole = toContract(tried)
  const failures = findFailures(whole, ownPaths, types)
  if (failures.length > 0 && !skipUnsupported) {
    throw new ContractError(failures.map(({ pointer, message }) => {
      return `${survey.locate(source, pointer, message)} ${message}`
    }))
  }
  for (const { operations, message, pointer } of failures) {
    skipped.add(operations, message)
    skipped.addWebhooksOf(source.absoluteRef + pointer)
  }
  const served = failures.length === 0 ? tried : select([...errors, ...failures])
  const contract = pruneContract(served === tried ? whole : toContract(served))
  const list = skipped.list()
  return { document: skipped.note(document), served, contract: { ...contract, skipped: list } }
}
