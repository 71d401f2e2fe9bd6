// Reads the credentials of each kind of security scheme and writes its challenges (OpenAPI 3.1, section 4.8.27).
import type { FastifyRequest } from 'fastify'
import { isUtf8 } from 'node:buffer'
import type { BasicCredentials } from '../handler.ts'
import type { SecurityScheme } from '../types.ts'
import { HttpError } from '../../server/http-error.ts'
import { decodeText, textsIn } from '../message/request-texts.ts'

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
  /** The refusal of credentials that are not accepted, also of malformed ones. */
  invalid: () => Refusal
  /** The challenge for credentials without the scopes that an operation needs. */
  insufficientScopeChallenge?: (scopes: readonly string[]) => string
  /** Whether the credentials are outside Authorization, where shared caches do not see them (RFC 9111, section 3.5). */
  isHiddenFromCaches?: boolean
}

export function credentialReader (scheme: SecurityScheme, realm: string): CredentialReader {
  const realmParameter = `realm=${quoted(realm)}`
  if (scheme.type === 'apiKey') return apiKey(scheme as SecurityScheme & { name: string, in: string }, realmParameter)
  return scheme.scheme?.toLowerCase() === 'basic' ? basic(realmParameter) : bearer(realmParameter)
}

/** A quoted-string (RFC 9110, section 5.6.4). */
function quoted (realm: string): string {
  if (/^[ -~]*$/.test(realm)) return `"${realm.replace(/["\\]/g, '\\$&')}"`
  throw new Error(`The realm ${JSON.stringify(realm)} must have only printable characters of ASCII.`)
}

/** RFC 6750, section 2.1. The name of a scheme has any case (RFC 9110, section 11.1). */
const bearerForm = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i
/** One word after the scheme: with a comma or a second word it would be several credentials. */
const bearerWord = /^bearer +[^ \t,]+$/i
const bearerName = /^bearer(?![\w!#$%&'*+.^`|~-])/i

/** `Authorization: Bearer <token>` (RFC 6750, section 2.1), which oauth2 and openIdConnect use as well. */
function bearer (realm: string): CredentialReader {
  // RFC 6750 section 3.1: a request without credentials gets a bare challenge, no error code.
  const challenge = `Bearer ${realm}`
  const missingMessage = 'This operation needs a bearer token: Authorization: Bearer <ACCESS_TOKEN>.'
  const invalid = () => new Refusal(401, 'The bearer token is not accepted.', `${challenge}, error="invalid_token"`)
  const malformed = (message: string) => new Refusal(400, message, `${challenge}, error="invalid_request"`)
  return {
    name: 'bearer token',
    invalid,
    insufficientScopeChallenge (scopes) {
      // RFC 6749 section 3.3. The roles of an http scheme may have other characters (OpenAPI 3.1, section 4.8.30).
      const areScopes = scopes.length > 0 && scopes.every(scope => /^[!#-[\]-~]+$/.test(scope))
      return `${challenge}, error="insufficient_scope"${areScopes ? `, scope="${scopes.join(' ')}"` : ''}`
    },
    read (request) {
      if (request.repeatedHeaders.has('authorization')) return malformed('Authorization is sent more than once.')
      const field = request.headers.authorization ?? ''
      const token = bearerForm.exec(field)?.[1]
      if (token !== undefined) return token
      if (!bearerName.test(field)) return new Refusal(401, missingMessage, challenge, true)
      // Section 3.1: a malformed token is invalid_token, a missing or repeated one is invalid_request.
      if (bearerWord.test(field)) return invalid()
      return malformed('Authorization must have the form "Bearer <ACCESS_TOKEN>", with one token.')
    }
  }
}

/** `Authorization: Basic <base64 of name:password>` (RFC 7617, section 2). */
function basic (realm: string): CredentialReader {
  const challenge = `Basic ${realm}, charset="UTF-8"`
  const missingMessage = 'This operation needs a name and a password: Authorization: Basic <base64 of name:password>.'
  const invalid = () => new Refusal(401, 'The name and password are not accepted.', challenge)
  return {
    name: 'name and password',
    invalid,
    read (request) {
      if (request.repeatedHeaders.has('authorization')) {
        return new Refusal(400, 'Authorization is sent more than once.', challenge)
      }
      const field = request.headers.authorization ?? ''
      if (!/^basic(?![\w!#$%&'*+.^`|~-])/i.test(field)) return new Refusal(401, missingMessage, challenge, true)
      const bytes = Buffer.from(/^basic +([A-Za-z0-9+/]+=*)$/i.exec(field)?.[1] ?? '', 'base64')
      // Other bytes would decode to the same text.
      const text = isUtf8(bytes) ? bytes.toString() : ''
      const [, username, password] = /^([^:\p{Cc}]*):(\P{Cc}*)$/u.exec(text) ?? []
      return username === undefined || password === undefined ? invalid() : { username, password }
    }
  }
}

/** A key in a header field, a query parameter or a cookie. */
function apiKey ({ name, in: place }: { name: string, in: string }, realm: string): CredentialReader {
  const kinds: Readonly<Record<string, string>> = { header: 'header field', query: 'query parameter' }
  const where = `the ${kinds[place] ?? 'cookie'} ${name}`
  // RFC 9110, section 15.5.2: a 401 needs a challenge. No scheme is registered for keys.
  const challenge = `ApiKey ${realm}`
  const invalid = () => new Refusal(401, 'The API key is not accepted.', challenge)
  const textsOf = textsIn[place] as NonNullable<typeof textsIn[string]>
  return {
    name: 'API key',
    invalid,
    isHiddenFromCaches: true,
    read (request) {
      const [key, ...more] = textsOf(request).of(name)
      if (more.length > 0) return new Refusal(400, `The API key is sent more than once, in ${where}.`, challenge)
      if (key === undefined) return new Refusal(401, `This operation needs an API key in ${where}.`, challenge, true)
      return decodeText(key, place) || invalid()
    }
  }
}
