// The arguments that generate and init share.
import { statSync } from 'node:fs'
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import type { Leniency } from '../generate/read-contract.ts'

/** The options by which a contract's owner accepts what is refused otherwise. */
const leniencyOptions = {
  'skip-unsupported': { type: 'boolean', default: false },
  'allow-open': { type: 'boolean', default: false }
} as const

/** @throws Error about an unknown option, or a second file */
export function readArguments<Options extends ParseArgsOptionsConfig> (
  args: string[],
  own: Options
) {
  const options: Options & typeof leniencyOptions = { ...own, ...leniencyOptions }
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [contract, surplus] = positionals
  const given: { [Name in keyof typeof leniencyOptions]?: unknown } = values
  if (surplus !== undefined) throw new Error(`Unexpected argument '${surplus}': name one contract.`)
  const leniency: Leniency = {
    skipUnsupported: given['skip-unsupported'] === true,
    allowOpen: given['allow-open'] === true
  }
  return { contract, values, leniency }
}

/** @throws Error unless there is such a file */
export function requireFile (contract: string, command: string): void {
  const stats = statSync(contract, { throwIfNoEntry: false })
  if (stats !== undefined && !stats.isDirectory()) return
  const fault = stats === undefined ? `There is no file ${contract}.` : `${contract} is a folder.`
  const wayOut = `npx fastify-openapi-contract ${command} FILE`
  throw new Error(`${fault} Name the file of the contract: ${wayOut}`)
}

/** The command that generates with these arguments, without those that are at their defaults. */
export function generateCommand (contract: string, leniency: Leniency, out = 'generated'): string {
  const words = ['fastify-openapi-contract generate']
  if (contract !== 'openapi.yaml') words.push(quoted(contract))
  if (out !== 'generated') words.push('--out', quoted(out))
  return [...words, ...flagsOf(leniency)].join(' ')
}

export function flagsOf ({ allowOpen, skipUnsupported }: Leniency): string[] {
  const flags: string[] = []
  if (allowOpen === true) flags.push('--allow-open')
  if (skipUnsupported === true) flags.push('--skip-unsupported')
  return flags
}

/** As shells and scripts of npm take it. */
function quoted (word: string): string {
  return /^[\w./-]+$/.test(word) ? word : JSON.stringify(word)
}
