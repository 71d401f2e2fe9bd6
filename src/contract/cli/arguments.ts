// The arguments that generate and init share.
import { statSync } from 'node:fs'
import type { ParseArgsOptionsConfig } from 'node:util'
import type { GenerateOptions } from '../generate/generate.ts'
import { parseOptions } from './parse-options.ts'

/** What the owner of a contract accepts, and how types are written. */
export type Choices = Pick<
  GenerateOptions, 'skipUnsupported' | 'allowOpen' | 'int64' | 'types' | 'overlays'
>

const choiceOptions = {
  'skip-unsupported': { type: 'boolean', default: false },
  'allow-open': { type: 'boolean', default: false },
  int64: { type: 'string', default: 'bigint' },
  types: { type: 'string', default: 'openapi-typescript' }
} as const

export const generateOptions = {
  overlay: { type: 'string', multiple: true, default: [] },
  out: { type: 'string', default: 'generated' },
  check: { type: 'boolean', default: false },
  watch: { type: 'boolean', default: false }
} satisfies ParseArgsOptionsConfig

/** @throws Error about an unknown option or value, or a second file */
export function readArguments<Options extends ParseArgsOptionsConfig> (
  args: string[],
  own: Options
) {
  const options: Options & typeof choiceOptions = { ...own, ...choiceOptions }
  const { values, positionals } = parseOptions(
    { args, options, allowPositionals: true }, generateOptions
  )
  const [contract, surplus] = positionals
  const given: { [Name in keyof typeof choiceOptions]?: unknown } = values
  if (surplus !== undefined) throw new Error(`Unexpected argument '${surplus}': name one contract.`)
  const choices: Choices = {
    skipUnsupported: given['skip-unsupported'] === true,
    allowOpen: given['allow-open'] === true,
    int64: oneOf('int64', given.int64, ['bigint', 'number']),
    types: oneOf('types', given.types, ['openapi-typescript', 'built-in'])
  }
  return { contract, values, choices }
}

/**
 * The arguments of init. Without any, those of the script generate of a package.json apply, if it
 * calls this package.
 * @param out the folder of the generated files, unless the script has one
 */
export function readInitArguments (args: string[], out: string, manifest: object = {}) {
  const { scripts } = manifest as { scripts?: { generate?: unknown } }
  const [command, script = ''] = generateScript.exec(String(scripts?.generate)) ?? []
  if (args.length > 0 || command === undefined) return { ...readArguments(args, {}), out }
  const words = script.match(/"[^"]*"|\S+/g) ?? []
  const unquoted = words.map(word => word.replaceAll('"', ''))
  const { contract, choices, values } = readArguments(unquoted, generateOptions)
  const given: Choices = { ...choices, overlays: values.overlay }
  return { contract, choices: given, out: script.includes('--out') ? values.out : out }
}

const generateScript = /^fastify-openapi-contract generate(?: (.*))?$/

function oneOf<Value> (name: string, given: unknown, values: Value[]): Value {
  const value = values.find(known => known === given)
  if (value !== undefined) return value
  throw new Error(`--${name} is ${values.join(' or ')}, and not ${given}.`)
}

/**
 * @param kind what the file is
 * @param usage how to name it
 * @throws Error unless there is such a file
 */
export function requireFile (file: string, kind: 'contract' | 'overlay', usage: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats !== undefined && !stats.isDirectory()) return
  const fault = stats === undefined ? `There is no file ${file}.` : `${file} is a folder.`
  const wayOut = `npx fastify-openapi-contract ${usage} FILE`
  throw new Error(`${fault} Name the file of the ${kind}: ${wayOut}`)
}

/** The command that generates with these arguments, without those that are at their defaults. */
export function generateCommand (
  contract: string,
  { overlays = [], out = 'generated', ...choices }: Choices & Partial<Pick<GenerateOptions, 'out'>>
): string {
  const words = ['fastify-openapi-contract generate']
  if (contract !== 'openapi.yaml') words.push(quoted(contract))
  for (const overlay of overlays) words.push('--overlay', quoted(overlay))
  if (out !== 'generated') words.push('--out', quoted(out))
  return [...words, ...flagsOf(choices)].join(' ')
}

export function flagsOf ({ allowOpen, skipUnsupported, int64, types }: Choices): string[] {
  const flags: string[] = []
  if (allowOpen === true) flags.push('--allow-open')
  if (skipUnsupported === true) flags.push('--skip-unsupported')
  if (int64 === 'number') flags.push('--int64 number')
  if (types === 'built-in') flags.push('--types built-in')
  return flags
}

/** As shells and scripts of npm take it. */
function quoted (word: string): string {
  return /^[\w./-]+$/.test(word) ? word : JSON.stringify(word)
}
