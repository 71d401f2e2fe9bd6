// Reads the values of variables. Each function throws an Error whose message completes a sentence
// that starts with the name of the variable.
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { parseTokens, readTokensFile, type Tokens, type TokensFile } from '../auth/token-list.ts'

export function withoutBlanks (text: string): string {
  if (/\s/.test(text)) throw new Error(`is "${shown(text)}", but must not have blanks`)
  return text
}

export function hostName (text: string): string {
  if (isIP(text) !== 0 || /^[\w.-]+$/.test(text)) return text
  throw new Error(`is "${shown(text)}", but must be an IP address or a host name, without a port`)
}

export function integerBetween (least: number, most: number) {
  return (text: string): number => {
    const value = Number(text)
    const isValid = /^\d+$/.test(text) && value >= least && value <= most
    if (isValid) return value
    throw new Error(`is "${shown(text)}", but must be a whole number from ${least} to ${most}`)
  }
}

/** Reads seconds and returns milliseconds. */
export function secondsBetween (least: number, most: number) {
  const read = integerBetween(least, most)
  return (text: string): number => 1000 * read(text)
}

export function oneOf<const Value extends string> (values: readonly Value[]) {
  return (text: string): Value => {
    const value = values.find(value => value === text)
    if (value !== undefined) return value
    throw new Error(`is "${shown(text)}", but must be one of ${values.join(', ')}`)
  }
}

/** A token or a password that the operator has put into the wrong variable is mostly longer. */
const longestShown = 12

/** A host with its scheme, or with a port. */
const shownWhole = /^(?:\*\*\*@|https?:\/\/[^/?#]*|(?:localhost|[\w-]+(?:\.[\w-]+)+):\d{1,5}$)/i

/**
 * The start of a value. Leaves out a user and a password, which a URL has before its last @, and
 * shows no more than the host and 3 characters of a long value.
 */
function shown (text: string): string {
  const hidden = text.replace(/^.*@/s, '***@')
  const [host = ''] = shownWhole.exec(hidden) ?? []
  const rest = hidden.slice(host.length)
  return host + (rest.length > longestShown ? `${rest.slice(0, 3)}...` : rest)
}

export function tokens (text: string): Tokens {
  const tokens = parseTokens(text)
  // A path has the form of a token, but no token of random characters has that of this one.
  if (text.includes('/') && (/^\.{0,2}(?:\/[a-z._-]+)+$/.test(text) || existsSync(text))) {
    throw new Error('is the path of a file: write it to ACCESS_TOKENS_FILE')
  }
  if (tokens.size === 0) throw new Error('has no token')
  return tokens
}

/** Like a value, a name that is not surely a path may be a token by mistake. */
export function tokensFile (path: string): TokensFile {
  try {
    return readTokensFile(path)
  } catch (error) {
    const file = resolve(/^\.{0,2}\//.test(path) ? path : shown(path))
    const { message, cause } = error as Error
    const isRefused = Object(cause).code === 'EACCES'
    const wayOut = isRefused ? '; let the user of the service read it' : ''
    throw new Error(`names ${file}, which ${message}${wayOut}`)
  }
}

function listOf (form: string, isValid: (entry: string) => boolean) {
  return (text: string): string[] => {
    const entries = text.split(',').map(entry => entry.trim())
    const wrong = entries.find(entry => !isValid(entry))
    if (wrong === undefined) return entries
    throw new Error(`has "${shown(wrong)}", but must be ${form}, separated by commas`)
  }
}

const listedNetworks = listOf('addresses or networks', isNetwork)

export function networks (text: string): string[] {
  if (!/\/0+\s*(?:,|$)/.test(text)) return listedNetworks(text)
  const reason = 'each caller could name any address as its own'
  throw new Error(`must not trust every address: ${reason}; name only those of your proxies`)
}

function isNetwork (text: string): boolean {
  const [, address = '', , bits = '1'] = /^([^/%]*)(\/([1-9]\d*))?$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128)
}

const originForm = 'origins as browsers send them (scheme, host and port, no capitals, no port ' +
  '80 for http or 443 for https, no slash at the end)'
/** `*` is none: the pages of every site could use a token that a browser keeps. */
export const origins = listOf(originForm, text => {
  return URL.parse(text)?.origin === text && /^https?:[^*]*$/.test(text)
})

export function baseUrl (text: string): string {
  if (!/^(?:https?:\/\/|\/(?!\/))/i.test(text)) {
    throw new Error(`is "${shown(text)}", but must begin with https://, http:// or one /`)
  }
  const [address = ''] = /^https?:\/\/[^/?#@\\]+/i.exec(text) ?? []
  if ((address === '' || URL.canParse(address)) && isServed(text.slice(address.length))) return text
  throw new Error(`is "${shown(text)}", but must have a valid host and no user, ` +
    '? # { } * \\ // blank, lone % or encoded character such as %2F')
}

/**
 * { } and * have a meaning in routes, browsers take \ for /, and no path matches an encoded
 * reserved character.
 */
function isServed (path: string): boolean {
  try {
    return /^(?:\/(?!\/)[^?#\s]*)?$/.test(path) && !/\/\/|[{}*\\%\p{Cc}]/u.test(decodeURI(path))
  } catch {
    return false
  }
}
