// The command line of the scripts.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import type { Leniency } from '../src/contract/generate/index.ts'

/** Reads the options. An unknown option ends the process with a message and exit code 2. */
export function readOptions<Options extends ParseArgsOptionsConfig> (options: Options) {
  return readArguments(options, 0).values
}

/** Reads options and at most `most` other arguments. More of them end the process likewise. */
export function readArguments<Options extends ParseArgsOptionsConfig> (
  options: Options,
  most: number
) {
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: most > 0 })
    const surplus = positionals[most]
    if (surplus === undefined) return { values, positionals }
    return exitWith(`Unexpected argument '${surplus}'. This command takes at most ${most}.`)
  } catch (error) {
    return exitWith((error as Error).message)
  }
}

/** The options by which a contract's owner accepts what is refused otherwise. */
export const leniencyOptions = {
  'skip-unsupported': { type: 'boolean', default: false },
  'allow-open': { type: 'boolean', default: false }
} as const

export function leniencyOf (values: Record<keyof typeof leniencyOptions, boolean>): Leniency {
  return { skipUnsupported: values['skip-unsupported'], allowOpen: values['allow-open'] }
}

/** Reads one whole number; anything else ends the process with a message and exit code 2. */
export function parseNumber (option: string, text: string, least = 1): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= least) return number
  return exitWith(`--${option}: ${text} is not a whole number of at least ${least}.`)
}

/** Reads whole numbers separated by commas, at least one. */
export function parseNumbers (option: string, text: string, least = 1): [number, ...number[]] {
  const [first = '', ...others] = text.split(',')
  const numbers = others.map(other => parseNumber(option, other, least))
  return [parseNumber(option, first, least), ...numbers]
}

/** Ends the process with a message and exit code 2. */
export function exitWith (message: string): never {
  console.error(message)
  process.exit(2)
}
