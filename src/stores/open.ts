// From a DATABASE_URL to a store.
import type { PlantStore } from '../plants/plant-store.ts'
import { groupCommit } from './group-commit.ts'
import type { Engine } from './group-commit.ts'
import { memoryEngine } from './memory.ts'
import { postgresEngine } from './postgres.ts'
import { sqliteEngine } from './sqlite.ts'

/** One line per scheme: how to open a URL of it. */
const engines: Record<string, (url: string) => Engine | Promise<Engine>> = {
  memory: () => memoryEngine(),
  sqlite: url => sqliteEngine(url.slice('sqlite:'.length)),
  postgres: postgresEngine,
  postgresql: postgresEngine
}

/**
 * Opens the store that a URL names: `sqlite:PATH`, `postgres://...` or `memory:`.
 * @throws Error that says why it cannot be opened
 */
export async function openStore (url: string, limits: { maxQueue: number }): Promise<PlantStore> {
  const scheme = url.slice(0, Math.max(0, url.indexOf(':')))
  const open = engines[scheme]
  if (open === undefined) throw new Error(`There is no store for ${scheme}:`)
  return groupCommit(await open(url), limits)
}
