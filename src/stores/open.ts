// Opens the store that DATABASE_URL names.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { PlantStore } from '../plants/plant-store.ts'
import type { Engine } from './engine.ts'
import { groupCommit, type QueueLimits } from './group-commit.ts'
import { memoryEngine } from './memory.ts'
import { hostOf, hostUrls } from './postgres/hosts.ts'
import { sqliteEngine } from './sqlite/engine.ts'

/** For sentences: what names a store. */
export const storeForms = 'sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE or memory:'
const postgresForm = /^postgres(?:ql)?:\/\/./

/** The engine for each form of URL. */
const engines: ReadonlyArray<[form: RegExp, open: OpenEngine]> = [
  [/^memory:$/, () => memoryEngine()],
  [/^sqlite:./s, (url, onWarning) => sqliteEngine(sqlitePath(url) as string, onWarning)],
  // Loading pg takes 25 ms.
  [postgresForm, async (...args) => (await import('./postgres/engine.ts')).postgresEngine(...args)]
]
type OpenEngine = (url: string, onWarning: (sentence: string) => void) => Engine | Promise<Engine>

function findEngine (url: string): OpenEngine | undefined {
  return engines.find(([form]) => form.test(url))?.[1]
}

/** Whether this form of URL names a store. */
export function isStoreUrl (url: string): boolean {
  return findEngine(url) !== undefined
}

/**
 * Checks a URL without opening the store, and returns it.
 * @throws Error whose message completes a sentence that starts with the name of the variable; it
 *   does not show the URL, which may have a password
 */
export function checkStoreUrl (url: string): string {
  if (!isStoreUrl(url)) throw new Error(`must be ${storeForms}`)
  if (postgresForm.test(url)) hostUrls(url)
  const path = sqlitePath(url)
  if (path !== undefined) checkPath(path)
  return url
}

/** Refuses paths that name another file than the one that was meant. */
function checkPath (path: string): void {
  if (/^\s|\s$|\p{Cc}/u.test(path)) {
    throw new Error('has a path with a control character or a blank at one end')
  }
  // The path is shown; an address may have a password.
  if (/:\/\/|^\/\/.*@/.test(path)) {
    throw new Error('has an address where a path must follow sqlite:')
  }
  // SQLite would open another file than the one that is checked.
  if (path.startsWith('file:')) throw new Error(`has a URI: write sqlite:${path.slice(5)}`)
  if (/\?\w+=/.test(path)) throw new Error('has parameters, which sqlite:PATH does not have')
  if (path === ':memory:') throw new Error('has a store in memory: write memory:')
  if (path.includes('$')) throw new Error('has a path with $: write the path without variables')
  if (path.startsWith('~/')) throw new Error('has a path with ~: write the path of the home folder')
  if (/[/\\]$/.test(path)) throw new Error('has the path of a folder, but must name a file')
  const [, host] = /^\/\/([^/].*)$/.exec(path) ?? []
  if (host !== undefined) {
    throw new Error(`has two slashes: write sqlite:${host} or sqlite:/${host}`)
  }
}

/** Whether opening the store would create its file. */
export function lacksFile (url: string): boolean {
  const path = sqlitePath(url)
  if (path === undefined) return false
  try {
    statSync(path)
    return false
  } catch (error) {
    // Who may not look into its folder learns that from opening it.
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/**
 * The store of a URL for the log, without a password. Only before it is opened is a new database
 * known as such.
 */
export function describeStore (url: string): string {
  const path = sqlitePath(url)
  if (path !== undefined) return `the ${lacksFile(url) ? 'new ' : ''}database ${resolve(path)}`
  if (!postgresForm.test(url)) return 'memory, until the process ends'
  const hosts = hostUrls(url)
  // A URL without a host, but with a user, is none for URL.parse().
  const name = hosts[0]?.split('?')[0]?.split('/')[3] || process.env.PGDATABASE
  return `PostgreSQL at ${hosts.map(hostOf).join(', ')}${name ? `, database ${name}` : ''}`
}

/** The path of the database file in a SQLite URL; undefined for other stores. */
export function sqlitePath (url: string): string | undefined {
  return /^sqlite:(.+)$/s.exec(url)?.[1]
}

/**
 * Opens the store that a URL names: `sqlite:PATH`, `postgres://...` or `memory:`.
 * @throws Error with the reason
 */
export async function openStore (
  url: string,
  { onWarning = () => {}, ...limits }: StoreOptions
): Promise<PlantStore> {
  return groupCommit(await openEngine(url, onWarning), limits)
}

/**
 * Opens the engine of a store, which groupCommit() makes the store.
 * @param onWarning gets a sentence when the engine lets startup wait
 * @throws Error with the reason
 */
export async function openEngine (
  url: string,
  onWarning: (sentence: string) => void
): Promise<Engine> {
  const open = findEngine(url)
  if (open === undefined) throw unknownStore(url)
  return open(url, onWarning)
}

export interface StoreOptions extends QueueLimits {
  /** Called once with the reason when the store lets startup wait. */
  onWarning?: (sentence: string) => void
}

/** An error that names only the scheme of a URL, which may contain a password. */
export function unknownStore (url: string): Error {
  const scheme = url.slice(0, url.indexOf(':') + 1)
  return new Error(`There is no store for "${scheme}". Use ${storeForms}.`)
}
