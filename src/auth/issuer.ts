// Reads the public keys of the issuer of JWTs over HTTPS: its discovery document, and the key set
// that it names.

/** What JWT_ISSUER, JWT_AUDIENCE and JWKS_URL say. */
export interface JwtSettings {
  /** `iss` of every token, character by character. */
  issuer: string
  /** This service in `aud`. */
  audience: string
  /** Address of the key set; by default the one in the discovery document. */
  jwksUrl: string | undefined
}

/** A member of a key set (RFC 7517, section 4), not validated. */
export type Jwk = Readonly<Record<string, unknown>>

/** Largest document in bytes, after decompression. */
const maxDocument = 256 * 1024

/** The issuer answered, but not with what JWT_ISSUER and JWKS_URL say: waiting changes nothing. */
export class WrongDocument extends Error {}

/**
 * Checks an address from which keys may be read: who can change the answer can sign tokens.
 * @throws Error whose message completes a sentence that starts with the name of the variable
 */
export function checkKeyUrl (text: string): string {
  // URL.parse() ignores blanks at both ends.
  const url = /\s/.test(text) ? null : URL.parse(text)
  const isHttp = url?.protocol === 'http:' && isLoopback(url.hostname)
  if (url === null || !(isHttp || url.protocol === 'https:')) {
    throw new Error('must be an https address; http is allowed only for localhost')
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('must not have a user or a password')
  }
  return text
}

/**
 * Checks an issuer whose keys are found by discovery (RFC 8414, section 2).
 * @throws Error whose message completes a sentence that starts with the name of the variable
 */
export function checkIssuerUrl (text: string): string {
  checkKeyUrl(text)
  if (/[?#]/.test(text)) throw new Error('must not have ? or #')
  return text
}

function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(?:\.\d+){3}$/.test(host)
}

/**
 * Reads the issuer's keys.
 * @throws WrongDocument, or another Error when the issuer does not answer as it should
 */
export async function readKeys (settings: JwtSettings, timeoutMs: number): Promise<Jwk[]> {
  const signal = AbortSignal.timeout(timeoutMs)
  const url = settings.jwksUrl ?? await discoverKeyUrl(settings.issuer, signal)
  const { keys } = await readDocument(url, signal)
  if (!Array.isArray(keys) || !keys.every(isObject)) {
    throw new WrongDocument(`${withoutQuery(url)} is not a key set (RFC 7517)`)
  }
  return keys
}

/** OpenID Connect Discovery 1.0, sections 4.1 to 4.3. */
async function discoverKeyUrl (issuer: string, signal: AbortSignal): Promise<string> {
  const place = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const found = await readDocument(place, signal)
  if (found.issuer !== issuer) {
    const names = `the issuer ${JSON.stringify(found.issuer)}, but JWT_ISSUER is "${issuer}"`
    throw new WrongDocument(`${place} names ${names}: they must be equal`)
  }
  if (found.jwks_uri === undefined) throw new WrongDocument(`${place} has no jwks_uri`)
  try {
    return checkKeyUrl(String(found.jwks_uri))
  } catch (error) {
    throw new WrongDocument(`jwks_uri in ${place} ${(error as Error).message}`)
  }
}

/** Follows no redirect: it could lead to http or into the internal network. */
async function readDocument (url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  try {
    const headers = { Accept: 'application/json' }
    const response = await fetch(url, { redirect: 'manual', signal, headers })
    if (response.status !== 200 || response.body === null) {
      throw new Error(`the status is ${response.status}`)
    }
    const document: unknown = JSON.parse(await readText(response.body))
    if (isObject(document)) return document
  } catch (error) {
    throw new Error(`${withoutQuery(url)}: ${reasonOf(error)}`)
  }
  throw new WrongDocument(`${withoutQuery(url)} is not a JSON object`)
}

/** The query of JWKS_URL may have a key. */
function withoutQuery (url: string): string {
  return url.replace(/[?#].*$/, '')
}

async function readText (body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxDocument) throw new Error(`it is larger than ${maxDocument} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** `fetch` hides the reason in the cause. V8's message for bad JSON quotes the text. */
function reasonOf (error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON'
  const { message, cause } = error as Error & { cause?: { code?: string, message: string } }
  return cause?.code ?? cause?.message ?? message
}

function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
