// Refuses requests that a proxy in front could read differently: where their body ends, and which host they are for.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIPv6 } from 'node:net'
import type { ServedSocket } from './drain.ts'
import { HttpError } from './http-error.ts'
import { repeatedHeaders } from './request.ts'

/** The first fault of this kind, if there is one. The parser has refused Transfer-Encoding beside Content-Length. */
export function framingFault (request: IncomingMessage): HttpError | undefined {
  const { headers: { host, 'transfer-encoding': coding }, httpVersion, url } = request
  if (coding !== undefined) {
    // RFC 9112, section 6.1: the end of such a body is uncertain, so the connection is closed.
    const headers = { Connection: 'close' }
    if (httpVersion === '1.0') return new HttpError(400, 'HTTP/1.0 has no Transfer-Encoding.', { headers })
    if (coding.toLowerCase() !== 'chunked') {
      return new HttpError(501, 'The only Transfer-Encoding that the service supports is chunked.', { headers })
    }
  }
  if (host === undefined) {
    if (httpVersion === '1.1') return new HttpError(400, 'The request has no Host header field.')
  } else if (!isAuthority(host)) {
    return new HttpError(400, 'The Host header field is not a host name or address with an optional port.')
  }
  if (repeatedHeaders(request).has('host')) return new HttpError(400, 'Host is sent more than once.')
  return url?.startsWith('/') === false ? targetFault(url) : undefined
}

/** A target in absolute form names a host, without user information (RFC 9110, sections 4.2.1 and 4.2.4). */
function targetFault (url: string): HttpError | undefined {
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  if (authority === undefined || (isAuthority(authority) && !/^(?::|$)/.test(authority))) return undefined
  return new HttpError(400, 'The address of the request has no valid host.')
}

/** RFC 3986, section 3.2.2: an address in brackets or a registered name, which may be empty; then an optional port. */
const authorityPattern = /^(?:\[([^\]]+)\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i
const futureAddress = /^v[\da-f]+\.[\w.~!$&'()*+,;=:-]+$/i

function isAuthority (text: string): boolean {
  const match = authorityPattern.exec(text)
  if (match === null) return false
  const [, address] = match
  return address === undefined || futureAddress.test(address) || (isIPv6(address) && !address.includes('%'))
}

/**
 * RFC 9112, section 9.6: after a response with `Connection: close`, further requests are not processed. Once the
 * response is sent, the connection is not read after the first of them: a flood of them would fill the memory.
 */
export function followsLastResponse ({ socket }: IncomingMessage, response: ServerResponse): boolean {
  const { _httpMessage: current, writableEnded } = socket as ServedSocket
  if (writableEnded) socket.pause()
  return writableEnded || (current !== response && current?._last === true)
}
