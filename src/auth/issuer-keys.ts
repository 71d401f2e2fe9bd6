// The issuer's current keys. They are read again in the background, and when a token names an
// unknown key. While the issuer is down, the last keys stay in use for a bounded time.
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from 'jose'
import { isDeepStrictEqual } from 'node:util'
import type { TokenLog } from './token-sources.ts'
import { AcceptedTokens } from './jwt-cache.ts'
import { type Jwk, type JwtSettings, readKeys, WrongDocument } from './issuer.ts'

/** Milliseconds, of a clock that does not follow the wall clock. */
export const keyTimes = {
  /** Until the keys are read again: for so long a token stays valid whose key was removed. */
  refresh: 300_000,
  /** After a read that failed. */
  retry: 2000,
  /** Between reads that tokens cause, so that a flood of unknown keys is no flood of reads. */
  cooldown: 10_000,
  /** For a read, including discovery. */
  timeout: 5000,
  /** For which the last keys are used while the issuer is down. */
  keep: 3_600_000
}

/** RFC 7518, section 3.3. */
const minRsaBits = 2048
/** At most 8 KiB each. */
const maxAcceptedTokens = 1000

/** Keys, and the tokens that they have verified. Changed keys are a new set without tokens. */
export interface KeySet {
  readonly find: JWTVerifyGetKey
  readonly accepted: AcceptedTokens
}

export function createKeySet (keys: readonly Jwk[]): OwnKeySet {
  return { keys, find: keyFinder(keys), accepted: new AcceptedTokens(maxAcceptedTokens) }
}

/** A set with the keys that it consists of. */
type OwnKeySet = KeySet & { readonly keys: readonly Jwk[] }

/** Where a verifier gets the keys: IssuerKeys, or what another thread passes on from it. */
export interface KeySource {
  /** Undefined when no read has succeeded, or the last one too long ago. */
  readonly current: KeySet | undefined
  /** Reads the keys again, unless that was tried a moment ago. Returns the current keys. */
  renew: () => Promise<KeySet | undefined>
}

/** Gets a sentence when a problem of the issuer begins or changes, and when it is over. */
export type KeyReporter = Pick<TokenLog, 'warn' | 'info'>

export class IssuerKeys implements KeySource {
  readonly #settings: JwtSettings
  readonly #reporter: KeyReporter
  readonly #times: typeof keyTimes
  current: OwnKeySet | undefined
  /** Called after a change with the keys of `current`. */
  onChange: (keys: readonly Jwk[] | undefined) => void = () => {}
  #readAt = -Infinity
  #triedAt = -Infinity
  #refreshing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  #problem = ''

  constructor (settings: JwtSettings, reporter: KeyReporter, times = keyTimes) {
    this.#settings = settings
    this.#reporter = reporter
    this.#times = times
  }

  /**
   * Reads the keys. An issuer that is down is only reported: it may start later.
   * @throws Error when the issuer contradicts the configuration
   */
  async open (): Promise<void> {
    const error = await this.#read()
    if (error instanceof WrongDocument) {
      this.close()
      throw new Error(`The keys for JWTs cannot be read: ${error.message}.`)
    }
    this.#report(error)
  }

  close (): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async renew (): Promise<KeySet | undefined> {
    const isCooling = performance.now() - this.#triedAt < this.#times.cooldown
    await (isCooling ? this.#refreshing : this.#refresh())
    return this.current
  }

  #refresh (): Promise<void> {
    this.#refreshing ??= this.#read().then(error => {
      this.#refreshing = undefined
      this.#report(error)
    })
    return this.#refreshing
  }

  async #read (): Promise<Error | undefined> {
    const { timeout, keep, retry, refresh } = this.#times
    const now = performance.now()
    this.#triedAt = now
    let problem: Error | undefined
    try {
      this.#use(await readKeys(this.#settings, timeout))
      this.#readAt = now
    } catch (error) {
      problem = error as Error
      if (now - this.#readAt > keep) this.#use(undefined)
    }
    clearTimeout(this.#timer)
    const delay = problem === undefined ? refresh : retry
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#refresh(), delay).unref()
    return problem
  }

  #use (keys: Jwk[] | undefined): void {
    if (isDeepStrictEqual(keys, this.current?.keys)) return
    this.current = keys && createKeySet(keys)
    this.onChange(keys)
  }

  #report (error: Error | undefined): void {
    const problem = this.#describe(error)
    if (problem === this.#problem) return
    this.#problem = problem
    if (problem === '') this.#reporter.info('The issuer publishes keys for JWTs again.')
    else this.#reporter.warn(problem)
  }

  #describe (error: Error | undefined): string {
    if (error === undefined) {
      const isEmpty = this.current?.keys.length === 0
      return isEmpty ? 'The issuer publishes no keys: every JWT gets 401.' : ''
    }
    const problem = `The keys for JWTs cannot be read: ${error.message}.`
    if (this.current === undefined) {
      const [, wayOut] = waysOut.find(([form]) => form.test(error.message)) as WayOut
      return `${problem} Until they can be read, JWTs get 503. ${wayOut}`
    }
    const minutes = this.#times.keep / 60_000
    return `${problem} The last ones stay in use for up to ${minutes} minutes.`
  }
}

type WayOut = [form: RegExp, sentence: string]

/** By the message, which has the code of Node: the first that matches. */
const waysOut: WayOut[] = [
  [/SELF_SIGNED|UNABLE_TO/, 'Its certificate is of no known authority: name the file of the ' +
    'authority by NODE_EXTRA_CA_CERTS, in the environment and not in .env.'],
  [/CERT_HAS_EXPIRED/, 'The issuer must renew its certificate.'],
  [/CERT_NOT_YET_VALID/, 'Check the clock of this machine (date), and the certificate.'],
  [/ALTNAME_INVALID/, 'Use a name of its certificate in JWT_ISSUER and JWKS_URL.'],
  [/^/, 'Start the issuer, or correct JWT_ISSUER and JWKS_URL.']
]

/** Finds a key by the algorithm and key ID of a header, whose addresses and keys jose ignores. */
function keyFinder (keys: readonly Jwk[]): JWTVerifyGetKey {
  const find = createLocalJWKSet({ keys: [...keys] as Array<Jwk & { kty: string }> })
  return async (header, token) => {
    try {
      const key = await find(header, token)
      const { modulusLength = minRsaBits } = key.algorithm as { modulusLength?: number }
      if (modulusLength < minRsaBits) throw new Error(`it has less than ${minRsaBits} bits`)
      return key
    } catch (error) {
      if (error instanceof errors.JOSEError) throw error
      const { message } = error as Error
      throw new errors.JWKSInvalid(`this key of the issuer cannot be used: ${message}`)
    }
  }
}
