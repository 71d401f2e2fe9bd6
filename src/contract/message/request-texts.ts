// Readers of the texts of a request as they were sent: path, query, cookies and header fields.
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../server/http-error.ts'

/**
 * The path of a request target in origin or absolute form (RFC 9112, section 3.2), as it was sent.
 * An address may have a password before the path, and a query or a fragment with a token after it.
 */
export function rawPath ({ url }: Pick<FastifyRequest, 'url'>): string {
  const target = withoutFragment(url)
  const path = target.startsWith('/') ? target : target.replace(/^[^:/?]*:\/\/[^/?]*/, '')
  const end = path.indexOf('?')
  return end < 0 ? path : path.slice(0, end)
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

function queryTexts (request: FastifyRequest): Texts {
  return textsByName(rawQuery(request), '&', name => decodeText(name, 'query'))
}

function rawQuery (request: FastifyRequest): string {
  const [, ...query] = withoutFragment(request.url).split('?')
  return query.join('?')
}

/** A query that is the text of one value; an empty one is none. */
function wholeQuery (request: FastifyRequest): Texts {
  const query = rawQuery(request)
  return { ...noTexts, of: () => query === '' ? [] : [query] }
}

function cookieTexts ({ headers }: FastifyRequest): Texts {
  // The name of a cookie is a token (RFC 6265, section 4.1.1): nothing to decode.
  return textsByName(headers.cookie ?? '', ';', name => name)
}

function sentHeaderTexts ({ raw: { rawHeaders } }: FastifyRequest): Texts {
  const isTextOf = (name: string, index: number) => {
    return index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name.toLowerCase()
  }
  return { ...noTexts, of: name => rawHeaders.filter((_text, index) => isTextOf(name, index)) }
}

/** The texts of one place, by the place's name in the contract (OpenAPI 3.1, section 4.8.12). */
export const textsIn: Readonly<Record<string, (request: FastifyRequest) => Texts>> = {
  query: queryTexts,
  querystring: wholeQuery,
  cookie: cookieTexts,
  header: sentHeaderTexts
}

function textsByName (
  text: string,
  separator: string,
  decodeName: (name: string) => string
): Texts {
  const byName = new Map<string, string[]>()
  for (const pair of text.split(separator)) {
    if (pair.trim() === '') continue
    const end = pair.includes('=') ? pair.indexOf('=') : pair.length
    const name = decodeName(pair.slice(0, end).trimStart())
    const value = pair.slice(end + 1).trimEnd()
    const values = byName.get(name)
    if (values === undefined) byName.set(name, [value])
    else values.push(value)
  }
  return textsFrom(byName)
}

function textsFrom (byName: ReadonlyMap<string, readonly string[]>): Texts {
  return { of: name => byName.get(name) ?? [], names: () => byName.keys() }
}

export const noTexts = textsFrom(new Map())

/**
 * Decodes percent-encoded text (RFC 3986, section 2.1) and, in a query, spaces. Header fields are
 * not encoded.
 */
export function decodeText (text: string, place: string): string {
  if (place === 'header') return text.trim()
  try {
    // Forms send a space as a plus sign.
    return decodeURIComponent(place === 'query' ? text.replaceAll('+', ' ') : text)
  } catch {
    throw new HttpError(400, 'A parameter or a cookie has invalid percent-encoding.')
  }
}
