// Authenticates a request in onRequest, before the body of an unknown caller is read or validated.
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { asHttpError, HttpError } from '../server/http-error.ts'
import { refusalsOf } from '../message/request-fields.ts'
import { isThenable } from '../message/thenable.ts'
import type { BasicCredentials, Verdict, Verifier } from '../types/handler.ts'
import type { Operation, SecurityScheme } from '../types/contract.ts'
import { credentialReader, type CredentialReader, Refusal, withChallenge } from './credentials.ts'

/** A verifier of any scheme. */
export type AnyVerifier = Verifier<string | BasicCredentials>

/** The contract's security schemes, and a verifier for each. */
export interface Guards {
  schemes: Readonly<Record<string, SecurityScheme>>
  verifiers: Readonly<Record<string, AnyVerifier>>
  /** Names the protection space in challenges (RFC 9110, section 11.5). */
  realm: string
  /** Gets the 4xx for credentials that no requirement accepts, and returns the one to send. */
  onRefused?: ((error: HttpError, request: FastifyRequest) => HttpError) | undefined
  /** Time limit of a verifier that returns a promise. */
  timeoutMs: number
}

type Check = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

/**
 * The hooks that admit a request to an operation; none where the contract says `security: []`.
 * @fastify/auth runs the checks: an array of arrays is the contract's OR of ANDs. An empty
 * requirement among others admits requests without credentials; credentials that were sent must
 * still be accepted.
 */
export function authenticate (
  app: FastifyInstance,
  security: Operation['security'],
  { schemes, verifiers, realm, onRefused, timeoutMs }: Guards
): onRequestHookHandler[] {
  const readers: CredentialReader[] = []
  const checks: Check[][] = []
  for (const requirement of security) {
    const ofRequirement = [startRequirement]
    const needed: string[] = []
    for (const [name, scopes] of Object.entries(requirement)) {
      const reader = credentialReader(schemes[name] as SecurityScheme, realm)
      readers.push(reader)
      needed.push(reader.needs)
      const verify = inTime(verifiers[name] as AnyVerifier, timeoutMs)
      ofRequirement.push(schemeCheck(name, reader, verify, scopes, needed))
    }
    if (ofRequirement.length > 1) checks.push(ofRequirement)
  }
  if (checks.length === 0) return []
  const isOptional = checks.length < security.length
  const isHiddenFromCaches = readers.some(reader => reader.isHiddenFromCaches)
  const admit = app.auth(checks, { relation: 'or' }) as Check
  return [(request, reply, done) => {
    if (isHiddenFromCaches) reply.header('Cache-Control', 'private')
    admit(request, reply, error => {
      if (!error) return done()
      request.principals = {}
      const isAnonymous = isOptional && readers.every(reader => hasNoCredentials(reader, request))
      if (isAnonymous) return done()
      const refusal = mostSpecificOf(refusalsOf(request))
      // A 5xx is the failure of a verifier, which says nothing of the credentials.
      done(refusal.status < 500 ? onRefused?.(refusal, request) ?? refusal : refusal)
    })
  }]
}

/** Clears the callers of the previous requirement. */
const startRequirement: Check = (request, _reply, done) => {
  request.principals = {}
  done()
}

/**
 * Checks one scheme and records its refusal: @fastify/auth reports only the last error.
 * @param needed what the requirement of the scheme needs in all
 */
function schemeCheck (
  name: string,
  reader: CredentialReader,
  verify: AnyVerifier,
  scopes: readonly string[],
  needed: readonly string[]
): Check {
  return (request, _reply, done) => {
    const fail = (thrown: unknown): void => {
      const error = asHttpError(thrown)
      refusalsOf(request).push(error)
      done(error)
    }
    const finish = (verdict: Verdict | Refusal): void => {
      const refusal = refusalOf(verdict, reader, scopes)
      if (refusal?.isMissing) refusal.message = needed.join(' together with ')
      if (refusal !== undefined) return fail(refusal)
      // A 401 would send the developer to look at the token.
      if (typeof (verdict as { name?: unknown }).name !== 'string') return fail(nameless(name))
      const principal = verdict as Exclude<Verdict, 'forbidden'>
      request.principals = { ...request.principals, [name]: principal }
      done()
    }
    let verdict
    try {
      const credentials = reader.read(request)
      verdict = credentials instanceof Refusal ? credentials : verify(credentials, scopes, request)
    } catch (error) {
      return fail(error)
    }
    if (isThenable(verdict)) Promise.resolve(verdict).then(finish, fail)
    else finish(verdict)
  }
}

/** Lets a caller wait no longer for a verifier than for a handler: what it asks may hang. */
function inTime (verify: AnyVerifier, timeoutMs: number): AnyVerifier {
  return (credentials, scopes, request) => {
    const verdict = verify(credentials, scopes, request)
    if (!isThenable(verdict)) return verdict
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const cause = new Error(`A verifier took more than ${timeoutMs} ms.`)
        const message = 'The service could not check the credentials in time. ' +
          'Try again in a moment.'
        reject(new HttpError(503, message, { cause }))
      }, timeoutMs)
      Promise.resolve(verdict).then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }
}

function refusalOf (
  verdict: Verdict | Refusal,
  reader: CredentialReader,
  scopes: readonly string[]
): Refusal | undefined {
  if (verdict instanceof Refusal) return verdict
  if (verdict === 'forbidden') {
    const challenge = reader.insufficientScopeChallenge?.(scopes)
    return new Refusal(403, `This ${reader.name} does not allow this operation.`, challenge)
  }
  // RFC 6750 section 3.1: the same answer for unknown, expired, revoked and malformed tokens.
  return verdict ? undefined : reader.invalid()
}

function nameless (scheme: string): Error {
  return new Error(`The verifier ${scheme} returned a caller whose \`name\` is no text.`)
}

/** Unreadable credentials were sent. An error here would leave the request without a response. */
function hasNoCredentials (reader: CredentialReader, request: FastifyRequest): boolean {
  try {
    const credentials = reader.read(request)
    return credentials instanceof Refusal && credentials.isMissing
  } catch {
    return false
  }
}

/** The error to send; a 401 has the challenges of every refusal (RFC 9110, section 11.6.1). */
function mostSpecificOf (errors: readonly HttpError[]): HttpError {
  // A verifier that failed might have accepted: report its failure instead of 401.
  const failure = errors.find(error => !(error instanceof Refusal))
  if (failure !== undefined) return failure
  const refusals = errors as Refusal[]
  const rank = ({ status, isMissing }: Refusal) => isMissing ? 3 : [400, 403, 401].indexOf(status)
  const [first] = refusals.toSorted((a, b) => rank(a) - rank(b)) as [Refusal]
  if (first.status !== 401) return first
  const challenges = new Set(refusals.map(({ headers }) => headers['WWW-Authenticate']))
  const message = first.isMissing ? needs(refusals) : first.message
  return new HttpError(401, message, withChallenge([...challenges].join(', ')))
}

/** One of several credentials is enough. */
function needs (refusals: readonly Refusal[]): string {
  const missing = new Set(refusals.map(({ message }) => message))
  return `This operation needs ${[...missing].join(', or ')}.`
}
