// Reads .env line by line, and refuses what Node's parser would skip or misread without a word:
// after a blank behind `NAME=`, or a quote that is not closed, it takes the next lines for the
// value.
import { isUtf8 } from 'node:buffer'
import { lstatSync, readFileSync, statSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describeMode } from '../private-files.ts'
import { ConfigError } from './config.ts'

const path = '.env'
const blanks = '[ \\t]*'
const quoted = `(["'\`])(?:(?!\\1).)*\\1${blanks}(?:#.*)?`
const unquoted = '[^\\s"\'`#][^#]*?(?:[ \\t]#.*)?'
const value = `(?:${blanks}(?:${quoted}|${unquoted}|#.*))?`
const line = new RegExp(`^${blanks}(?:#.*|(?:export +)?[\\w.-]+${blanks}=${value})?$`)
const forms = 'NAME=value nor NAME="a value with blanks or #"'

/** A variable with a token or a password. */
const secret = /^(?:ACCESS_TOKENS|PGPASSWORD)=.|^DATABASE_URL=[^/]*\/\/[^@]*:.*@/s

/**
 * Sets the variables of .env, if there is one, that are not set yet or empty.
 * @returns their names, and a sentence if every user of the machine may read its secrets
 * @throws ConfigError when it cannot be read, or with each line that is neither NAME=value nor a
 * comment, or that sets a variable again
 */
export function loadEnvFile (): Record<'names' | 'warnings', string[]> {
  if (!isThere()) return { names: [], warnings: [] }
  const bytes = read()
  if (!isUtf8(bytes) || bytes.includes(0)) throw unreadable('it is not UTF-8')
  // Some editors write a byte order mark, which parseEnv() takes for a part of the first name.
  const text = bytes.toString().replace(/^\ufeff/, '')
  const variables = new Map<string, string>()
  const faults: string[] = []
  for (const [index, each] of text.split(/\r?\n/).entries()) {
    if (!line.test(each)) faults.push(`line ${index + 1} is neither ${forms}`)
    for (const [name, value = ''] of Object.entries(parseEnv(each.trim()))) {
      if (variables.has(name)) faults.push(`line ${index + 1} sets ${name} again`)
      variables.set(name, value)
    }
  }
  if (faults.length > 0) throw unreadable(...faults)
  for (const [name, value] of variables) process.env[name] ||= value
  return { names: [...variables.keys()], warnings: warningsAbout(variables) }
}

/** A link to a missing file is there, and a mistake. */
function isThere (): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    const wayOut = 'Start the service in a folder that its user may search.'
    throw new ConfigError(`${path} cannot be looked for in ${process.cwd()}. ${wayOut}`)
  }
}

function warningsAbout (variables: ReadonlyMap<string, string>): string[] {
  const hasSecret = Array.from(variables).some(([name, value]) => secret.test(`${name}=${value}`))
  const secrets = 'its tokens and passwords'
  const warning = hasSecret ? describeMode(path, statSync(path).mode, secrets) : undefined
  return warning === undefined ? [] : [`${warning}.`]
}

function read (): Buffer {
  try {
    const isPipe = statSync(path).isFIFO()
    if (isPipe) console.error(`${path} is a pipe: waiting for what is written to it.`)
    return readFileSync(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EACCES') throw new ConfigError(`${path} cannot be read: ${letUser}.`)
    throw unreadable(message.replace(/\.$/, ''))
  }
}

const letUser = 'let the user of the service read it, for example by chown'

function unreadable (...reasons: string[]): ConfigError {
  const wayOut = 'Correct or remove it.'
  const lines = reasons.map(reason => `${path} cannot be read: ${reason}. ${wayOut}`)
  return new ConfigError(lines.join('\n'))
}
