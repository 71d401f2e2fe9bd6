// A client of raw bytes: it splits them anywhere, ends the connection in several ways and notices a
// server that hangs.
import { connect } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

export interface Reply { status: number, headers: Readonly<Record<string, string>>, body: string }

/**
 * The client sends FIN after its last byte, or FIN after the server's time limits, or RST after its
 * last byte.
 */
export type Ending = 'halfClose' | 'stay' | 'reset'

export interface Visit {
  replies: Reply[]
  /**
   * The server closed the connection while the client still sent: TCP then drops what the client
   * has not yet read.
   */
  wasReset: boolean
  /** Why the connection hung; undefined if it did not. */
  hung: string | undefined
}

/** Time limits of the server, with some time to spare. */
export interface Limits {
  /** For the answer to a request that is incomplete. */
  answerMs: number
  /** For the end of a connection after the client's end. */
  closeMs: number
}

/** Sends the pieces, each character as one byte, and reads until the connection ends. */
export async function visit (
  port: number,
  pieces: string[],
  ending: Ending,
  { answerMs, closeMs }: Limits
): Promise<Visit> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  let received = ''
  let isClosed = false
  socket.setEncoding('latin1').on('data', text => { received += text }).on('end', () => socket.end())
  let wasReset = false
  socket.on('error', () => { wasReset = true })
  const closed = Promise.withResolvers<void>()
  socket.on('close', () => {
    isClosed = true
    closed.resolve()
  })
  const closesWithin = async (ms: number) => {
    const timer = new AbortController()
    await Promise.race([closed.promise, sleep(ms, undefined, { signal: timer.signal }).catch(() => {})])
    timer.abort()
    return isClosed
  }
  await new Promise(resolve => socket.once('connect', resolve).once('error', resolve))
  for (const piece of pieces) {
    if (!socket.writable) break
    socket.write(piece, 'latin1')
    // Each piece has its own turn, and arrives alone.
    if (pieces.length > 1) await nextTurn()
  }
  if (ending === 'reset') socket.resetAndDestroy()
  // A connection that is idle may stay open; no request may wait for an answer then.
  if (ending === 'stay') await closesWithin(answerMs)
  const inTime = received
  if (ending !== 'reset') socket.end()
  const didClose = await closesWithin(closeMs)
  socket.destroy()
  const isLate = ending === 'stay' && received !== inTime
  const unanswered = isLate ? `An incomplete request was not answered within ${answerMs} ms.` : undefined
  return {
    replies: parseReplies(received),
    wasReset,
    hung: didClose ? unanswered : `The connection was open ${closeMs} ms after the client's end.`
  }
}

/**
 * A response to HEAD has a Content-Length but no body, so the next response may follow its header
 * at once.
 */
function parseReplies (text: string): Reply[] {
  const replies: Reply[] = []
  while (text !== '') {
    const [head, status, fields = ''] = /^HTTP\/1\.1 (\d{3})[^\r]*((?:\r\n[^\r]+)*)\r\n\r\n/.exec(text) ?? []
    if (head === undefined) throw new Error(`The server sent what is not HTTP: ${JSON.stringify(text.slice(0, 200))}`)
    const headers = Object.fromEntries(fields.split('\r\n').slice(1).map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }))
    text = text.slice(head.length)
    const length = text.startsWith('HTTP/1.1 ') ? 0 : Number(headers['content-length'] ?? 0)
    replies.push({ status: Number(status), headers, body: Buffer.from(text.slice(0, length), 'latin1').toString() })
    text = text.slice(length)
  }
  return replies
}
