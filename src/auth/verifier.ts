// Combines the operator's static tokens, the service's own token and JWTs into one verifier.
import type { TokenVerifier } from '../contract/index.ts'
import { openTokens } from './access-tokens.ts'
import type { OpenTokens, TokenLog, TokenSources } from './access-tokens.ts'
import type { JwtSettings } from './issuer.ts'

export interface VerifierSources extends TokenSources { jwt: JwtSettings | undefined }

export interface OpenVerifier extends Pick<OpenTokens, 'isOwn' | 'close'> { verify: TokenVerifier }

export interface VerifierLog extends TokenLog { debug: (sentence: string) => void }

/**
 * Opens the sources of tokens. With JWTs the service needs no token of its own.
 * @throws Error with the reason
 */
export async function openVerifier (sources: VerifierSources, log: VerifierLog): Promise<OpenVerifier> {
  const { jwt, accessTokens = new Map() } = sources
  if (jwt === undefined) return openTokens(sources, log)
  // Loading jose takes 30 ms.
  const [{ IssuerKeys }, { jwtVerifier }] = await Promise.all([import('./issuer-keys.ts'), import('./jwt.ts')])
  const keys = new IssuerKeys(jwt, log)
  await keys.open()
  const verifyJwt = jwtVerifier({ ...jwt, keys, onRefused: reason => log.debug(`A JWT was refused: ${reason}`) })
  const tokens = openTokens({ ...sources, accessTokens }, log)
  return {
    verify: (token, scopes) => tokens.verify(token) ?? verifyJwt(token, scopes),
    isOwn: tokens.isOwn,
    close () {
      keys.close()
      tokens.close()
    }
  }
}
