// `x-signed: true` of an operation: the sender signs the bytes of the body, as webhooks do. A
// verifier runs before the body is read, so this hook compares the signature at its end.
import type { preParsingHookHandler } from 'fastify'
import { HttpError } from 'fastify-openapi-contract'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { pipeline, Transform } from 'node:stream'

/** For bodies that are read whole, such as JSON: a handler of a stream runs before the end. */
export function signatureHook (secret: string): preParsingHookHandler {
  return (request, _reply, payload, done) => {
    const hmac = createHmac('sha256', secret)
    const bytes = new Transform({
      transform (chunk, _encoding, next) {
        hmac.update(chunk)
        next(null, chunk)
      },
      flush (next) {
        const expected = hmac.digest()
        const given = Buffer.from(String(request.headers['x-signature-256']), 'hex')
        const fits = given.length === expected.length && timingSafeEqual(given, expected)
        next(fits ? null : new HttpError(403, 'The signature does not fit the body.'))
      }
    })
    // The reader of the body gets the error of either stream.
    pipeline(payload, bytes, () => {})
    done(null, bytes)
  }
}
