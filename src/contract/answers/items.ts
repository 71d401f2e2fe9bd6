// Writes bodies that are sequences, item by item: JSON lines, and what events share with them.
import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { linesMark } from '../message/media-type.ts'
import { writeUnchecked } from '../schema/index.ts'
import type { Media } from '../types/contract.ts'
import {
  loneSurrogate, type WriteBody, writeMismatch, type WriterOptions
} from './body-writers.ts'
import { isAsyncIterable, streamOf } from './streams.ts'

/** How the items of a sequence are written. */
export interface ItemFormat {
  /** What the items are, in messages. */
  items: string
  /** Returns the text of a valid item, or throws. */
  write: (item: unknown) => string
  /** Returns the text of an item that breaks the contract. */
  writeInvalid: (item: unknown) => string
  /**
   * Whether the client waits for items: it gets the header before the first one, and then knows
   * that it is connected. Otherwise an error before the first item is answered as an error.
   */
  isLive: boolean
}

/** JSON lines, or JSON texts that begin with a mark (RFC 7464). */
export function linesWriter (type: string, { schema }: Media, options: WriterOptions): WriteBody {
  const write = options.writerOf(schema ?? {})
  const mark = linesMark(type)
  return itemsWriter({
    items: 'JSON values',
    write: item => `${mark}${write(item)}\n`,
    writeInvalid: item => `${mark}${writeUnchecked(item)}\n`,
    isLive: false
  }, options)
}

/** Checks each item, and asks for the next one when the client has taken the last. */
export function itemsWriter (format: ItemFormat, options: WriterOptions): WriteBody {
  const { items, write, writeInvalid, isLive } = format
  const { report, reportAnswer, logFault } = options
  return (body, reply) => {
    if (!isAsyncIterable(body) || isOfBytes(body)) {
      reportAnswer(`with a body that is not an async iterable of ${items}`, reply)
      return writeMismatch(body)
    }
    if (isLive) reply.header('Cache-Control', 'no-cache')
    const stream = streamOf(body, {
      write (item) {
        try {
          const text = write(item)
          if (!text.isWellFormed()) throw loneSurrogate()
          return text
        } catch (error) {
          report(error as Error, reply)
          return writeInvalid(item)
        }
      },
      begin: () => { if (isLive) reply.raw.flushHeaders() },
      onLateError: error => logFault(error as Error, reply.request)
    })
    endWithClient(stream, reply)
    return stream
  }
}

/** A stream of bytes is an iterable, too, but of chunks. */
function isOfBytes (body: unknown): boolean {
  return body instanceof Readable && !body.readableObjectMode
}

/**
 * Closes the connection when the client closes its side. The server allows that, because a
 * response may be on its way; but a client of items is gone, and only the next item would show it.
 */
function endWithClient (stream: Readable, { raw, request }: FastifyReply): void {
  const { socket } = request.raw
  const end = () => raw.destroy()
  socket.once('end', end)
  stream.once('close', () => socket.off('end', end))
}
