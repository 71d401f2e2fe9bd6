// Reads the credentials of each kind of security scheme and writes its challenges (OpenAPI 3.1, section 4.8.27).
import type { FastifyRequest } from 'fastify'
import type { BasicCredentials, SecurityScheme } from '../types.ts'
import { HttpError } from './http-error.ts'
import { decodeText, textsIn } from './request.ts'

/** Why a scheme refuses a request. */
export class Refusal extends HttpError {
  /** The request has no credentials of this scheme. */
  readonly isMissing: boolean

  constructor (status: 400 | 401 | 403, message: string, challenge: string | undefined, isMissing = false) {
    super(status, message, { headers: challenge === undefined ? {} : { 'WWW-Authenticate': challenge } })
    this.isMissing = isMissing
  }
}

/** Reads one kind of credentials. */
export interface CredentialReader {
  /** Name in error messages. */
  name: string
  read: (request: FastifyRequest) => string | BasicCredentials | Refusal
  /** The challenge for credentials that are not accepted. */
  invalidChallenge: string
  /** The challenge for credentials without the scopes that an operation needs. */
  insufficientScopeChallenge?: (scopes: readonly string[]) => string
}

export function credentialReader (scheme: SecurityScheme, realm: string): CredentialReader {
  if (scheme.type === 'apiKey') return apiKey(scheme as SecurityScheme & { name: string, in: string }, realm)
  return scheme.scheme?.toLowerCase() === 'basic' ? basic(realm) : bearer(realm)
}

/** `Authorization: Bearer <token>` (RFC 6750, section 2.1), which oauth2 and openIdConnect use as well. */
function bearer (realm: string): CredentialReader {
  // RFC 6750 section 3.1: a request without credentials gets a bare challenge, no error code.
  const challenge = `Bearer realm="${realm}"`
  const missingMessage = 'This operation needs a bearer token: Authorization: Bearer <ACCESS_TOKEN>.'
  return {
    name: 'bearer token',
    invalidChallenge: `${challenge}, error="invalid_token"`,
    insufficientScopeChallenge (scopes) {
      const scope = scopes.length === 0 ? '' : `, scope="${scopes.join(' ')}"`
      return `${challenge}, error="insufficient_scope"${scope}`
    },
    read (request) {
      const token = fromAuthorization(request, 'bearer', `${challenge}, error="invalid_request"`)
      return token ?? new Refusal(401, missingMessage, challenge, true)
    }
  }
}

/** `Authorization: Basic <base64 of name:password>` (RFC 7617, section 2). */
function basic (realm: string): CredentialReader {
  const challenge = `Basic realm="${realm}", charset="UTF-8"`
  const missingMessage = 'This operation needs a name and a password: Authorization: Basic <base64 of name:password>.'
  return {
    name: 'name and password',
    invalidChallenge: challenge,
    read (request) {
      const credentials = fromAuthorization(request, 'basic', challenge)
      if (credentials instanceof Refusal) return credentials
      if (credentials === undefined) return new Refusal(401, missingMessage, challenge, true)
      const decoded = Buffer.from(credentials, 'base64').toString()
      const [, username, password] = /^([^:]*):(.*)$/s.exec(decoded) ?? []
      if (username !== undefined && password !== undefined) return { username, password }
      return new Refusal(401, 'The name and password are not accepted.', challenge)
    }
  }
}

/** A key in a header field, a query parameter or a cookie. */
function apiKey ({ name, in: place }: { name: string, in: string }, realm: string): CredentialReader {
  const kinds: Readonly<Record<string, string>> = { header: 'header field', query: 'query parameter' }
  const where = `the ${kinds[place] ?? 'cookie'} ${name}`
  // RFC 9110, section 15.5.2: a 401 needs a challenge. No scheme is registered for keys.
  const challenge = `ApiKey realm="${realm}"`
  const textsOf = textsIn[place] as NonNullable<typeof textsIn[string]>
  return {
    name: 'API key',
    invalidChallenge: challenge,
    read (request) {
      const [key, ...more] = textsOf(request)(name)
      if (more.length > 0) return new Refusal(400, `The API key is sent more than once, in ${where}.`, challenge)
      if (key === undefined) return new Refusal(401, `This operation needs an API key in ${where}.`, challenge, true)
      return decodeText(key, place)
    }
  }
}

/** The credentials after the scheme's name; undefined for another scheme or no header. */
function fromAuthorization (request: FastifyRequest, scheme: string, challenge: string): string | Refusal | undefined {
  const isRepeated = request.repeatedHeaders.has('authorization')
  if (isRepeated) return new Refusal(400, 'Authorization is sent more than once.', challenge)
  const [, name, credentials = ''] = /^([^ ]+)(?: +(.*))?$/.exec(request.headers.authorization ?? '') ?? []
  return name?.toLowerCase() === scheme ? credentials : undefined
}
