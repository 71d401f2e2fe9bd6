// Verifies JWT access tokens of one issuer (RFC 9068, RFC 8725).
import { type FailedRequest, HttpError, type Verdict } from 'fastify-openapi-contract'
import { errors, jwtVerify, type JWTVerifyResult } from 'jose'
import type { AcceptedToken } from './jwt-cache.ts'
import type { KeySet, KeySource } from './issuer-keys.ts'
import type { JwtSettings } from './issuer.ts'
import { limitCalls } from './limit-calls.ts'

export interface JwtOptions extends Pick<JwtSettings, 'issuer' | 'audience'> {
  keys: KeySource
  /** Gets the reason why a token is rejected, which the caller does not learn. */
  onRefused: (reason: string, request: FailedRequest | undefined) => void
  /** Whether a request comes from where too many were refused: its token waits for the others. */
  isSuspect?: (request: FailedRequest) => boolean
  /** Milliseconds since 1970. */
  now?: () => number
}

/**
 * Signatures with public keys only: the list excludes `none` and secrets (RFC 8725, section 3.1).
 */
const algorithms = [
  'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512',
  'EdDSA', 'Ed25519'
]
/** RFC 9068, section 4, and what issuers from before it send. */
const types = ['at+jwt', 'application/at+jwt', 'jwt', 'application/jwt']
const maxLength = 8192
const maxSubject = 255
/** For `nbf`, as the clocks of the issuer and of the service differ. */
const leewaySeconds = 5
/** The last moment of a Date. */
const lastMs = 8.64e15
/** Signatures that a thread checks at once; one of P-521 takes a millisecond. */
const maxChecks = 2

/** A TokenVerifier that needs no request. */
export type JwtVerifier = (
  token: string, scopes: readonly string[], request?: FailedRequest
) => Verdict | Promise<Verdict>

export function jwtVerifier (options: JwtOptions): JwtVerifier {
  const { keys, onRefused, isSuspect = () => false, now = Date.now } = options
  const limit = limitCalls(maxChecks)
  const check = async (
    token: string,
    scopes: readonly string[],
    request: FailedRequest | undefined
  ): Promise<Verdict> => {
    const isLast = request !== undefined && isSuspect(request)
    const settings = { ...options, now, limit: <T>(call: () => Promise<T>) => limit(isLast, call) }
    try {
      return verdictOf(await verify(token, settings), scopes)
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error
      onRefused(error.message, request)
      return undefined
    }
  }
  return (token, scopes, request) => {
    const accepted = keys.current?.accepted.find(token)
    if (accepted !== undefined && accepted.expiresAt > now()) return verdictOf(accepted, scopes)
    const fault = faultOf(token)
    if (fault === undefined) return check(token, scopes, request)
    onRefused(fault, request)
    return undefined
  }
}

/** Why a token is no JWT that could be valid, before anything of it is read. */
function faultOf (token: string): string | undefined {
  if (token.length > maxLength) return `it has more than ${maxLength} characters`
  const isSigned = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)
  return isSigned ? undefined : 'it is not three parts in base64url, the last of them a signature'
}

interface Settings extends Required<Omit<JwtOptions, 'isSuspect'>> {
  limit: <T>(call: () => Promise<T>) => Promise<T>
}

function verdictOf (accepted: AcceptedToken, scopes: readonly string[]): Verdict {
  const { principal, scopes: granted } = accepted
  return scopes.every(scope => granted.has(scope)) ? principal : 'forbidden'
}

/** Verifies a token; with an unknown key, once again with the issuer's newest keys. */
async function verify (token: string, options: Settings): Promise<AcceptedToken> {
  const keySet = options.keys.current ?? await options.keys.renew()
  if (keySet === undefined) {
    const problem = 'The service cannot check this token now.'
    throw new HttpError(503, `${problem} Sending the request again is safe.`)
  }
  try {
    return await verifyWith(keySet, token, options)
  } catch (error) {
    const newest = isOfUnknownKey(error) ? await options.keys.renew() : undefined
    if (newest === undefined || newest === keySet) throw error
    return verifyWith(newest, token, options)
  }
}

/** A new key need not have a new `kid`: then jose finds another key, or one that cannot be used. */
function isOfUnknownKey (error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JWKSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed
}

async function verifyWith (
  keySet: KeySet,
  token: string,
  { issuer, audience, now, limit }: Settings
): Promise<AcceptedToken> {
  const verified = await limit(() => jwtVerify(token, keySet.find, {
    algorithms,
    issuer,
    audience,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: leewaySeconds,
    currentDate: new Date(now())
  }))
  const accepted = checkClaims(verified, now())
  keySet.accepted.add(token, accepted)
  return accepted
}

/** Checks what jose does not. */
function checkClaims (
  { protectedHeader: { typ = 'JWT' }, payload }: JWTVerifyResult,
  now: number
): AcceptedToken {
  const { exp = NaN, sub, cnf, at_hash: accessTokenHash, c_hash: codeHash, scope, scp } = payload
  const expiresAt = exp * 1000
  if (typeof typ !== 'string' || !types.includes(typ.toLowerCase())) {
    throw new errors.JWTInvalid('"typ" is not that of an access token')
  }
  // OpenID Connect Core 1.0, sections 2 and 3.3.2.11: an ID token is for the client.
  if (accessTokenHash !== undefined || codeHash !== undefined) {
    throw new errors.JWTInvalid('it is an ID token')
  }
  // RFC 7800: such a token needs a proof of possession, which the service cannot check.
  if (cnf !== undefined) throw new errors.JWTInvalid('it is bound to a key of its client ("cnf")')
  // Without leeway: the verdict does not depend on whether the token was remembered.
  if (!(expiresAt > now && expiresAt <= lastMs)) {
    throw new errors.JWTInvalid('"exp" is past, or no date')
  }
  if (typeof sub !== 'string' || sub === '' || sub.length > maxSubject) {
    throw new errors.JWTInvalid(`"sub" is not a text of 1 to ${maxSubject} characters`)
  }
  // All tokens of a subject share a limit, and no static token has such an id.
  return { principal: { name: sub, id: `jwt ${sub}` }, scopes: scopesIn([scope, scp]), expiresAt }
}

/** `scope` is a text (RFC 9068, section 2.2.3); some issuers send `scp`, a text or a list. */
function scopesIn (claims: unknown[]): ReadonlySet<string> {
  const scopes = new Set<string>()
  for (const claim of claims.flat()) {
    if (typeof claim !== 'string') continue
    for (const scope of claim.split(' ')) scopes.add(scope)
  }
  return scopes
}
