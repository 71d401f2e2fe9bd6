// Reads bearer tokens from text and from files.
import type { Principal } from 'fastify-openapi-contract'
import { hash } from 'node:crypto'
import { type FileContent, readWatchedFile } from './watched-file.ts'

/**
 * Callers by token, in the order of the entries. A Map compares strings only if their hashes,
 * seeded per process, are equal. So the time of a lookup does not reveal a partial guess, and costs
 * a fifth of a lookup by SHA-256.
 */
export type Tokens = ReadonlyMap<string, TokenOwner>
/** `place` is that of the token's entry, such as `line 3`. */
export interface TokenOwner extends Principal { place: string }

/**
 * Reads tokens separated by commas or line breaks. A line that starts with # is a comment.
 * @throws Error that gives the place of each bad entry without showing it
 */
export function parseTokens (text: string): Tokens {
  const entries = splitEntries(text)
  const faults: string[] = []
  for (const { text, place } of entries) {
    if (!entryForm.test(text)) faults.push(`${place} ${faultIn(text)}`)
  }
  if (faults.length > 0) {
    throw new Error(`is not valid: ${joinFew(faults)}. An entry is \`token\` or \`name:token\`; ` +
      'a token has letters, digits and -._~+/ with = only at the end; ' +
      'commas and lines separate entries')
  }
  const tokens = new Map<string, TokenOwner>()
  for (const { text, place } of entries) {
    const [, name, token = ''] = entryForm.exec(text) as RegExpExecArray
    const first = tokens.get(token)
    if (first !== undefined) {
      const problem = `${place} has the token of ${first.place}`
      throw new Error(`is not valid: ${problem}. Remove one of them`)
    }
    const id = hash('sha256', token).slice(0, 16)
    tokens.set(token, { name: name ?? defaultName(token), id, place })
  }
  return tokens
}

interface Entry { text: string, place: string }

function splitEntries (text: string): Entry[] {
  const entries: Entry[] = []
  const lines = text.trimEnd().split('\n')
  for (const [index, line] of lines.entries()) {
    if (line.trim().startsWith('#')) continue
    const parts = line.split(',').map(part => part.trim()).filter(part => part !== '')
    const lineNumber = lines.length > 1 ? index + 1 : undefined
    for (const [at, part] of parts.entries()) {
      entries.push({ text: part, place: placeOf(at + 1, parts.length, lineNumber) })
    }
  }
  return entries
}

/** @param lineNumber undefined if there is one line, as in ACCESS_TOKENS */
function placeOf (number: number, count: number, lineNumber: number | undefined): string {
  if (lineNumber === undefined) return `entry ${number}`
  return count === 1 ? `line ${lineNumber}` : `entry ${number} of line ${lineNumber}`
}

/**
 * RFC 6750 section 2.1, b64token: a colon cannot be part of a token. A name with other characters,
 * such as those of a comment, is a mistake: the operator may have meant to revoke the token.
 */
const entryForm = /^(?:([\p{L}\p{N}][\p{L}\p{N}\p{M}._@+/-]*):)?([A-Za-z0-9._~+/-]+=*)$/u

/** The name of a token without one. */
export function defaultName (token: string): string {
  return `token-${hash('sha256', token).slice(0, 8)}`
}

function faultIn (entry: string): string {
  const token = entry.slice(entry.indexOf(':') + 1)
  if (entry.startsWith(':')) return 'has no name before its colon'
  if (token === '') return 'has no token after its colon'
  if (token.includes(':')) return 'has two colons'
  if (entry.includes(':') && entryForm.test(token)) {
    return 'has a name that does not start with a letter or digit, ' +
      'or has other characters than those and ._@+/-'
  }
  if (/\s/.test(token)) return 'has a blank in its token'
  return 'has a character that a token cannot have'
}

/** A list for a sentence, with at most five items. */
export function joinFew (items: string[]): string {
  const more = items.length - 5
  const list = items.slice(0, 5).join(', ')
  return more > 0 ? `${list}, ${more} more` : list
}

/** A file of tokens and its content at startup. */
export interface TokensFile extends FileContent { path: string, tokens: Tokens }

/** @throws Error of parseTokens() or readWatchedFile(), or when the file has no token */
export function readTokensFile (path: string): TokensFile {
  const content = readWatchedFile(path)
  const tokens = parseTokens(content.text)
  if (tokens.size === 0) throw new Error('has no token')
  return { path, ...content, tokens }
}
