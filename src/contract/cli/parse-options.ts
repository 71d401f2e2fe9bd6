// Reads options, for the commands of the package and of the repository.
import { parseArgs, type ParseArgsConfig, type ParseArgsOptionsConfig } from 'node:util'
import { didYouMean } from '../message/did-you-mean.ts'

/**
 * As parseArgs() of Node, with messages of our own: without a value, which may be a password.
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
    // In quotes it has the option as it was given, or as in '--out <value>' and '-h, --help'.
    const [, given = ''] = message.split("'")
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
      throw new Error(describeUnknown(given, namesOf(config.options), namesOf(ofGenerate)))
    }
    const name = given.replace(/^.*?(--[\w-]+).*$/, '$1')
    const needsValue = config.options[name.slice(2)]?.type === 'string'
    const fault = needsValue ? `needs a value: ${name}=VALUE` : 'takes no value'
    throw new Error(`${name} ${fault}.`)
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
