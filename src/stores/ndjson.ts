// Reads and writes plants as NDJSON: one plant per line, ids as exact integers.
import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { finished } from 'node:stream/promises'
import type { Writable } from 'node:stream'
import type { NewPlant } from '../plants/plant-store.ts'
import { syncDirectory } from '../private-files.ts'

/** A line that is not a valid plant. */
export interface BadLine { line: number, problem: string }

/** Longest line in bytes: twice the largest BODY_LIMIT. It bounds the memory. */
const maxLineBytes = 32 * 1024 * 1024
const newline = 0x0a

/**
 * Turns the bytes of a line into a plant, or throws an Error whose message describes the problem.
 */
type Parse = (bytes: Buffer) => NewPlant

/**
 * Reads plants from a stream, and continues after a bad line. Counts empty lines, but skips them.
 */
export async function * readPlants (
  stream: AsyncIterable<Buffer>,
  parse: Parse
): AsyncGenerator<NewPlant | BadLine> {
  let line = 0
  for await (const bytes of lines(stream)) {
    line++
    const problem = `The line is longer than ${maxLineBytes} bytes.`
    if (bytes === undefined) yield { line, problem }
    else if (bytes.length > 0) yield parseLine(line, bytes, parse)
  }
}

function parseLine (line: number, bytes: Buffer, parse: Parse): NewPlant | BadLine {
  try {
    return parse(bytes)
  } catch (error) {
    return { line, problem: (error as Error).message }
  }
}

/**
 * Splits a stream into lines of bytes, so that the parser checks UTF-8; undefined for a line that
 * is too long.
 */
async function * lines (stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    let begin = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, begin)) {
      const isTooLong = length + end - begin > maxLineBytes
      rest.push(chunk.subarray(begin, end))
      yield isTooLong ? undefined : trimCarriageReturn(Buffer.concat(rest))
      rest = []
      length = 0
      begin = end + 1
    }
    length += chunk.length - begin
    if (length > maxLineBytes) rest = []
    else rest.push(chunk.subarray(begin))
  }
  if (length > maxLineBytes) yield undefined
  else if (length > 0) yield trimCarriageReturn(Buffer.concat(rest))
}

/** Lines of Windows files end with CR and LF. */
function trimCarriageReturn (bytes: Buffer): Buffer {
  return bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes
}

/** A destination for plants. */
export interface PlantWriter {
  write: (plants: readonly NewPlant[]) => Promise<void>
  /** Completes or discards the output. */
  end: (complete: boolean) => Promise<void>
}

/** Writes to a stream that is not ours to close, such as standard output. */
export function writeTo (stream: Writable): PlantWriter {
  return {
    async write (plants) {
      if (!stream.write(plants.map(toLine).join(''))) await once(stream, 'drain')
    },
    end: async () => { await new Promise<void>(resolve => stream.write('', () => resolve())) }
  }
}

/**
 * Writes a file under another name until it is complete and on the disk. A killed process leaves
 * that file; in a container the next one has the same process id.
 * @throws Error when the file is there already
 */
export function createPlantFile (path: string): PlantWriter {
  const exists = new Error(`${path} already exists: name another file or remove it`)
  if (existsSync(path)) throw exists
  const draft = `${path}.${randomUUID()}.partial`
  const stream = createWriteStream(draft, { flags: 'wx', flush: true })
  const explain = ({ message }: Error) => {
    const wayOut = 'Name another file, or see to its folder and disk'
    throw new Error(`${path} cannot be written: ${message}. ${wayOut}.`)
  }
  const opened = once(stream, 'open').catch(explain)
  opened.catch(() => {})
  return {
    async write (plants) {
      await opened
      await writeTo(stream).write(plants).catch(explain)
    },
    async end (complete) {
      await opened
      try {
        // Also waits until the file is synced.
        await finished(stream.end()).catch(explain)
        // Unlike a rename, a link never replaces the file of another copy.
        if (complete) {
          await link(draft, path).catch(error => { throw error.code === 'EEXIST' ? exists : error })
        }
        syncDirectory(dirname(path))
      } finally {
        await rm(draft)
      }
    }
  }
}

function toLine ({ id, ...plant }: NewPlant): string {
  return `${JSON.stringify({ id, ...plant }, writeInteger)}\n`
}

/** Any member may be an int64. */
function writeInteger (_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value
}
