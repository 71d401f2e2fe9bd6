// The operator's bearer tokens, or one token that the first startup creates.
import { hash, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, unwatchFile, watchFile, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Principal } from '../contract/index.ts'
import { makeDirectory } from '../make-directory.ts'

/**
 * Callers by token. A Map compares strings only if their hashes, seeded per process, are equal.
 * So the time of a lookup does not reveal a partial guess.
 */
export type Tokens = ReadonlyMap<string, Principal>

/**
 * Reads tokens separated by commas or line breaks.
 * @throws Error that gives the position of a bad entry without showing it
 */
export function parseTokens (text: string): Tokens {
  const entries = text.split(/[,\n]/).map(entry => entry.trim()).filter(entry => entry !== '')
  const tokens = new Map(entries.map(parseEntry))
  if (tokens.size < entries.length) throw new Error('has the same token twice')
  return tokens
}

function parseEntry (entry: string, index: number): [token: string, caller: Principal] {
  // RFC 6750 section 2.1, b64token: a colon cannot be part of a token.
  const [, name, token] = /^(?:([^:]+):)?([A-Za-z0-9._~+/-]+=*)$/.exec(entry) ?? []
  if (token === undefined) throw new Error(`is not valid: entry ${index + 1} is neither \`token\` nor \`name:token\``)
  return [token, { name: name ?? `token-${hash('sha256', token).slice(0, 8)}` }]
}

/**
 * Reads the tokens in a file.
 * @throws Error of parseTokens() or of the file system, or when the file has no token
 */
export function readTokens (path: string): Tokens {
  const tokens = parseTokens(readFileSync(path, 'utf8'))
  if (tokens.size === 0) throw new Error('has no token')
  return tokens
}

/** A file of tokens and its content at startup. */
export interface TokensFile { path: string, tokens: Tokens }

/** The operator's tokens, and the file for the service's own token if there are none. */
export interface TokenSources {
  accessTokens: Tokens | undefined
  accessTokensFile: TokensFile | undefined
  ownTokenFile: string
}

export interface OpenTokens {
  verify: (token: string) => Principal | undefined
  /** Whether the service uses its own token. */
  isOwn: boolean
  /** Stops following the file. */
  close: () => void
}

/**
 * Opens the operator's tokens or, where there are none, the token that the service creates for itself.
 * @param onError called when a later read fails; the previous tokens stay valid
 */
export function openTokens (
  { accessTokens, accessTokensFile, ownTokenFile }: TokenSources,
  onError: (error: unknown) => void
): OpenTokens {
  const isOwn = accessTokens === undefined && accessTokensFile === undefined
  const fixed = isOwn ? loadOrCreateToken(ownTokenFile) : accessTokens ?? new Map()
  const followed = watchTokensFile(accessTokensFile, onError)
  return {
    verify: token => fixed.get(token) ?? followed.tokens().get(token),
    isOwn,
    close: followed.stop
  }
}

interface WatchedFile { tokens: () => Tokens, stop: () => void }

function watchTokensFile (file: TokensFile | undefined, onError: (error: unknown) => void): WatchedFile {
  if (file === undefined) return { tokens: () => new Map(), stop: () => {} }
  const { path } = file
  let { tokens } = file
  const reread = () => {
    try { tokens = readTokens(path) } catch (error) { onError(error) }
  }
  // Mounted secrets change by swapping symbolic links: polling notices that, fs.watch() does not.
  watchFile(path, { interval: 1000, persistent: false }, reread)
  // Polling misses a change between startup and the first poll: read once more.
  const firstReread = setTimeout(reread, 1000).unref()
  return {
    tokens: () => tokens,
    stop () {
      clearTimeout(firstReread)
      unwatchFile(path, reread)
    }
  }
}

/** Reads the service's token; the first startup creates it, readable only by its owner. */
function loadOrCreateToken (path: string): Tokens {
  makeDirectory(dirname(path))
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    // Unlike a rename, a link never replaces the token of another process.
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  try {
    return readTokens(path)
  } catch (error) {
    throw new Error(`${path} ${(error as Error).message}. Delete it; the next start creates another.`)
  }
}
