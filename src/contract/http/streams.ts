// Sends a body that is a stream.
import type { FastifyReply } from 'fastify'
import { finished } from 'node:stream'
import type { Readable } from 'node:stream'

/**
 * Fastify answers an error before the first byte, and ends the connection at a later one: the client sees that the body
 * is not complete. It destroys the stream when the client goes away.
 * @param logFault gets an error after the first byte
 */
export function sendStream (stream: Readable, reply: FastifyReply, logFault: (fault: Error) => void): void {
  const { raw, request } = reply
  if (request.method === 'HEAD') {
    stream.on('error', logFault).destroy()
    reply.send()
    return
  }
  finished(stream, { writable: false }, error => {
    if (error && raw.headersSent && !raw.destroyed) logFault(error)
  })
  // The metrics count a response when it ends; one that breaks off would never end.
  raw.once('close', () => raw.writableEnded || raw.end())
  reply.send(stream)
}
