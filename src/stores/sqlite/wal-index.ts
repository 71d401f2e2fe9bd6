// The index of the log, which all processes that use the database share in its -shm file.
import { readSync } from 'node:fs'

/**
 * The start of the shared index; see "WAL-Index File Format" of SQLite. Its words have the order of
 * the machine.
 */
export interface WalIndex {
  /** Pages in the log. */
  pages: number
  /** Pages in the database; 0 when the log was opened empty. */
  total: number
  /** Changes when the log starts again. */
  salt: number
  /** Pages of the log that are in the file by now, and pages that a checkpoint began to write. */
  merged: number
  attempted: number
}

const words = new Uint32Array(33)

export function readIndex (descriptor: number): WalIndex {
  readSync(descriptor, words, { position: 0 })
  const read = (index: number) => words[index] as number
  return { pages: read(4), total: read(5), salt: read(8), merged: read(24), attempted: read(32) }
}

/** The size that the log has at least: a header of 32 bytes, and 24 more bytes for each page. */
export function logBytes ({ pages }: WalIndex, pageSize: number): number {
  return pages === 0 ? 0 : 32 + pages * (pageSize + 24)
}

export function isPartlyMerged ({ merged, pages }: WalIndex): boolean {
  return merged > 0 && merged !== pages
}
