// Finds requests that a proxy in front could read differently: whether they have a body, where it
// ends, and which host they are for.
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { HttpError } from './http-error.ts'

const close = { headers: { Connection: 'close' } }

export const unknownVersion =
  new HttpError(505, 'The service supports HTTP/1.1 and HTTP/1.0.', close)

/**
 * The first fault of this kind, if there is one. Node's parser finds Transfer-Encoding beside
 * Content-Length.
 */
export function framingFault (request: IncomingMessage): HttpError | undefined {
  const { headers: { host, expect, 'transfer-encoding': coding }, httpVersion, url } = request
  // Node's parser admits 0.9 and 2.0, and reads them as 1.1.
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return unknownVersion
  // RFC 9110, section 10.1.1: HTTP/1.0 has no expectations. Node admits lists with 100-continue.
  if (expect !== undefined && httpVersion === '1.1' && !/^100-continue$/i.test(expect)) {
    return new HttpError(417, 'The service supports only Expect: 100-continue.', close)
  }
  if (coding !== undefined) {
    // RFC 9112, section 6.1: the end of such a body is uncertain, so the connection is closed.
    if (httpVersion === '1.0') {
      return new HttpError(400, 'HTTP/1.0 has no Transfer-Encoding.', close)
    }
    if (coding.toLowerCase() !== 'chunked') {
      const message = 'The only Transfer-Encoding that the service supports is chunked.'
      return new HttpError(501, message, close)
    }
  }
  if (host === undefined) {
    if (httpVersion === '1.1') return new HttpError(400, 'The request has no Host header field.')
  } else if (!isAuthority(host)) {
    const rule = 'is not a host name or address with an optional port'
    return new HttpError(400, `The Host header field ${rule}.`)
  }
  if (repeatedHeaders(request).has('host')) {
    return new HttpError(400, 'Host is sent more than once.')
  }
  return url?.startsWith('/') === false ? targetFault(url) : undefined
}

/**
 * A target in absolute form names a host, without user information (RFC 9110, sections 4.2.1 and
 * 4.2.4).
 */
function targetFault (url: string): HttpError | undefined {
  // Of OPTIONS.
  if (url === '*') return undefined
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  if (authority === undefined) {
    return new HttpError(400, 'The address of the request is neither a path nor one of HTTP.')
  }
  if (isAuthority(authority) && !/^(?::|$)/.test(authority)) return undefined
  return new HttpError(400, 'The address of the request has no valid host.')
}

/**
 * RFC 3986, section 3.2.2: an address in brackets or a registered name, which may be empty; then an
 * optional port.
 */
const authorityPattern = /^(?:\[([^\]]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i
const futureAddress = /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i

function isAuthority (text: string): boolean {
  const match = authorityPattern.exec(text)
  if (match === null) return false
  const [, address] = match
  if (address === undefined || futureAddress.test(address)) return true
  return isIPv6(address) && !address.includes('%')
}

/**
 * RFC 9112, section 9.6: after a response with `Connection: close`, further requests are not
 * processed. The connection is not read after the first of them: a flood would fill the memory.
 */
export function followsLastResponse ({ socket }: IncomingMessage): boolean {
  if (socket.writableEnded) socket.pause()
  return socket.writableEnded
}

const noNames: ReadonlySet<string> = new Set()

/**
 * The names of the header fields that were sent more than once, in lower case. Node keeps one line
 * of some fields and joins the lines of others, so `headers` does not show repetitions.
 */
export function repeatedHeaders ({ rawHeaders, headers }: IncomingMessage): ReadonlySet<string> {
  if (rawHeaders.length === 2 * Object.keys(headers).length) return noNames
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase()
    if (seen.has(name)) repeated.add(name)
    seen.add(name)
  }
  return repeated
}
