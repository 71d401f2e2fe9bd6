// From a DATABASE_URL to a store.
import type { PlantStore } from '../plants/plant-store.ts'
import { groupCommit } from './group-commit.ts'
import type { Engine } from './group-commit.ts'
import { memoryEngine } from './memory.ts'
import { sqliteEngine } from './sqlite.ts'

/** One line per engine: how to open what follows the scheme of its URL. */
const engines: Record<string, (rest: string) => Engine | Promise<Engine>> = {
  'memory:': () => memoryEngine(),
  'sqlite:': path => sqliteEngine(path)
}

/**
 * Opens the store that a URL names: `sqlite:PATH` or `memory:`.
 * @throws Error that says why it cannot be opened
 */
export async function openStore (url: string, limits: { maxQueue: number }): Promise<PlantStore> {
  const scheme = url.slice(0, url.indexOf(':') + 1)
  const open = engines[scheme]
  if (open === undefined) throw new Error(`There is no store for ${scheme}`)
  return groupCommit(await open(url.slice(scheme.length)), limits)
}
