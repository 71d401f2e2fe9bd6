// Access tokens and their scopes. A service with an authorization server verifies a JWT here.
import type { TokenVerifier } from 'fastify-openapi-contract'

export interface Access { name: string, scopes: readonly string[] }

/** The engine answers 401 for `undefined`, and 403 with the missing scopes for `'forbidden'`. */
export function tokenVerifier (tokens: ReadonlyMap<string, Access>): TokenVerifier {
  return (token, scopes) => {
    const access = tokens.get(token)
    if (access === undefined) return undefined
    return scopes.every(scope => access.scopes.includes(scope)) ? access : 'forbidden'
  }
}
