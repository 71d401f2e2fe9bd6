// Splits multipart/form-data into its parts, as streams.
import { Busboy } from '@fastify/busboy'
import { isUtf8 } from 'node:buffer'
import type { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { isMediaType } from '../message/media-type.ts'
import { HttpError } from '../server/http-error.ts'
import type { FilePart } from '../types/body.ts'

export interface MultipartLimits {
  /** Bytes of one file. By default 100 MiB. */
  fileBytes: number
  /** Fields and files. By default 1,000. */
  parts: number
  /**
   * Bytes that the engine keeps to validate the form: the values of fields, and the names of all
   * parts, also of files and undeclared ones, as JSON texts. By default Fastify's bodyLimit.
   */
  fieldBytes: number
}

/** A part as it was sent. Without a Content-Type it is text/plain (RFC 7578, section 4.4). */
export interface RawPart extends FilePart<string | undefined> { transferEncoding: string }

const malformed =
  'The body is not complete multipart/form-data with the boundary of its Content-Type.'

export const nameless = 'A part of the body is not form data with a name.'

/** Bytes of the header of a part. */
const headerSize = 16 * 1024

/**
 * The parts of a body, in the order sent. While one is read or waits, at most a chunk of it is
 * in memory; asking for the next one drops what is unread of it.
 * @throws HttpError for a body that is malformed, too large or incomplete
 */
export async function * readParts (
  body: Readable,
  contentType: string,
  { fileBytes, parts }: MultipartLimits
): AsyncGenerator<RawPart, void, void> {
  // Every part is a stream here: the schema says which of them are files.
  const limits = { parts, headerSize }
  const headers = { 'content-type': contentType }
  const parser = new Busboy({ headers, isPartAFile: () => true, limits })
  const waiting = new Readable({ objectMode: true, read () {} })
  let feedMore = () => {}
  let latest: Readable | undefined
  const fail = (error: Error) => {
    waiting.destroy(error)
    latest?.destroy(error)
  }
  let unnamed = 0
  const checkNamed = () => {
    if (unnamed > 0) fail(new HttpError(400, nameless))
  }
  partsOf(parser).on('part', () => {
    checkNamed()
    unnamed++
  })
  parser.on('file', (name, stream, filename, transferEncoding, type) => {
    unnamed--
    latest = limited(stream, fileBytes)
    const contentType = isMediaType(type) ? type : 'application/octet-stream'
    waiting.push({ name, file: latest, filename, contentType, transferEncoding })
  })
  parser.on('partsLimit', () => fail(new HttpError(413, `The body has more than ${parts} parts.`)))
  parser.on('error', () => fail(new HttpError(400, malformed)))
  parser.on('finish', () => {
    checkNamed()
    waiting.push(null)
  })
  const feed = async () => {
    for await (const chunk of body) {
      await new Promise(resolve => { parser.write(chunk, resolve) })
      if (waiting.readableLength === 0) continue
      await new Promise<void>(resolve => { feedMore = resolve })
    }
    parser.end()
  }
  feed().catch(fail)
  try {
    for await (const part of waiting as AsyncIterable<RawPart>) {
      if (waiting.readableLength === 0) feedMore()
      yield part
      part.file.destroy()
    }
  } finally {
    body.destroy()
  }
}

/**
 * Emits each part, also one that busboy drops: without `Content-Disposition: form-data`, or with a
 * header that is incomplete or too large. Else it got past `additionalProperties: false`.
 */
function partsOf (parser: InstanceType<typeof Busboy>): EventEmitter {
  // Busboy has no public name for it.
  return (parser as unknown as { _parser: { parser: EventEmitter } })._parser.parser
}

/** A stream that may be destroyed: busboy waits until its own one is read to the end. */
function limited (source: Readable, limit: number): Readable {
  let left = limit
  const tooLarge = `A file in the body is larger than ${limit} bytes.`
  // A Transform with pipe() would take half as much time again for a form of many parts.
  const copy = new Readable({ read: () => { source.resume() } })
  source.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) copy.destroy(new HttpError(413, tooLarge))
    if (!copy.destroyed && !copy.push(chunk)) source.pause()
  })
  source.once('end', () => copy.push(null))
  // Without listeners, an error of a part that nobody reads would end the process.
  copy.on('error', () => {})
  source.on('error', () => {})
  copy.once('close', () => source.resume())
  return copy
}

export function fieldsTooLarge (): HttpError {
  return new HttpError(413, 'The fields of the form are larger than this service accepts.')
}

/** @throws HttpError when the field is not UTF-8, or has more bytes than are left */
export async function readBytes (name: string, file: Readable, bytesLeft: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of file) {
    size += chunk.length
    if (size > bytesLeft) throw fieldsTooLarge()
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  if (!isUtf8(bytes)) throw new HttpError(400, `"${name}" in the body is not valid UTF-8.`)
  return bytes
}
