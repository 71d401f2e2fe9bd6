// Credentials of a request, by security scheme, ahead of the body: a stranger costs nothing and learns nothing.
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { asServiceError, ServiceError } from '../../errors.ts'
import { textReader } from './parameters.ts'
import type { BasicCredentials, Operation, SecurityScheme, Verdict, Verifier } from '../types.ts'

/** A verifier as it is called, whatever its scheme. */
export type AnyVerifier = Verifier<string | BasicCredentials>

/** What a contract says of security, and who decides. */
export interface Guards {
  schemes: Readonly<Record<string, SecurityScheme>>
  verifiers: Readonly<Record<string, AnyVerifier>>
  /** Names the protection space in challenges (RFC 9110, section 11.5). */
  realm: string
}

/**
 * The hooks that admit a request to an operation: none where the contract asks for nothing (`security: []`).
 * The contract's OR of ANDs is what @fastify/auth makes of an array of arrays. An empty requirement among others admits
 * those who send no credentials; credentials that were sent have to be good.
 */
export function authenticate (app: FastifyInstance, security: Operation['security'], guards: Guards): onRequestHookHandler[] {
  if (security.length === 0) return []
  const named = security.filter(requirement => Object.keys(requirement).length > 0)
  const checks = named.map(requirement => Object.entries(requirement).map(([name, scopes], index) => schemeCheck(name, scopes, index === 0, guards)))
  const anonymous = named.length < security.length
  const kinds = named.flatMap(requirement => Object.keys(requirement).map(name => kindOf(guards.schemes[name] as SecurityScheme, guards.realm)))
  if (checks.length === 0) return []
  const admit = app.auth(checks, { relation: 'or' }) as (request: FastifyRequest, reply: unknown, done: (error?: Error | null) => void) => void
  return [(request, reply, done) => {
    admit(request, reply, error => {
      if (!error) return done()
      const errors = failures.get(request) as Error[]
      // Whoever could not tell, may have been the one to say yes.
      const failure = errors.find(error => !(error instanceof Refusal))
      if (failure !== undefined) return done(asServiceError(failure))
      const refusals = errors as Refusal[]
      request.principals = {}
      return anonymous && kinds.every(kind => sentNothing(kind, request)) ? done() : done(worst(refusals))
    })
  }]
}

function sentNothing ({ read }: Kind, request: FastifyRequest): boolean {
  const credentials = read(request)
  return credentials instanceof Refusal && credentials.missing
}

/** Why a scheme did not admit a request. */
class Refusal extends ServiceError {
  /** Nothing was sent that is of this scheme. */
  readonly missing: boolean
  constructor (code: 'invalid' | 'unauthenticated' | 'forbidden', message: string, challenge: string | undefined, missing = false) {
    super(code, message, { headers: challenge === undefined ? {} : { 'WWW-Authenticate': challenge } })
    this.missing = missing
  }
}

/** What each scheme had against a request; @fastify/auth tells only the last. */
const failures = new WeakMap<FastifyRequest, Error[]>()

/** Of several refusals the one that tells most, with the challenges of all that ask for credentials (RFC 9110, section 11.6.1). */
function worst (refusals: Refusal[]): ServiceError {
  const rank = ({ code, missing }: Refusal) => missing ? 3 : ['invalid', 'forbidden', 'unauthenticated'].indexOf(code)
  const [first] = refusals.toSorted((a, b) => rank(a) - rank(b)) as [Refusal]
  if (first.code !== 'unauthenticated') return first
  const challenges = new Set(refusals.map(({ headers }) => headers['WWW-Authenticate']))
  return new ServiceError(first.code, first.message, { headers: { 'WWW-Authenticate': [...challenges].join(', ') } })
}

type Check = (request: FastifyRequest, reply: unknown, done: (error?: Error) => void) => void

function schemeCheck (name: string, scopes: readonly string[], isFirst: boolean, { schemes, verifiers, realm }: Guards): Check {
  const kind = kindOf(schemes[name] as SecurityScheme, realm)
  const verify = verifiers[name] as AnyVerifier
  const judge = (request: FastifyRequest, verdict: Verdict | Refusal): Refusal | undefined => {
    if (verdict instanceof Refusal) return verdict
    if (verdict === 'forbidden') return new Refusal('forbidden', `This ${kind.what} does not allow this operation.`, kind.forbidden?.(scopes))
    // RFC 6750 section 3.1: unknown, expired, revoked and malformed tokens are told apart to nobody.
    if (typeof verdict !== 'object' || verdict === null) return new Refusal('unauthenticated', `The ${kind.what} is not accepted.`, kind.notAccepted)
    request.principals = { ...isFirst ? {} : request.principals, [name]: verdict }
    return undefined
  }
  const fail = (request: FastifyRequest, error: Error | undefined) => {
    if (error !== undefined) failures.set(request, [...failures.get(request) ?? [], error])
    return error
  }
  return (request, _reply, done) => {
    let error
    try {
      const credentials = kind.read(request)
      const verdict = credentials instanceof Refusal ? credentials : verify(credentials, scopes)
      if (verdict instanceof Promise) {
        verdict.then(found => judge(request, found)).catch(error => error).then(error => done(fail(request, error)))
        return
      }
      error = judge(request, verdict)
    } catch (thrown) {
      error = thrown as Error
    }
    done(fail(request, error))
  }
}

/** How credentials of a scheme are read and asked for (OpenAPI 3.1, section 4.8.27). */
interface Kind {
  what: string
  read: (request: FastifyRequest) => string | BasicCredentials | Refusal
  /** The challenge for credentials that are nobody's, and for those that are not enough. */
  notAccepted: string
  forbidden?: (scopes: readonly string[]) => string
}

function kindOf (scheme: SecurityScheme, realm: string): Kind {
  if (scheme.type === 'apiKey') return apiKey(scheme as SecurityScheme & { name: string, in: string }, realm)
  return scheme.scheme?.toLowerCase() === 'basic' ? basic(realm) : bearer(realm)
}

/** `Authorization: Bearer <token>` (RFC 6750, section 2.1); tokens of oauth2 and openIdConnect come like this as well. */
function bearer (realm: string): Kind {
  // RFC 6750 section 3.1: a request without credentials of this scheme gets a bare challenge, no error code.
  const challenge = `Bearer realm="${realm}"`
  return {
    what: 'bearer token',
    notAccepted: `${challenge}, error="invalid_token"`,
    forbidden: scopes => `${challenge}, error="insufficient_scope"${scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`}`,
    read: request => fromAuthorization(request, 'bearer', `${challenge}, error="invalid_request"`) ??
      new Refusal('unauthenticated', 'This operation needs a bearer token: Authorization: Bearer <ACCESS_TOKEN>.', challenge, true)
  }
}

/** `Authorization: Basic <base64 of name:password>` (RFC 7617, section 2). */
function basic (realm: string): Kind {
  const challenge = `Basic realm="${realm}", charset="UTF-8"`
  return {
    what: 'name and password',
    notAccepted: challenge,
    read (request) {
      const credentials = fromAuthorization(request, 'basic', challenge)
      if (credentials instanceof Refusal) return credentials
      if (credentials === undefined) return new Refusal('unauthenticated', 'This operation needs a name and a password: Authorization: Basic <base64 of name:password>.', challenge, true)
      const [, username, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? []
      return username === undefined || password === undefined ? new Refusal('unauthenticated', 'The name and password are not accepted.', challenge) : { username, password }
    }
  }
}

/** A key in a header field, a query parameter or a cookie. No challenge is registered for it, yet a 401 must have one (RFC 9110, section 15.5.2). */
function apiKey ({ name, in: place }: { name: string, in: string }, realm: string): Kind {
  const where = `the ${place === 'header' ? 'header field' : place === 'query' ? 'query parameter' : 'cookie'} ${name}`
  const challenge = `ApiKey realm="${realm}"`
  const read = textReader(place)
  return {
    what: 'API key',
    notAccepted: challenge,
    read (request) {
      const [key, ...more] = read(request, name)
      if (more.length > 0) return new Refusal('invalid', `The API key is sent more than once, in ${where}.`, challenge)
      return key ?? new Refusal('unauthenticated', `This operation needs an API key in ${where}.`, challenge, true)
    }
  }
}

/** The credentials after the name of their scheme, undefined when none of it were sent. */
function fromAuthorization (request: FastifyRequest, scheme: string, challenge: string): string | Refusal | undefined {
  if (countHeader(request, 'authorization') > 1) return new Refusal('invalid', 'Authorization is sent more than once.', challenge)
  const [, name, credentials = ''] = /^([^ ]+)(?: +(.*))?$/.exec(request.headers.authorization ?? '') ?? []
  return name?.toLowerCase() === scheme ? credentials : undefined
}

/** How often a header field was sent. Node keeps the first line of some fields and drops the others without a word. */
export function countHeader ({ raw: { rawHeaders } }: FastifyRequest, name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index]
    if (field?.length === name.length && field.toLowerCase() === name) count++
  }
  return count
}
