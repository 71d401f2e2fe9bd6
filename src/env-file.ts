// Reads .env, and refuses what Node's parser would skip without a word.
import { isUtf8 } from 'node:buffer'
import { lstatSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { ConfigError } from './config.ts'

const path = '.env'
/** A quoted value, which may have several lines. */
const quoted = /=[ \t]*(["'`])[^]*?\1/g
const line = /^\s*(?:#|$|(?:export\s+)?[\w.-]+\s*=)/

/**
 * Sets the variables of .env, if there is one, that are not set yet.
 * @throws ConfigError when it cannot be read, or when a line is neither NAME=value nor a comment
 */
export function loadEnvFile (): void {
  // A link to a missing file is a mistake, too.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
  const bytes = read()
  if (!isUtf8(bytes) || bytes.includes(0)) throw refused('it is not UTF-8')
  // Some editors write a byte order mark, which parseEnv() takes for a part of the first name.
  const text = bytes.toString().replace(/^\ufeff/, '')
  const unquoted = text.replace(quoted, value => `=${value.replace(/[^\n]/g, '').replaceAll('\n', '\n#')}`)
  const wrong = unquoted.split('\n').findIndex(each => !line.test(each))
  if (wrong !== -1) throw refused(`line ${wrong + 1} is not NAME=value`)
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value
}

function read (): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw refused((error as Error).message.replace(/\.$/, ''))
  }
}

function refused (reason: string): ConfigError {
  return new ConfigError([`${path} cannot be read: ${reason}. Correct or remove it.`])
}
