// The operator's bearer tokens, or one token that the first startup creates.
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describeMode, makeDirectory } from '../private-files.ts'
import {
  defaultName, joinFew, parseTokens, readTokensFile, type Tokens, type TokensFile
} from './token-list.ts'
import { type FileContent, followFile } from './watched-file.ts'

/** About 96 bits of a random token, out of reach for guesses over a network. */
const shortestSafe = 16

/** The operator's tokens, and the file for the service's own token if there are none. */
export interface TokenSources {
  accessTokens: Tokens | undefined
  accessTokensFile: TokensFile | undefined
  ownTokenFile: string
}

/** Somebody must correct the file of the service's own token. */
export class TokenFileError extends Error {}

export type OpenTokens = ReturnType<typeof openTokens>

/** Where the operator reads about the tokens. */
export type TokenLog = Readonly<Record<'info' | 'warn' | 'error', Report>>
type Report = (sentence: string) => void

/**
 * Opens the operator's tokens or, where there are none, the token that the service creates for
 * itself.
 * @param onChange called when other tokens are valid
 * @returns the tokens that are valid now, whether the service uses its own token and has just
 * created it, and a function that stops following the file
 */
export function openTokens (
  { accessTokens, accessTokensFile, ownTokenFile }: TokenSources,
  log: TokenLog,
  onChange: (tokens: Tokens) => void
) {
  const isOwn = accessTokens === undefined && accessTokensFile === undefined
  const isNew = isOwn && !existsSync(ownTokenFile)
  const fixed = isOwn ? loadOrCreateToken(ownTokenFile, log) : accessTokens ?? new Map()
  warnOfTokens(isOwn ? ownTokenFile : 'ACCESS_TOKENS', fixed, log)
  let current: Tokens = fixed
  const use = (tokens: Tokens) => {
    // An entry of ACCESS_TOKENS counts before one of the file.
    current = new Map([...tokens, ...fixed])
    onChange(current)
  }
  const close = accessTokensFile && followTokensFile(accessTokensFile, fixed, log, use)
  return { current: () => current, isOwn, isNew, close: close ?? (() => {}) }
}

/** Warns of tokens that can be guessed, and of those that may be pieces of a token with a comma. */
function warnOfTokens (source: string, tokens: Tokens, log: TokenLog): void {
  const short: string[] = []
  const nameless: string[] = []
  for (const [token, { name, place }] of tokens) {
    const hasName = name !== defaultName(token)
    const entry = hasName ? `${place} (${name})` : place
    if (token.length < shortestSafe) short.push(entry)
    if (!hasName) nameless.push(entry)
  }
  if (short.length > 0) {
    const problem = `tokens of less than ${shortestSafe} characters, which can be guessed`
    log.warn(`${source} has ${problem}: ${joinFew(short)}. ` +
      'This command creates a token: openssl rand -base64 24')
  }
  if (nameless.length > 0 && nameless.length < tokens.size) {
    log.warn(`${source} has entries with a name and entries without: ${joinFew(nameless)}. ` +
      'A token cannot have a comma, which starts the next entry. Give each entry a name, or none')
  }
}

function warnOfMode (source: string, { mode }: FileContent, log: TokenLog): void {
  const warning = describeMode(source, mode, 'the tokens')
  if (warning !== undefined) log.warn(warning)
}

/**
 * @param fixed the tokens of ACCESS_TOKENS, which stay valid with any file
 * @param use called with the tokens of the file, at once and after each change
 * @returns a function that stops following the file
 */
function followTokensFile (
  file: TokensFile,
  fixed: Tokens,
  log: TokenLog,
  use: (tokens: Tokens) => void
): () => void {
  const source = `ACCESS_TOKENS_FILE ${file.path}`
  const inBoth = new Set<string>()
  const warn = (content: FileContent, tokens: Tokens) => {
    warnOfTokens(source, tokens, log)
    warnOfMode(source, content, log)
    for (const [token, { name }] of tokens) if (fixed.has(token)) inBoth.add(name)
    if (inBoth.size === 0) return
    const names = joinFew([...inBoth])
    log.warn(`${source} has or had tokens that are also in ACCESS_TOKENS: ${names}. ` +
      'They stay valid until they are removed there, too, and the service is started again')
  }
  const apply = (found: FileContent | Error) => {
    try {
      if (found instanceof Error) throw found
      const tokens = parseTokens(found.text)
      use(tokens)
      if (tokens.size === 0) log.warn(`${source} is empty: it makes no token valid any more`)
      else log.info(`${source} has changed: its tokens are valid now, ${tokens.size} in number`)
      warn(found, tokens)
    } catch (error) {
      log.error(`${source} ${(error as Error).message}. ` +
        'Its last tokens stay valid. To revoke them all, empty the file')
    }
  }
  use(file.tokens)
  warn(file, file.tokens)
  return followFile(file.path, file, apply)
}

/** Reads the service's token; the first startup creates it, readable only by its owner. */
function loadOrCreateToken (path: string, log: TokenLog): Tokens {
  if (!existsSync(path)) createToken(path)
  try {
    const file = readTokensFile(path)
    warnOfMode(path, file, log)
    return file.tokens
  } catch (error) {
    const { message } = error as Error
    const wayOut = message.startsWith('cannot be read')
      ? 'Let the user of the service read it, or delete it: then every caller needs the new one.'
      : 'Delete it; the next start creates another.'
    throw new TokenFileError(`${path} ${message}. ${wayOut}`)
  }
}

function createToken (path: string): void {
  try {
    makeDirectory(dirname(path))
    writeToken(path)
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException
    // Another process has created it.
    if (code === 'EEXIST' && syscall === 'link') return
    const problem = `The service cannot write its access token to ${path}: ${message}`
    throw new TokenFileError(`${problem}. Set ACCESS_TOKENS or ACCESS_TOKENS_FILE to use your own.`)
  }
}

function writeToken (path: string): void {
  const draft = `${path}.${process.pid}`
  try {
    const token = randomBytes(32).toString('base64url')
    writeFileSync(draft, `${token}\n`, { mode: 0o600, flush: true })
    // Unlike a rename, a link never replaces the token of another process.
    linkSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}
