// The only reader of the environment: variables to a Config, or every mistake at once.
import { parseTokens, readTokens } from './auth/access-tokens.ts'

export interface Config {
  host: string
  port: number
  databaseUrl: string
  /** Tokens as in ACCESS_TOKENS; undefined when the operator named none. */
  accessTokens: string | undefined
  accessTokensFile: string | undefined
  baseUrl: string
  /** Bytes that a body may have. */
  bodyLimit: number
  /** Requests a minute that each token may make; undefined: any number. */
  rateLimit: number | undefined
  /** Plants that may wait for storage. */
  maxQueue: number
  logLevel: string
}

/** A configuration that was not accepted: a sentence per mistake, each with a good value. */
export class ConfigError extends Error {
  readonly mistakes: string[]
  constructor (mistakes: string[]) {
    super(mistakes.join('\n'))
    this.mistakes = mistakes
  }
}

/**
 * Reads the configuration. A variable that is empty counts as not set.
 * @throws ConfigError with all mistakes
 */
export function readConfig (env: Readonly<Record<string, string | undefined>>): Config {
  const mistakes: string[] = []

  /** @param read gives the value, or throws when the text is not acceptable: the message then says why */
  function variable<Value, Default> (name: string, example: string, fallback: Default, read: (text: string) => Value): Value | Default {
    const text = env[name]
    if (text === undefined || text === '') return fallback
    try {
      return read(text)
    } catch (error) {
      mistakes.push(`${name} ${(error as Error).message}; a good value: ${name}=${example}`)
      return fallback
    }
  }

  const config = {
    host: variable('HOST', '0.0.0.0', '127.0.0.1', text => text),
    port: variable('PORT', '3000', 3000, wholeNumber(0, 65535)),
    databaseUrl: variable('DATABASE_URL', 'sqlite:data/plants.db', 'sqlite:data/plants.db', databaseUrl),
    accessTokens: variable('ACCESS_TOKENS', 'alice:2Vb9sXk0fQ7n,bob:Lr4TzW8mJc1d', undefined, tokens),
    accessTokensFile: variable('ACCESS_TOKENS_FILE', '/run/secrets/access-tokens', undefined, tokensFile),
    baseUrl: variable('BASE_URL', 'https://plants.example.com', '/', baseUrl),
    bodyLimit: variable('BODY_LIMIT', '65536', 65536, wholeNumber(1, 16 * 1024 * 1024)),
    rateLimit: variable('RATE_LIMIT', '600', undefined, wholeNumber(1, 1e9)),
    maxQueue: variable('MAX_QUEUE', '10000', 10_000, wholeNumber(1, 1e7)),
    logLevel: variable('LOG_LEVEL', 'info', 'info', oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']))
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return config
}

function wholeNumber (least: number, most: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most) throw new Error(`is "${text}", but must be a whole number from ${least} to ${most}`)
    return value
  }
}

function oneOf (values: string[]) {
  return (text: string): string => {
    if (!values.includes(text)) throw new Error(`is "${text}", but must be one of ${values.join(', ')}`)
    return text
  }
}

/** May hold a password: never shown. */
function databaseUrl (text: string): string {
  if (!/^(?:sqlite:.+|memory:|postgres(?:ql)?:\/\/.+)$/.test(text)) throw new Error('must be sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE or memory:')
  return text
}

function tokens (text: string): string {
  if (parseTokens(text).size === 0) throw new Error('has no token')
  return text
}

function tokensFile (path: string): string {
  try {
    readTokens(path)
  } catch (error) {
    throw new Error(`names ${path}, which ${'code' in (error as Error) ? 'cannot be read' : (error as Error).message}`)
  }
  return path
}

function baseUrl (text: string): string {
  const url = URL.parse(text)
  const web = url !== null && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === ''
  const path = web || /^\/[^?#]*$/.test(text)
  // The last three are signs of path templates and of the router.
  if (!path || /[{}*]/.test(text)) throw new Error(`is "${text}", but must be an http(s) address or a path, without ? # { } and *`)
  return text
}
