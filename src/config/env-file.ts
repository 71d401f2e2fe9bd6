// Reads .env line by line, and refuses what Node's parser would skip or misread without a word:
// after a blank behind `NAME=`, or a quote that is not closed, it takes the next lines for the
// value.
import { isUtf8 } from 'node:buffer'
import { lstatSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { ConfigError } from './config.ts'

const path = '.env'
const blanks = '[ \\t]*'
const quoted = `(["'\`])(?:(?!\\1).)*\\1${blanks}(?:#.*)?`
const unquoted = '[^\\s"\'`#][^#]*?(?:[ \\t]#.*)?'
const value = `(?:${blanks}(?:${quoted}|${unquoted}|#.*))?`
const line = new RegExp(`^${blanks}(?:#.*|(?:export +)?[\\w.-]+${blanks}=${value})?$`)

/**
 * Sets the variables of .env, if there is one, that are not set yet or empty.
 * @returns the names in the file
 * @throws ConfigError when it cannot be read, or when a line is neither NAME=value nor a comment,
 * or sets a variable again
 */
export function loadEnvFile (): string[] {
  // A link to a missing file is a mistake, too.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return []
  const bytes = read()
  if (!isUtf8(bytes) || bytes.includes(0)) throw unreadable('it is not UTF-8')
  // Some editors write a byte order mark, which parseEnv() takes for a part of the first name.
  const text = bytes.toString().replace(/^\ufeff/, '')
  const lines = text.split(/\r?\n/)
  const wrong = lines.findIndex(each => !line.test(each))
  if (wrong !== -1) {
    const forms = 'NAME=value nor NAME="a value with blanks or #"'
    throw unreadable(`line ${wrong + 1} is neither ${forms}`)
  }
  const variables = new Map<string, string>()
  for (const [index, each] of lines.entries()) {
    for (const [name, value = ''] of Object.entries(parseEnv(each.trim()))) {
      if (variables.has(name)) throw unreadable(`line ${index + 1} sets ${name} again`)
      variables.set(name, value)
    }
  }
  for (const [name, value] of variables) process.env[name] ||= value
  return [...variables.keys()]
}

function read (): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw unreadable((error as Error).message.replace(/\.$/, ''))
  }
}

function unreadable (reason: string): ConfigError {
  return new ConfigError([`${path} cannot be read: ${reason}. Correct or remove it.`])
}
