// Reads the credentials of each kind of security scheme and writes its challenges (OpenAPI 3.1,
// section 4.8.27).
import type { FastifyRequest } from 'fastify'
import { isUtf8 } from 'node:buffer'
import type { BasicCredentials } from '../types/handler.ts'
import type { SecurityScheme } from '../types/contract.ts'
import { repeatedHeaders } from '../server/framing.ts'
import { HttpError } from '../server/http-error.ts'
import { decodeText, textsIn } from '../message/request-texts.ts'

/** Why a scheme refuses a request. */
export class Refusal extends HttpError {
  /** The request has no credentials of this scheme, which the message only names. */
  readonly isMissing: boolean

  constructor (status: 400 | 401 | 403, message: string, challenge?: string, isMissing = false) {
    super(status, message, challenge === undefined ? {} : withChallenge(challenge))
    this.isMissing = isMissing
  }
}

export function withChallenge (challenge: string) {
  return { headers: { 'WWW-Authenticate': challenge } }
}

/** Reads one kind of credentials. */
export interface CredentialReader {
  /** Name in error messages. */
  name: string
  /** What a request without them lacks, for a message. */
  needs: string
  read: (request: FastifyRequest) => string | BasicCredentials | Refusal
  /** The refusal of credentials that are not accepted, also of malformed ones. */
  invalid: () => Refusal
  /** The challenge for credentials without the scopes that an operation needs. */
  insufficientScopeChallenge?: (scopes: readonly string[]) => string
  /** Credentials outside Authorization: shared caches do not see them (RFC 9111, section 3.5). */
  isHiddenFromCaches?: boolean
}

export function credentialReader (scheme: SecurityScheme, realm: string): CredentialReader {
  const parameter = `realm=${quoted(realm)}`
  if (scheme.type === 'apiKey') return apiKey(scheme, parameter)
  return scheme.scheme?.toLowerCase() === 'basic' ? basic(parameter) : bearer(parameter)
}

/** A quoted-string (RFC 9110, section 5.6.4). */
function quoted (realm: string): string {
  if (/^[ -~]*$/.test(realm)) return `"${realm.replace(/["\\]/g, '\\$&')}"`
  const name = JSON.stringify(realm)
  throw new Error(`The realm ${name} must have only printable characters of ASCII.`)
}

const repeatedMessage = 'Authorization is sent more than once.'

/** RFC 6750, section 2.1. The name of a scheme has any case (RFC 9110, section 11.1). */
const bearerForm = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i
/** One word after the scheme: a comma or a second word would mean several credentials. */
const bearerWord = /^bearer +[^ \t,]+$/i
const bearerName = /^bearer(?![\w!#$%&'*+.^`|~-])/i

/** `Authorization: Bearer <token>` (RFC 6750, section 2.1), also for oauth2 and openIdConnect. */
function bearer (realm: string): CredentialReader {
  // RFC 6750 section 3.1: a request without credentials gets a bare challenge, no error code.
  const challenge = `Bearer ${realm}`
  const withError = (code: string) => `${challenge}, error="${code}"`
  const needs = 'a bearer token: Authorization: Bearer <token>'
  const malformed = 'Authorization must have the form "Bearer <token>", with one token.'
  const invalid = () => {
    return new Refusal(401, 'The bearer token is not accepted.', withError('invalid_token'))
  }
  return {
    name: 'bearer token',
    needs,
    invalid,
    insufficientScopeChallenge (scopes) {
      // RFC 6749 section 3.3. The roles of an http scheme may have other characters (OpenAPI 3.1,
      // section 4.8.30).
      const areScopes = scopes.length > 0 && scopes.every(scope => /^[!#-[\]-~]+$/.test(scope))
      const scope = areScopes ? `, scope="${scopes.join(' ')}"` : ''
      return withError('insufficient_scope') + scope
    },
    read (request) {
      if (repeatedHeaders(request.raw).has('authorization')) {
        return new Refusal(400, repeatedMessage, withError('invalid_request'))
      }
      const field = request.headers.authorization ?? ''
      const token = bearerForm.exec(field)?.[1]
      if (token !== undefined) return token
      if (!bearerName.test(field)) return new Refusal(401, needs, challenge, true)
      // Section 3.1: a malformed token is invalid_token, a missing or repeated one invalid_request.
      if (bearerWord.test(field)) return invalid()
      return new Refusal(400, malformed, withError('invalid_request'))
    }
  }
}

/** `Authorization: Basic <base64 of name:password>` (RFC 7617, section 2). */
function basic (realm: string): CredentialReader {
  const challenge = `Basic ${realm}, charset="UTF-8"`
  const needs = 'a name and a password: Authorization: Basic <base64 of name:password>'
  const invalid = () => new Refusal(401, 'The name and password are not accepted.', challenge)
  return {
    name: 'name and password',
    needs,
    invalid,
    read ({ headers, raw }) {
      if (repeatedHeaders(raw).has('authorization')) {
        return new Refusal(400, repeatedMessage, challenge)
      }
      const field = headers.authorization ?? ''
      if (!/^basic(?![\w!#$%&'*+.^`|~-])/i.test(field)) {
        return new Refusal(401, needs, challenge, true)
      }
      const bytes = Buffer.from(/^basic +([A-Za-z0-9+/]+=*)$/i.exec(field)?.[1] ?? '', 'base64')
      // Other bytes would decode to the same text.
      const text = isUtf8(bytes) ? bytes.toString() : ''
      const [, username, password] = /^([^:\p{Cc}]*):(\P{Cc}*)$/u.exec(text) ?? []
      const isComplete = username !== undefined && password !== undefined
      return isComplete ? { username, password } : invalid()
    }
  }
}

const placeNames: Readonly<Record<string, string>> = {
  header: 'header field', query: 'query parameter', cookie: 'cookie'
}

/** A key in a header field, a query parameter or a cookie. */
function apiKey (scheme: SecurityScheme, realm: string): CredentialReader {
  const { name, in: place } = scheme as { name: string, in: string }
  const where = `in the ${placeNames[place]} ${name}`
  const needs = `an API key ${where}`
  // RFC 9110, section 15.5.2: a 401 needs a challenge. No scheme is registered for keys.
  const challenge = `ApiKey ${realm}`
  const invalid = () => new Refusal(401, 'The API key is not accepted.', challenge)
  const textsOf = textsIn[place] as NonNullable<typeof textsIn[string]>
  return {
    name: 'API key',
    needs,
    invalid,
    isHiddenFromCaches: true,
    read (request) {
      const [key, ...more] = textsOf(request).of(name)
      if (more.length > 0) {
        return new Refusal(400, `The API key is sent more than once, ${where}.`, challenge)
      }
      if (key !== undefined) return decodeText(key, place) || invalid()
      return new Refusal(401, needs, challenge, true)
    }
  }
}
