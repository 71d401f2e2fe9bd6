// The command line of the scripts.
import { parseArgs } from 'node:util'
import type { ParseArgsOptionsConfig } from 'node:util'

/** The values of the options that a command line may have; any other ends the process with a sentence and 2. */
export function readOptions<Options extends ParseArgsOptionsConfig> (options: Options) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return refuse((error as Error).message)
  }
}

/** Whole numbers from `least` on, separated by commas; anything else ends the process with a sentence and 2. */
export function toNumbers (option: string, text: string, least = 1): [number, ...number[]] {
  const numbers = text.split(',').map(Number)
  return numbers.every(number => Number.isInteger(number) && number >= least) ? numbers as [number, ...number[]] : refuse(`--${option} takes whole numbers from ${least} on, not ${text}`)
}

/** Ends the process with a sentence and 2. */
export function refuse (sentence: string): never {
  console.error(sentence)
  process.exit(2)
}
