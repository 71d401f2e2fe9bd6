// Reads options, for the command of the package and for the scripts of the repository.
import { parseArgs, type ParseArgsConfig, type ParseArgsOptionsConfig } from 'node:util'
import { didYouMean } from '../message/did-you-mean.ts'

/**
 * As parseArgs() of Node, which takes an unknown option for a file.
 * @param ofGenerate options of generate that the command may lack
 * @throws Error with a sentence
 */
export function parseOptions<Config extends WithOptions> (
  config: Config,
  ofGenerate: object = {}
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw error
    const [, given = ''] = message.split("'")
    throw new Error(describeUnknown(given, namesOf(config.options), namesOf(ofGenerate)))
  }
}

type WithOptions = ParseArgsConfig & { options: ParseArgsOptionsConfig }

function namesOf (options: object): string[] {
  return Object.keys(options).map(name => `--${name}`)
}

function describeUnknown (given: string, own: string[], ofGenerate: string[]): string {
  if (ofGenerate.includes(given)) return `${given} is an option of generate, and not of init.`
  const question = didYouMean(given, own) || ' --help lists the options.'
  return `There is no option ${given}.${question}`
}
