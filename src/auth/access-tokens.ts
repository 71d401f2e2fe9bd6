// Bearer tokens that the operator hands out: `token` or `name:token`, from the environment, a file, or made at first start.
import { hash, randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, unwatchFile, watchFile, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Principal } from '../contract/types.ts'

/**
 * Who may call, by token. A Map finds a string by its hash, seeded anew in each process, and compares it with a key only
 * where the hashes agree: how long a look-up takes tells nothing of how much of a token was guessed.
 */
type Tokens = ReadonlyMap<string, Principal>

/**
 * Reads tokens separated by commas or line breaks.
 * @throws Error that says which entry is no token, without showing it
 */
export function parseTokens (text: string): Tokens {
  const entries = text.split(/[,\n]/).map(entry => entry.trim()).filter(entry => entry !== '')
  const tokens = new Map(entries.map((entry, index) => {
    // RFC 6750 section 2.1, b64token: a colon cannot be part of a token.
    const match = /^(?:([^:]+):)?([A-Za-z0-9._~+/-]+=*)$/.exec(entry)
    if (match?.[2] === undefined) throw new Error(`has something else than \`token\` or \`name:token\` as entry ${index + 1}`)
    return [match[2], { name: match[1] ?? `token-${hash('sha256', match[2]).slice(0, 8)}` }]
  }))
  if (tokens.size < entries.length) throw new Error('has the same token twice')
  return tokens
}

/** Reads the tokens in a file; throws as parseTokens() or the file system does, and when there are none. */
export function readTokens (path: string): Tokens {
  const tokens = parseTokens(readFileSync(path, 'utf8'))
  if (tokens.size === 0) throw new Error('has no token')
  return tokens
}

/** Where the tokens of the service are: named by the operator, or in a file that the service keeps for itself. */
export interface TokenSources { accessTokens: string | undefined, accessTokensFile: string | undefined, ownFile: string }

/**
 * Opens the tokens that the operator named or, where there are none, the one that the service made for itself.
 * @param failed is told when the operator's file cannot be read again; the tokens read last stay good
 * @returns a verifier, whether the service's own token is in use, and a way to stop following the file
 */
export function openTokens ({ accessTokens, accessTokensFile, ownFile }: TokenSources, failed: (error: unknown) => void): { verify: (token: string) => Principal | undefined, own: boolean, close: () => void } {
  const own = accessTokens === undefined && accessTokensFile === undefined
  const fixed = own ? keepToken(ownFile) : parseTokens(accessTokens ?? '')
  const followed = followFile(accessTokensFile, failed)
  return {
    verify: token => fixed.get(token) ?? followed.tokens().get(token),
    own,
    close: followed.stop
  }
}

function followFile (path: string | undefined, failed: (error: unknown) => void): { tokens: () => Tokens, stop: () => void } {
  if (path === undefined) return { tokens: () => new Map(), stop: () => {} }
  let tokens = readTokens(path)
  const reread = () => {
    try { tokens = readTokens(path) } catch (error) { failed(error) }
  }
  // Polling sees through the renamed symbolic links by which mounted secrets are replaced; watching a path does not.
  watchFile(path, { interval: 1000, persistent: false }, reread)
  // What changes before polling has had its first look would never be seen.
  const firstLook = setTimeout(reread, 1000).unref()
  return {
    tokens: () => tokens,
    stop () {
      clearTimeout(firstLook)
      unwatchFile(path, reread)
    }
  }
}

/** Makes a token at the first start, readable by its owner alone; later starts find it. */
function keepToken (path: string): Tokens {
  mkdirSync(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    // A link, unlike a rename, never replaces the token of a process that was first.
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  try {
    return readTokens(path)
  } catch (error) {
    throw new Error(`${path} ${(error as Error).message}. Delete it, and the next start makes another.`)
  }
}
