// What every contract must keep: it is refused with findings of known form, or it starts and
// answers its operations.
import { stripTypeScriptTypes } from 'node:module'
import { relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { runInThisContext } from 'node:vm'
import ts from 'typescript'
import { type Leniency, readContract } from '../../../src/contract/generate/index.ts'
import { emitDocument, emitOperations } from '../../../src/contract/generate/emit/emit-contract.ts'
import { emitTypes } from '../../../src/contract/generate/emit/emit-types.ts'
import { ContractError, unreadable } from '../../../src/contract/generate/files/findings.ts'
import { ownPaths } from '../../../src/service/service-paths.ts'
import { callOperations } from '../contracts/operations.ts'
import { unsupported } from '../../../src/contract/generate/lint/unsupported-features.ts'
import { errorRules } from '../../../src/contract/generate/lint/warnings.ts'
import type { Contract } from '../../../src/contract/index.ts'

/**
 * @property violations none where the generator and the service do what they promise
 * @property sources texts by the names of their files
 */
export interface Checked {
  outcome: string
  violations: string[]
  sources?: Record<string, string>
}

export async function checkContract (file: string, leniency: Leniency): Promise<Checked> {
  let read
  let types = ''
  try {
    read = await readContract(file, { ownPaths, ...leniency })
    types = await emitTypes(read.served).catch(error => { throw unreadable(file, error) })
  } catch (error) {
    if (!(error instanceof ContractError)) {
      return { outcome: 'failed', violations: [`no ContractError: ${stackOf(error)}`] }
    }
    const odd = error.findings.filter(finding => !isKnownFinding(finding, file))
    const none = error.findings.length === 0 ? ['refused without a finding'] : []
    return { outcome: 'refused', violations: [...none, ...odd.map(finding => `finding: ${finding}`)] }
  }
  const { document, contract, warnings } = read
  const odd = warnings.filter(warning => !placed.test(warning)).map(warning => `warning: ${warning}`)
  try {
    const constants = emitOperations(contract)
    const sources = { operations: constants, types, document: emitDocument(document) }
    const faults = Object.entries(sources).flatMap(([name, text]) => syntaxFaults(name, text))
    const evaluated = faults.length > 0 ? contract : evaluate(constants)
    const isSame = isDeepStrictEqual(evaluated, JSON.parse(JSON.stringify(contract)))
    const changed = isSame ? [] : ['generated/operations.ts does not hold the contract']
    const { failed } = await callOperations({ ...read, contract: evaluated })
    // A body without any media type has no sample.
    const calls = failed.filter(call => !call.includes(': 415 '))
    return { outcome: 'served', violations: [...odd, ...faults, ...changed, ...calls], sources }
  } catch (error) {
    // Samples of texts as long as a schema may ask for do not fit into memory, and a text in place
    // of a list of examples may end in the middle of a character.
    const isOfSample = /node_modules.openapi-(?:sampler|fetch)/.test(stackOf(error))
    if (isOfSample) return { outcome: 'served', violations: odd }
    return { outcome: 'failed', violations: [...odd, `generated, but does not start: ${stackOf(error)}`] }
  }
}

function stackOf (error: unknown): string {
  return String((error as Error)?.stack ?? error)
}

const placed = /^\S.*?:\d+:\d+ #\/\S*/
const known = [
  'This $ref leads to a schema, not to a ',
  ...Object.values(unsupported).map(feature => `Not supported: ${feature}`),
  ...errorRules.filter(rule => rule !== 'service/supported').map(rule => `(${rule})`),
  'cannot be compiled: ',
  'There is no security scheme ',
  'There is no schema '
]
/** YAML that cannot be parsed has no JSON pointer. */
const yamlFault = /^(?:\S.*)?:\d+:\d+ [^#]/

/**
 * Of the linter for a field called hasOwnProperty, and of openapi-typescript for such a member in
 * an example.
 */
const failuresOfTools = ['node.hasOwnProperty is not a function', 'Cannot convert undefined or null to object']

function isKnownFinding (finding: string, file: string): boolean {
  if (failuresOfTools.some(message => finding.endsWith(`#/ cannot be compiled: ${message}`))) return true
  const unquoted = finding.replace(/"[^"]*"|`[^`]*`/g, '')
  if (/\n\s+at |undefined|is not a function|Cannot read|Maximum call/.test(unquoted)) return false
  const isPlaced = placed.test(finding)
  const isKnown = known.some(text => finding.includes(text))
  return (isPlaced && isKnown) || (finding.startsWith(relative('', file)) && yamlFault.test(finding))
}

function syntaxFaults (name: string, text: string): string[] {
  const compilerOptions = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext }
  const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true, compilerOptions })
  return diagnostics.slice(0, 1).map(({ messageText, start = 0 }) => {
    const message = ts.flattenDiagnosticMessageText(messageText, ' ')
    return `${name}: ${message} near ${text.slice(Math.max(0, start - 60), start + 60)}`
  })
}

/** The constants of generated/operations.ts, as the service imports them. */
function evaluate (source: string): Contract {
  const names = Array.from(source.matchAll(/^export const (\w+) =/gm), ([, name]) => name)
  const script = stripTypeScriptTypes(source.replaceAll(/^export /gm, ''))
  return JSON.parse(JSON.stringify(runInThisContext(`(() => { ${script}; return { ${names.join()} } })()`))) as Contract
}
