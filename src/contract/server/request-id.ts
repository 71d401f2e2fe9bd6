// The id of a request, by which a caller's complaint finds its line in the log.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export const requestIdField = 'X-Request-Id'

/** Ids that logs, header fields and addresses need not escape, such as UUIDs and base64. */
const wellFormed = /^[\w.~+/=:@-]{1,128}$/

const idOf = Symbol('the id of a request')

/**
 * The id that the request brings in X-Request-Id, or a new one, which is unique in all threads and
 * after a restart. It is the same in each call.
 */
export function requestId (
  request: Pick<IncomingMessage, 'headers'> & { [idOf]?: string }
): string {
  const sent = request.headers['x-request-id']
  request[idOf] ??= typeof sent === 'string' && wellFormed.test(sent) ? sent : randomUUID()
  return request[idOf]
}
