// Credentials of a request, by security scheme, ahead of the body: a stranger costs nothing and learns nothing.
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import { ServiceError } from '../errors.ts'
import type { BearerVerifier, Operation, Principal } from './types.ts'

declare module 'fastify' {
  interface FastifyRequest { principal: Principal | undefined }
}

/**
 * The hooks that admit a request to an operation: none where the contract asks for nothing (`security: []`).
 * The contract's OR of ANDs is what @fastify/auth makes of an array of arrays.
 */
export function authenticate (app: FastifyInstance, security: Operation['security'], verifiers: Readonly<Record<string, BearerVerifier>>, realm: string): onRequestHookHandler[] {
  if (security.length === 0) return []
  const checks = security.map(schemes => Object.keys(schemes).map(name => bearerCheck(verifiers[name], realm)))
  return [app.auth(checks, { relation: 'or' }) as onRequestHookHandler]
}

function bearerCheck (verify: BearerVerifier | undefined, realm: string) {
  const admit = (request: FastifyRequest, principal: Principal | undefined) => {
    // RFC 6750 section 3.1: unknown, expired, revoked and malformed tokens are told apart to nobody.
    if (principal === undefined) throw refusal('unauthenticated', 'The bearer token is not accepted.', realm, 'invalid_token')
    request.principal = principal
  }
  return (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
    const principal = verify?.(bearerToken(request, realm))
    if (principal instanceof Promise) return principal.then(found => admit(request, found))
    admit(request, principal)
    return done()
  }
}

/** The token of `Authorization: Bearer <token>` (RFC 6750, section 2.1). */
function bearerToken (request: FastifyRequest, realm: string): string {
  if (countHeader(request, 'authorization') > 1) {
    throw refusal('invalid', 'Authorization is sent more than once.', realm, 'invalid_request')
  }
  const credentials = /^Bearer(?: +(.*))?$/i.exec(request.headers.authorization ?? '')
  if (credentials === null) {
    // RFC 6750 section 3.1: a request without credentials of this scheme gets a bare challenge, no error code.
    throw refusal('unauthenticated', 'This operation needs a bearer token: Authorization: Bearer <ACCESS_TOKEN>.', realm)
  }
  return credentials[1] ?? ''
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

function refusal (code: 'invalid' | 'unauthenticated', message: string, realm: string, error?: string): ServiceError {
  return new ServiceError(code, message, {
    headers: { 'WWW-Authenticate': `Bearer realm="${realm}"${error === undefined ? '' : `, error="${error}"`}` }
  })
}
