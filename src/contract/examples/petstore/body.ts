// The body of an operation that accepts several media types.
import { HttpError } from 'fastify-openapi-contract'
import type { Readable } from 'node:stream'

type TypedBody<Value> =
  | { contentType: 'application/xml', body: Readable }
  | { contentType: 'application/json' | 'application/x-www-form-urlencoded', body: Value }

/** JSON and a form have the same schema, so they have the same type. XML is a stream of bytes. */
export function valueOf<Value> (request: TypedBody<Value>): Value {
  if (request.contentType !== 'application/xml') return request.body
  throw new HttpError(415, 'Send JSON or a form: this service reads no XML.')
}
