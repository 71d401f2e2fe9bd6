// Remembers the tokens that a set of keys has verified: a repeated token costs no signature check.
import type { Principal } from 'fastify-openapi-contract'

export interface AcceptedToken {
  principal: Principal
  scopes: ReadonlySet<string>
  /** Milliseconds since 1970. */
  expiresAt: number
}

/**
 * The tokens used last. The key is the text of the token, not its hash: the lookup among the static
 * tokens has computed V8's hash of the text already, while SHA-256 would cost another microsecond
 * for each request. Only tokens that the issuer signed get in, so a stranger can neither fill this
 * nor choose texts with equal hashes.
 */
export class AcceptedTokens {
  readonly #limit: number
  /** The token that was used last is the last one. */
  readonly #tokens = new Map<string, AcceptedToken>()

  constructor (limit: number) {
    this.#limit = limit
  }

  find (token: string): AcceptedToken | undefined {
    const found = this.#tokens.get(token)
    if (found !== undefined) this.add(token, found)
    return found
  }

  add (token: string, accepted: AcceptedToken): void {
    this.#tokens.delete(token)
    this.#tokens.set(token, accepted)
    const [leastRecent] = this.#tokens.keys()
    if (this.#tokens.size > this.#limit) this.#tokens.delete(leastRecent as string)
  }
}
