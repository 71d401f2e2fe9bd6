// Runs one of several programs by its name: `npm run bench -- NAME` and `npm run prove -- NAME`.
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface MenuEntry {
  /** The file to run, from the folder of the project. */
  file: string
  /** One line: what it shows, and how long it takes. */
  shows: string
  /** Arguments before those of the command line. */
  args?: string[]
  env?: Record<string, string>
}

export type Menu = Record<string, MenuEntry>

/**
 * Runs the entry that the command line names in this process, with the other arguments. Without a
 * name, or with an unknown one, it prints the names and sets exit code 2.
 */
export async function runEntry (command: string, menu: Menu): Promise<void> {
  const [name, ...args] = process.argv.slice(2)
  const entry = name === undefined || !Object.hasOwn(menu, name) ? undefined : menu[name]
  if (entry === undefined) {
    printMenu(command, menu, name)
    process.exitCode = 2
    return
  }
  const file = join(resolve(import.meta.dirname, '..'), entry.file)
  // The program reads its own command line.
  process.argv = [process.execPath, file, ...entry.args ?? [], ...args]
  Object.assign(process.env, entry.env)
  await import(pathToFileURL(file).href)
}

function printMenu (command: string, menu: Menu, name: string | undefined): void {
  if (name !== undefined) console.error(`npm run ${command} has no '${name}'.`)
  console.error(`Usage: npm run ${command} -- NAME [OPTION]...\n`)
  const width = Math.max(...Object.keys(menu).map(({ length }) => length))
  for (const [name, { shows }] of Object.entries(menu)) {
    console.error(`${name.padEnd(width)}  ${shows}`)
  }
}
