// Reads JSON lines and JSON text sequences (RFC 7464) value by value, as they arrive.
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { linesMark } from '../message/media-type.ts'
import { HttpError } from '../server/http-error.ts'

/** Lines until other requests get a turn: a chunk may have tens of thousands. */
const linesPerTurn = 64

/**
 * Returns a function from a body to its values. Each is read when it is asked for.
 * @param read returns the valid value of a line, or throws an error that says where it is
 * @param lineBytes limits what is in memory at a time
 */
export function linesReader (
  type: string,
  read: (line: Buffer, where: string) => unknown,
  lineBytes: number
): (body: Readable) => AsyncGenerator<unknown, void, void> {
  const mark = linesMark(type)
  const unit = mark === '' ? 'line' : 'value'
  return async function * (body) {
    // A mark is before its value: nothing is before the first mark.
    let index = mark === '' ? 1 : 0
    for await (const line of splitBody(body, mark || '\n', lineBytes)) {
      if (!isBlank(line)) yield read(line, `${unit} ${index} of the body`)
      index++
      if (index % linesPerTurn === 0) await setImmediate()
    }
  }
}

async function * splitBody (
  body: Readable,
  separator: string,
  lineBytes: number
): AsyncGenerator<Buffer, void, void> {
  let parts: Buffer[] = []
  let bytesLeft = lineBytes
  const add = (part: Buffer) => {
    parts.push(part)
    bytesLeft -= part.length
    if (bytesLeft < 0) {
      throw new HttpError(413, `A line of the body is larger than ${lineBytes} bytes.`)
    }
  }
  for await (const chunk of body as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(separator); end >= 0; end = chunk.indexOf(separator, start)) {
      add(chunk.subarray(start, end))
      yield Buffer.concat(parts)
      parts = []
      bytesLeft = lineBytes
      start = end + 1
    }
    add(chunk.subarray(start))
  }
  yield Buffer.concat(parts)
}

const whiteSpace = Buffer.from(' \t\n\r')

/** Whether there is nothing but white space of JSON (RFC 8259, section 2). */
function isBlank (line: Buffer): boolean {
  return line.every(byte => whiteSpace.includes(byte))
}
