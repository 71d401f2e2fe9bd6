// What the command says of an option that it does not have.
import { didYouMean } from '../message/did-you-mean.ts'

/**
 * Replaces the sentence of Node, which takes the option for a file.
 * @param usage the text of --help, which lists all options
 */
export function describeOption ({ message }: Error, command: string, usage: string): string {
  const [, given = ''] = message.split("'")
  const [ofBoth = [], ofGenerate = []] = usage.split('Options of generate:').map(optionsIn)
  const own = command === 'init' ? ofBoth : [...ofBoth, ...ofGenerate]
  if (ofGenerate.includes(given)) return `${given} is an option of generate, and not of ${command}.`
  const question = didYouMean(given, own) || ' --help lists the options.'
  return `There is no option ${given}.${question}`
}

function optionsIn (text: string): string[] {
  return Array.from(text.matchAll(/^ {2}(--[\w-]+)/gm), ([, name = '']) => name)
}
