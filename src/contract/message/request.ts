// The fields that hooks add to requests, and readers of the raw path, headers, query and cookies.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { IncomingMessage } from 'node:http'
import type { Principals } from '../handler.ts'
import { HttpError } from '../../server/http-error.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the handler gets beside body and callers: parameters by place, the body's contentType, and `accept`. */
    parameters?: Readonly<Record<string, unknown>>
    /** Who is calling, once the operation's hooks have authenticated the request. */
    principals?: Principals
    /** Refusals of the security schemes so far. */
    refusals?: Error[]
    /** Names of the header fields that were sent more than once, in lower case. */
    readonly repeatedHeaders: ReadonlySet<string>
  }
}

export function decorateRequests (app: FastifyInstance): void {
  for (const field of ['parameters', 'principals', 'refusals']) app.decorateRequest(field)
  app.decorateRequest('repeatedHeaders', { getter () { return repeatedHeaders(this.raw) } })
}

export function refusalsOf (request: FastifyRequest): Error[] {
  request.refusals ??= []
  return request.refusals
}

/** The identities of the callers, one for each security scheme; undefined for an anonymous caller. */
export function identityOf ({ principals = {} }: Pick<FastifyRequest, 'principals'>): string | undefined {
  const [first, ...others] = Object.values(principals).map(principal => principal?.id ?? principal?.name)
  return others.length === 0 ? first : [first, ...others].join('\n')
}

/** The names of the callers, one for each security scheme; undefined for an anonymous caller. */
export function callerOf ({ principals = {} }: Pick<FastifyRequest, 'principals'>): string | undefined {
  return Object.values(principals).map(principal => principal?.name).join(' ') || undefined
}

const noNames: ReadonlySet<string> = new Set()

/** Node keeps one line of some header fields and joins the lines of others, so `headers` does not show repetitions. */
export function repeatedHeaders ({ rawHeaders, headers }: IncomingMessage): ReadonlySet<string> {
  if (rawHeaders.length === 2 * Object.keys(headers).length) return noNames
  const names = rawHeaders.filter((_text, index) => index % 2 === 0).map(name => name.toLowerCase())
  const seen = new Set<string>()
  return new Set(names.filter(name => seen.size === seen.add(name).size))
}

/**
 * The path of a request target in origin or absolute form (RFC 9112, section 3.2), as it was sent. An address may have
 * a password before the path, and a query or a fragment with a token after it.
 */
export function rawPath ({ url }: Pick<FastifyRequest, 'url'>): string {
  return withoutFragment(url).replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*$/s, '')
}

/** No request has a fragment (RFC 9112, section 3.2); what looks like one is not read. */
function withoutFragment (url: string): string {
  const start = url.indexOf('#')
  return start < 0 ? url : url.slice(0, start)
}

/** The decoded path. */
export function decodedPath (request: FastifyRequest): string {
  return decodeURI(rawPath(request))
}

/** The raw texts of one place, by name and in order. */
export interface Texts {
  of (name: string): readonly string[]
  /** The names of a query or of cookies. */
  names (): Iterable<string>
}

export function queryTexts (request: FastifyRequest): Texts {
  return textsByName(withoutFragment(request.url).split('?').slice(1).join('?'), '&', name => decodeText(name, 'query'))
}

export function cookieTexts ({ headers }: FastifyRequest): Texts {
  // The name of a cookie is a token (RFC 6265, section 4.1.1): nothing to decode.
  return textsByName(headers.cookie ?? '', ';', name => name)
}

export function headerTexts ({ raw: { rawHeaders } }: FastifyRequest): Texts {
  const isTextOf = (name: string, index: number) => {
    return index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name.toLowerCase()
  }
  return { ...noTexts, of: name => rawHeaders.filter((_text, index) => isTextOf(name, index)) }
}

/** The texts of one place, by the place's name in the contract (OpenAPI 3.1, section 4.8.12). */
export const textsIn: Readonly<Record<string, (request: FastifyRequest) => Texts>> = {
  query: queryTexts,
  cookie: cookieTexts,
  header: headerTexts
}

function textsByName (text: string, separator: string, decodeName: (name: string) => string): Texts {
  const sent = text.split(separator).filter(pair => pair.trim() !== '')
  const pairs = Map.groupBy(sent.map(pair => {
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length
    return { name: decodeName(pair.slice(0, end).trimStart()), value: pair.slice(end + 1).trimEnd() }
  }), ({ name }) => name)
  return textsFrom(new Map(Array.from(pairs, ([name, ofName]) => [name, ofName.map(({ value }) => value)])))
}

export function textsFrom (byName: ReadonlyMap<string, readonly string[]>): Texts {
  return { of: name => byName.get(name) ?? [], names: () => byName.keys() }
}

export const noTexts = textsFrom(new Map())

/** Decodes percent-encoded text (RFC 3986, section 2.1) and, in a query, spaces. Header fields are not encoded. */
export function decodeText (text: string, place: string): string {
  if (place === 'header') return text.trim()
  try {
    // Forms send a space as a plus sign.
    return decodeURIComponent(place === 'query' ? text.replaceAll('+', ' ') : text)
  } catch {
    throw new HttpError(400, 'A parameter or a cookie has invalid percent-encoding.')
  }
}
