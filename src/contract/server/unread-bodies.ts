// Keeps Node's parser from a chunked or very long body that nobody reads: a chunk of one byte costs
// it 0.8 microseconds, and a stranger can send a million of them, or a gigabyte, in a second.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { answerEarly, maxRest } from './socket-errors.ts'

/**
 * Passes requests on. After the bytes that come together with the header, a chunked or very long
 * body arrives once it is read. A response that leaves before the end of the body is the last one
 * of the connection.
 */
export function readBodiesWhenWanted (listener: RequestListener): RequestListener {
  return (request, response) => {
    const { 'transfer-encoding': coding, 'content-length': length } = request.headers
    if (coding !== undefined || Number(length) > maxRest) {
      const readOn = pauseUntilRead(request)
      beforeHead(response, () => {
        if (request.complete) return readOn()
        response.shouldKeepAlive = false
        answerEarly(request)
      })
    }
    listener(request, response)
  }
}

/** Returns a function that ends the pause. */
function pauseUntilRead (request: IncomingMessage): () => void {
  const { socket } = request
  const stayPaused = () => socket.writableEnded || socket.pause()
  const readOn = () => {
    Reflect.deleteProperty(request, '_read')
    socket.off('resume', stayPaused)
    socket.resume()
  }
  socket.pause()
  socket.on('resume', stayPaused)
  request._read = size => {
    // Node reads an unread body to its end after the response. Its connection ends instead.
    if (socket.writableEnded) return
    readOn()
    request._read(size)
  }
  return readOn
}

function beforeHead (response: ServerResponse, listener: () => void): void {
  const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse
  response.writeHead = (...args: unknown[]) => {
    listener()
    return writeHead(...args)
  }
}
