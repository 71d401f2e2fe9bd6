// Files and directories of the programs: for their user alone, and directories that survive a power
// cut.
import { closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** From now on nobody else can read what the process creates: the plants and the token. */
export function createPrivately (): void {
  process.umask(process.umask() | 0o077)
}

/**
 * Creates a directory and its parents, and syncs each parent: SQLite syncs only the directory of
 * its files. Node's recursive mkdir never returns where directories cannot be created, as in /proc.
 */
export function makeDirectory (path: string): void {
  const directory = resolve(path)
  if (isDirectory(directory)) return
  makeDirectory(dirname(directory))
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it.
    if (!isDirectory(directory)) throw error
  }
  syncDirectory(dirname(directory))
}

/** Makes the names in a directory survive a power cut. */
export function syncDirectory (path: string): void {
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}

/**
 * A warning about a file whose mode lets every user read or change its secrets; undefined when none
 * may.
 */
export function describeMode (file: string, mode: number, secrets: string): string | undefined {
  const rights: string[] = []
  if ((mode & 0o004) !== 0) rights.push('read')
  if ((mode & 0o002) !== 0) rights.push('change')
  if (rights.length === 0) return undefined
  const octal = (mode & 0o7777).toString(8).padStart(4, '0')
  const users = 'every user of this machine who reaches it'
  return `${file} has the mode ${octal}: ${users} may ${rights.join(' and ')} ${secrets}. ` +
    'Set the mode to 0640 or 0600'
}

function isDirectory (path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
