// Sends bodies that are streams, makes streams of iterators, and releases bodies that are not sent.
import type { FastifyReply } from 'fastify'
import { finished, Readable, Transform } from 'node:stream'

/**
 * Fastify answers an error before the first byte, and ends the connection at a later one: the
 * client sees that the body is not complete. It destroys the stream when the client goes away.
 * @param logFault gets an error after the first byte
 */
export function sendStream (
  body: Readable,
  reply: FastifyReply,
  logFault: (fault: Error) => void
): void {
  const { raw, request } = reply
  if (request.method === 'HEAD') {
    discard(body, logFault)
    reply.send()
    return
  }
  const stream = body.readableObjectMode ? bytesOf(body) : body
  finished(stream, { writable: false }, error => {
    if (error && raw.headersSent && !raw.destroyed) logFault(error)
  })
  // The metrics count a response when it ends; one that breaks off would never end.
  raw.once('close', () => raw.writableEnded || raw.end())
  reply.send(stream)
}

/** Fails at the first value that is neither bytes nor text: Node would only end the connection. */
function bytesOf (body: Readable): Readable {
  return body.compose(new Transform({
    writableObjectMode: true,
    transform (chunk: unknown, _encoding, done) {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) return done(null, chunk)
      const value = `a value of type ${typeof chunk}`
      done(new Error(`a stream has ${value}, which is neither bytes nor text`))
    }
  }))
}

/** Releases a body that a handler answered and that is not sent. */
export function discard (body: unknown, onError: (error: Error) => void): void {
  if (body instanceof Readable) body.on('error', onError).destroy()
  else if (isAsyncIterable(body)) endIterator(body[Symbol.asyncIterator]()).catch(onError)
}

export function isAsyncIterable (value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

/** Asynchronous, so that an error of return() is a rejection, too. */
async function endIterator (iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.()
}

interface StreamOptions {
  /** Returns the text of a value, or throws. */
  write: (value: unknown) => string
  /** Called when the stream is read. */
  begin: () => void
  /** Gets the error of an iterator that fails after its stream has ended. */
  onLateError: (error: unknown) => void
}

/**
 * Reads the next value only when the last one is taken. The stream calls the iterator's return()
 * when its reader goes away, and after an error of write().
 */
export function streamOf (values: AsyncIterable<unknown>, options: StreamOptions): Readable {
  const { write, begin, onLateError } = options
  const iterator = values[Symbol.asyncIterator]()
  let isOver = false

  /** An iterator is over after its last value, and after an error. */
  async function pull (stream: Readable): Promise<void> {
    let result: IteratorResult<unknown> | undefined
    try {
      result = await iterator.next()
    } finally {
      isOver = result === undefined || result.done === true
    }
    if (!stream.destroyed) stream.push(result.done === true ? null : write(result.value))
  }

  return new Readable({
    // In bytes: one value fills the buffer.
    highWaterMark: 1,
    read () {
      begin()
      pull(this).catch((error: unknown) => {
        if (this.destroyed) onLateError(error)
        else this.destroy(error instanceof Error ? error : new Error(String(error)))
      })
    },
    destroy (error, done) {
      if (!isOver) endIterator(iterator).catch(onLateError)
      done(error)
    }
  })
}
