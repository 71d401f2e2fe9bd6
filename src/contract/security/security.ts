// Authenticates a request in onRequest, before its body: the body of an unknown caller is neither read nor validated.
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { BasicCredentials, Verdict, Verifier } from '../handler.ts'
import type { Operation, SecurityScheme } from '../types.ts'
import { credentialReader, Refusal } from './credentials.ts'
import type { CredentialReader } from './credentials.ts'
import { asHttpError, HttpError } from '../../server/http-error.ts'
import { refusalsOf } from '../message/request-fields.ts'

/** A verifier of any scheme. */
export type AnyVerifier = Verifier<string | BasicCredentials>

/** The contract's security schemes, and a verifier for each. */
export interface Guards {
  schemes: Readonly<Record<string, SecurityScheme>>
  verifiers: Readonly<Record<string, AnyVerifier>>
  /** Names the protection space in challenges (RFC 9110, section 11.5). */
  realm: string
  /** Gets the error for credentials that no requirement accepts, and returns the one to send. */
  onRefused?: ((error: HttpError, request: FastifyRequest) => HttpError) | undefined
}

type Check = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void

/**
 * The hooks that admit a request to an operation; none where the contract says `security: []`.
 * @fastify/auth runs the checks: an array of arrays is the contract's OR of ANDs. An empty requirement among others
 * admits requests without credentials; credentials that were sent must still be accepted.
 */
export function authenticate (
  app: FastifyInstance,
  security: Operation['security'],
  guards: Guards
): onRequestHookHandler[] {
  const requirements = security.filter(requirement => Object.keys(requirement).length > 0)
  if (requirements.length === 0) return []
  const isOptional = requirements.length < security.length
  const schemes = requirements.flatMap(requirement => Object.keys(requirement).map(name => schemeOf(name, guards)))
  const isHiddenFromCaches = schemes.some(scheme => scheme.isHiddenFromCaches)
  const checks = requirements.map(requirement => [
    startRequirement,
    ...Object.entries(requirement).map(([name, scopes]) => schemeCheck(name, scopes, guards))
  ])
  const admit = app.auth(checks, { relation: 'or' }) as Check
  return [(request, reply, done) => {
    if (isHiddenFromCaches) reply.header('Cache-Control', 'private')
    admit(request, reply, error => {
      if (!error) return done()
      request.principals = {}
      const isAnonymous = isOptional && schemes.every(scheme => hasNoCredentials(scheme, request))
      if (isAnonymous) return done()
      const refusal = mostSpecific(refusalsOf(request))
      done(guards.onRefused?.(refusal, request) ?? refusal)
    })
  }]
}

/** Clears the callers of the previous requirement. */
const startRequirement: Check = (request, _reply, done) => {
  request.principals = {}
  done()
}

/** Checks one scheme and records its refusal: @fastify/auth reports only the last error. */
function schemeCheck (name: string, scopes: readonly string[], guards: Guards): Check {
  const scheme = schemeOf(name, guards)
  const verify = guards.verifiers[name] as AnyVerifier
  return (request, _reply, done) => {
    const refuse = (thrown: unknown): void => {
      const error = asError(thrown)
      refusalsOf(request).push(error)
      done(error)
    }
    const finish = (verdict: Verdict | Refusal): void => {
      const refusal = refusalOf(verdict, scheme, scopes)
      if (refusal !== undefined) return refuse(refusal)
      request.principals = { ...request.principals, [name]: verdict as Exclude<Verdict, 'forbidden'> }
      done()
    }
    let verdict
    try {
      const credentials = scheme.read(request)
      verdict = credentials instanceof Refusal ? credentials : verify(credentials, scopes)
    } catch (error) {
      return refuse(error)
    }
    if (isThenable(verdict)) Promise.resolve(verdict).then(finish, refuse)
    else finish(verdict)
  }
}

/** A promise of any kind: `instanceof Promise` would take that of another realm for a principal. */
function isThenable<Value> (value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function'
}

function asError (thrown: unknown): Error {
  if (thrown instanceof Error) return thrown
  return new Error('A verifier threw a value that is not an Error.', { cause: thrown })
}

function schemeOf (name: string, { schemes, realm }: Guards): CredentialReader {
  return credentialReader(schemes[name] as SecurityScheme, realm)
}

function refusalOf (
  verdict: Verdict | Refusal,
  scheme: CredentialReader,
  scopes: readonly string[]
): Refusal | undefined {
  if (verdict instanceof Refusal) return verdict
  if (verdict === 'forbidden') {
    const challenge = scheme.insufficientScopeChallenge?.(scopes)
    return new Refusal(403, `This ${scheme.name} does not allow this operation.`, challenge)
  }
  // RFC 6750 section 3.1: the same answer for unknown, expired, revoked and malformed tokens.
  const isPrincipal = typeof (verdict as { name?: unknown } | undefined | null)?.name === 'string'
  return isPrincipal ? undefined : scheme.invalid()
}

/** Credentials that cannot be read were sent. An error here would leave the request without a response. */
function hasNoCredentials (scheme: CredentialReader, request: FastifyRequest): boolean {
  try {
    const credentials = scheme.read(request)
    return credentials instanceof Refusal && credentials.isMissing
  } catch {
    return false
  }
}

/** The most specific error; a 401 has the challenges of every refusal (RFC 9110, section 11.6.1). */
function mostSpecific (errors: readonly Error[]): HttpError {
  // A verifier that failed might have accepted: report its failure instead of 401.
  const failure = errors.find(error => !(error instanceof Refusal))
  if (failure !== undefined) return asHttpError(failure)
  const refusals = errors as Refusal[]
  const rank = ({ status, isMissing }: Refusal) => isMissing ? 3 : [400, 403, 401].indexOf(status)
  const [first] = refusals.toSorted((a, b) => rank(a) - rank(b)) as [Refusal]
  if (first.status !== 401) return first
  const challenges = new Set(refusals.map(({ headers }) => headers['WWW-Authenticate']))
  return new HttpError(401, first.message, { headers: { 'WWW-Authenticate': [...challenges].join(', ') } })
}
