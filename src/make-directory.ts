// Creates directories that survive a power cut.
import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Creates a directory and its parents, and syncs each parent: SQLite syncs only the directory of its files.
 * Node's recursive mkdir never returns where directories cannot be created, as in /proc.
 */
export function makeDirectory (path: string): void {
  const directory = resolve(path)
  if (isDirectory(directory)) return
  makeDirectory(dirname(directory))
  try {
    // For the service alone: SQLite's files are as readable as the operator's umask allows.
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it.
    if (!isDirectory(directory)) throw error
  }
  const parent = openSync(dirname(directory), 'r')
  fsyncSync(parent)
  closeSync(parent)
}

function isDirectory (path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
