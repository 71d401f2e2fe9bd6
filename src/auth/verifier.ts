// Which tokens are accepted: the operator's static tokens, the service's own token and JWTs.
// The main thread owns the credentials; each thread that serves HTTP has a verifier with their
// current state.
import type { FailedRequest, TokenVerifier } from 'fastify-openapi-contract'
import { type OpenTokens, openTokens, type TokenLog, type TokenSources } from './token-sources.ts'
import type { Tokens } from './token-list.ts'
import type { KeySource } from './issuer-keys.ts'
import type { Jwk, JwtSettings } from './issuer.ts'
import type { JwtOptions } from './jwt.ts'

export { TokenFileError } from './token-sources.ts'

/** What a verifier needs. */
export interface Credentials {
  tokens: () => Tokens
  /** The keys for JWTs; undefined: no JWT is accepted. */
  keys: KeySource | undefined
}

/** The credentials at one moment, for another thread. */
export interface CredentialsState { tokens: Tokens, keys: readonly Jwk[] | undefined }

export interface OpenCredentials extends Credentials, Omit<OpenTokens, 'current'> {
  state: () => CredentialsState
  /** Calls the listener after each change, with the part that is new. */
  follow: (listener: (change: Partial<CredentialsState>) => void) => void
}

export interface CredentialSources extends TokenSources { jwt: JwtSettings | undefined }

/**
 * Opens the sources of credentials. With JWTs the service creates no token.
 * @throws Error with the reason
 */
export async function openCredentials (
  sources: CredentialSources,
  log: TokenLog
): Promise<OpenCredentials> {
  const { jwt, accessTokens = jwt && new Map() } = sources
  let onChange: (change: Partial<CredentialsState>) => void = () => {}
  const keys = jwt && await openKeys(jwt, log)
  const tokens = openTokens({ ...sources, accessTokens }, log, tokens => onChange({ tokens }))
  if (keys !== undefined) keys.onChange = keys => onChange({ keys })
  return {
    tokens: tokens.current,
    keys,
    isOwn: tokens.isOwn,
    isNew: tokens.isNew,
    state: () => ({ tokens: tokens.current(), keys: keys?.current?.keys }),
    follow (listener) {
      onChange = listener
    },
    close () {
      keys?.close()
      tokens.close()
    }
  }
}

async function openKeys (jwt: JwtSettings, log: TokenLog) {
  // Loading jose takes 30 ms.
  const { IssuerKeys } = await import('./issuer-keys.ts')
  const keys = new IssuerKeys(jwt, log)
  await keys.open()
  return keys
}

/**
 * @param log gets the reasons for which JWTs are refused, which the callers do not learn
 * @param isSuspect as jwtVerifier() takes it
 */
export async function createVerifier (
  { tokens, keys }: Credentials,
  jwt: JwtSettings | undefined,
  log: { debug: (fields: { id: string | undefined }, sentence: string) => void },
  isSuspect: (request: FailedRequest) => boolean
): Promise<TokenVerifier> {
  if (jwt === undefined || keys === undefined) return token => tokens().get(token)
  const { jwtVerifier } = await import('./jwt.ts')
  const onRefused: JwtOptions['onRefused'] = (reason, request) => {
    log.debug({ id: request?.id }, `A JWT was refused: ${reason}`)
  }
  const verifyJwt = jwtVerifier({ ...jwt, keys, onRefused, isSuspect })
  return (token, scopes, request) => tokens().get(token) ?? verifyJwt(token, scopes, request)
}

/**
 * The credentials of the main thread, in another thread.
 * @param renewKeys asks the main thread to read the keys again; resolves after apply() has got what
 * changed
 */
export async function followCredentials (
  state: CredentialsState,
  jwt: JwtSettings | undefined,
  renewKeys: () => Promise<void>
) {
  let { tokens } = state
  const keys = jwt && await followKeys(state.keys, renewKeys)
  return {
    tokens: () => tokens,
    keys,
    apply (change: Partial<CredentialsState>): void {
      tokens = change.tokens ?? tokens
      if ('keys' in change) keys?.use(change.keys)
    }
  }
}

async function followKeys (published: readonly Jwk[] | undefined, renewKeys: () => Promise<void>) {
  const { createKeySet } = await import('./issuer-keys.ts')
  return {
    current: published && createKeySet(published),
    async renew () {
      await renewKeys()
      return this.current
    },
    use (keys: readonly Jwk[] | undefined): void {
      this.current = keys && createKeySet(keys)
    }
  }
}
