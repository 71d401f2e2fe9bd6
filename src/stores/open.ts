// Opens the store that DATABASE_URL names.
import type { PlantStore } from '../plants/plant-store.ts'
import { groupCommit } from './group-commit.ts'
import type { Engine } from './group-commit.ts'
import { memoryEngine } from './memory.ts'
import { postgresEngine } from './postgres/engine.ts'
import { sqliteEngine } from './sqlite.ts'

/** The engine for each form of URL. */
const engines: ReadonlyArray<[form: RegExp, open: (url: string) => Engine | Promise<Engine>]> = [
  [/^memory:$/, () => memoryEngine()],
  [/^sqlite:./s, url => sqliteEngine(sqlitePath(url) as string)],
  [/^postgres(?:ql)?:\/\/./, url => postgresEngine(url)]
]

function findEngine (url: string) {
  return engines.find(([form]) => form.test(url))?.[1]
}

/** Whether openStore() accepts this form of URL. */
export function isStoreUrl (url: string): boolean {
  return findEngine(url) !== undefined
}

/** The path of the database file in a SQLite URL; undefined for other stores. */
export function sqlitePath (url: string): string | undefined {
  return /^sqlite:(.+)$/s.exec(url)?.[1]
}

/**
 * Opens the store that a URL names: `sqlite:PATH`, `postgres://...` or `memory:`.
 * @throws Error with the reason
 */
export async function openStore (url: string, limits: { maxQueue: number }): Promise<PlantStore> {
  const open = findEngine(url)
  if (open === undefined) throw unknownStore(url)
  return groupCommit(await open(url), limits)
}

/** An error that names only the scheme of a URL, which may contain a password. */
export function unknownStore (url: string): Error {
  const scheme = url.slice(0, url.indexOf(':') + 1)
  const forms = 'sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE or memory:'
  return new Error(`There is no store for "${scheme}". Use ${forms}.`)
}
