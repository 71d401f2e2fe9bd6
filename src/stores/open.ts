// From a DATABASE_URL to a store.
import type { PlantStore } from '../plants/plant-store.ts'
import { groupCommit } from './group-commit.ts'
import type { Engine } from './group-commit.ts'
import { memoryEngine } from './memory.ts'
import { postgresEngine } from './postgres.ts'
import { sqliteEngine } from './sqlite.ts'

/** One line for each form of URL, with the engine that opens it. */
const engines: ReadonlyArray<[form: RegExp, open: (url: string) => Engine | Promise<Engine>]> = [
  [/^memory:$/, () => memoryEngine()],
  [/^sqlite:./, url => sqliteEngine(sqlitePath(url) as string)],
  [/^postgres(?:ql)?:\/\/./, url => postgresEngine(url)]
]

function findEngine (url: string) {
  return engines.find(([form]) => form.test(url))?.[1]
}

/** Whether openStore() knows this form of URL. */
export function isStoreUrl (url: string): boolean {
  return findEngine(url) !== undefined
}

/** The path of the database file in a SQLite URL; undefined for other stores. */
export function sqlitePath (url: string): string | undefined {
  return /^sqlite:(.+)$/s.exec(url)?.[1]
}

/**
 * Opens the store that a URL names: `sqlite:PATH`, `postgres://...` or `memory:`.
 * @throws Error that says why it cannot be opened
 */
export async function openStore (url: string, limits: { maxQueue: number }): Promise<PlantStore> {
  const open = findEngine(url)
  // The URL may contain a password: name only its scheme.
  if (open === undefined) throw new Error(`There is no store for ${url.slice(0, Math.max(0, url.indexOf(':')))}:`)
  return groupCommit(await open(url), limits)
}
