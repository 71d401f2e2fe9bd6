// Whether a write-ahead log belongs to the present state of its file. SQLite merges any log that is
// beside a file, also one that somebody has put back: its pages would replace newer ones.
import { closeSync, openSync, readSync } from 'node:fs'

/** Bytes of the header of the log, and of the header of each page in it. */
const headerSizes = { log: 32, page: 24 }

/** The first and the last change counter that the log gives the file. */
export interface LoggedCounters { first: number, last: number }

/**
 * Whether the file is what it was when the log began, or has pages of the log by now. A connection
 * writes the change counter of its start and one more, so that logs of one connection look alike.
 * @param counter the file change counter in the header of the file
 */
export function isOfFile ({ first, last }: LoggedCounters, counter: number): boolean {
  return first - 1 <= counter && counter <= last
}

/**
 * Reads the change counters in the committed copies of the first page. See "The WAL File Format" in
 * "Database File Format" of SQLite.
 * @returns undefined when no commit in the log has the first page
 */
export function readCounters (log: string): LoggedCounters | undefined {
  const descriptor = openSync(log, 'r')
  try {
    return countersOf(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function countersOf (descriptor: number): LoggedCounters | undefined {
  const header = new DataView(new ArrayBuffer(headerSizes.log))
  if (readSync(descriptor, header) < headerSizes.log) return undefined
  const isLittleEndian = header.getUint32(0) === 0x377f0682
  const salt = header.getBigUint64(16)
  const sums = new Checksums(isLittleEndian)
  sums.add(header, 0, 24)
  if (!sums.areAt(header, 24)) return undefined
  const frame = new DataView(new ArrayBuffer(headerSizes.page + header.getUint32(8)))
  let counters: LoggedCounters | undefined
  let uncommitted: LoggedCounters | undefined
  // Whatever is behind the first page that is not whole, was not committed.
  while (readSync(descriptor, frame) === frame.byteLength && frame.getBigUint64(8) === salt) {
    sums.add(frame, 0, 8)
    sums.add(frame, headerSizes.page, frame.byteLength)
    if (!sums.areAt(frame, 16)) break
    if (frame.getUint32(0) === 1) {
      const last = frame.getUint32(headerSizes.page + 24)
      uncommitted = { first: uncommitted?.first ?? last, last }
    }
    if (frame.getUint32(4) !== 0) counters = uncommitted
  }
  return counters
}

/** The sums of all that is in the log so far. */
class Checksums {
  readonly #isLittleEndian: boolean
  #first = 0
  #second = 0

  constructor (isLittleEndian: boolean) {
    this.#isLittleEndian = isLittleEndian
  }

  add (bytes: DataView, start: number, end: number): void {
    const read = (at: number) => bytes.getUint32(at, this.#isLittleEndian)
    for (let at = start; at < end; at += 8) {
      this.#first = (this.#first + read(at) + this.#second) >>> 0
      this.#second = (this.#second + read(at + 4) + this.#first) >>> 0
    }
  }

  /** Whether they are written there. */
  areAt (bytes: DataView, start: number): boolean {
    return bytes.getUint32(start) === this.#first && bytes.getUint32(start + 4) === this.#second
  }
}
