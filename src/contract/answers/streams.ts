// Sends a body that is a stream.
import type { FastifyReply } from 'fastify'
import { finished, Transform } from 'node:stream'
import type { Readable } from 'node:stream'

/**
 * Fastify answers an error before the first byte, and ends the connection at a later one: the client sees that the body
 * is not complete. It destroys the stream when the client goes away.
 * @param logFault gets an error after the first byte
 */
export function sendStream (body: Readable, reply: FastifyReply, logFault: (fault: Error) => void): void {
  const { raw, request } = reply
  if (request.method === 'HEAD') {
    body.on('error', logFault).destroy()
    reply.send()
    return
  }
  const stream = body.readableObjectMode ? onlyBytes(body) : body
  finished(stream, { writable: false }, error => {
    if (error && raw.headersSent && !raw.destroyed) logFault(error)
  })
  // The metrics count a response when it ends; one that breaks off would never end.
  raw.once('close', () => raw.writableEnded || raw.end())
  reply.send(stream)
}

/** Breaks off at the first value that is neither bytes nor text: the connection would end without a word. */
function onlyBytes (body: Readable): Readable {
  return body.compose(new Transform({
    writableObjectMode: true,
    transform (chunk: unknown, _encoding, done) {
      const isSent = typeof chunk === 'string' || chunk instanceof Uint8Array
      done(isSent ? null : new Error(`a stream has a value of type ${typeof chunk}, which is neither bytes nor text`), chunk)
    }
  }))
}
