// The command line of the scripts. --help prints the comment with which a script begins, and its
// options.
import { readFileSync, statSync } from 'node:fs'
import type { ParseArgsOptionsConfig } from 'node:util'
import { parseOptions } from '../src/contract/cli/parse-options.ts'

/** Reads the options. An unknown option ends the process with a message and exit code 2. */
export function readOptions<Options extends ParseArgsOptionsConfig> (options: Options) {
  return readArguments(options, 0).values
}

/** Reads options and at most `most` other arguments. More of them end the process likewise. */
export function readArguments<Options extends ParseArgsOptionsConfig> (
  options: Options,
  most: number
) {
  if (process.argv.some(argument => argument === '--help' || argument === '-h')) {
    console.log(describeScript(process.argv[1] as string, options))
    process.exit()
  }
  try {
    const { values, positionals } = parseOptions({ options, allowPositionals: true })
    const surplus = positionals[most]
    if (surplus === undefined) return { values, positionals }
    const limit = most === 0 ? 'only options' : `at most ${most}`
    return exitWith(`Unexpected argument '${surplus}'. This command takes ${limit}; see --help.`)
  } catch (error) {
    return exitWith((error as Error).message)
  }
}

function describeScript (file: string, options: ParseArgsOptionsConfig): string {
  const [comment] = /^(?:\/\/.*\n)*/.exec(readFileSync(file, 'utf8')) as RegExpExecArray
  const lines = [comment.replaceAll(/^\/\/ /gm, '')]
  for (const [name, { type }] of Object.entries(options)) {
    lines.push(`  --${name}${type === 'string' ? ' TEXT' : ''}`)
  }
  return lines.join('\n')
}

/** What the owner of a contract changes in it, and accepts of it. */
export const contractOptions = {
  overlay: { type: 'string', multiple: true, default: [] },
  'skip-unsupported': { type: 'boolean', default: false },
  'allow-open': { type: 'boolean', default: false }
} satisfies ParseArgsOptionsConfig

type Values = Record<'skip-unsupported' | 'allow-open', boolean> & { overlay: string[] }

/** The options of the generator, with the command that generates by these overlays. */
export function choicesOf ({ overlay: overlays, ...values }: Values) {
  requireFiles('overlay', overlays)
  const flags = overlays.map(file => ` --overlay ${file}`)
  const command = flags.length === 0 ? 'npm run generate' : `npm run generate --${flags.join('')}`
  const leniency = { skipUnsupported: values['skip-unsupported'], allowOpen: values['allow-open'] }
  return { overlays, command, ...leniency }
}

/** Ends the process if one of these does not exist, or is a folder. */
export function requireFiles (option: string, files: string[]): void {
  const missing = files.find(file => {
    return statSync(file, { throwIfNoEntry: false })?.isDirectory() !== false
  })
  if (missing === undefined) return
  exitWith(`There is no file ${missing}. Name the ${option}: --${option} FILE`)
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
