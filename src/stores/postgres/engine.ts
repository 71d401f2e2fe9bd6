// The PostgreSQL engine: each call runs its statements with retries until a deadline.
import { systemClock } from '../clock.ts'
import type { Clock } from '../clock.ts'
import type { Engine } from '../group-commit.ts'
import { retry } from '../retry.ts'
import { connectionsOn } from './connections.ts'
import type { Connections } from './connections.ts'
import { postgresql } from './dialects.ts'
import { describeError, isTransient } from './errors.ts'
import { hostOf, hostUrls } from './hosts.ts'
import { addMany, confirmCommits, countPlants, selectPage } from './plants.ts'
import type { Query } from './plants.ts'
import { openPool } from './pool.ts'
import { prepare, recheck } from './schema.ts'

/** Milliseconds for a call with all its retries, and until startup says that it waits. */
const timeoutsMs = { call: 8000, silence: 500 }

/**
 * Connects to a database and creates missing tables. Any number of services may share one database.
 * @param url postgres://user:password@host:port/database?options, or postgresql://; the host may be a list
 * @param onWarning called with a sentence when startup has to wait, and when a host of the list cannot be used
 * @throws Error that says why the database cannot be used
 */
export async function postgresEngine (url: string, onWarning: (sentence: string) => void): Promise<Engine> {
  const urls = readHosts(url)
  const hosts = urls.map(hostOf)
  const database = `PostgreSQL database at ${hosts.join(', ')}`
  const connections = connectionsOn(hosts, currentHost => openPool(urls, currentHost), systemClock)
  const problems = () => connections.problems().join('; ')
  const engine = engineOn(connections, systemClock)
  const sayWaiting = () => onWarning(`Waiting for the ${database}: ${problems() || 'no response yet'}.`)
  const timer = setTimeout(sayWaiting, timeoutsMs.silence)
  try {
    await Promise.all([engine.prepare(), urls.length > 1 && connections.probe()])
  } catch (error) {
    await engine.close()
    const problem = (isTransient(error) && problems()) || describeError(error)
    throw new Error(`The ${database} cannot be used: ${problem}.`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
  if (problems() !== '') onWarning(`A host of the ${database} cannot be used: ${problems()}.`)
  return engine
}

function readHosts (url: string): string[] {
  try {
    return hostUrls(url)
  } catch (error) {
    throw new Error(`The PostgreSQL URL ${(error as Error).message}.`)
  }
}

/** The engine on any connections, also simulated ones. */
export function engineOn (connections: Connections, clock: Clock): Engine & { prepare: () => Promise<void> } {
  const call = <Result>(work: (query: Query) => Promise<Result>): Promise<Result> => retry(until => {
    return work((text, values = []) => connections.query(text, values, until - clock.now()))
  }, { timeoutMs: timeoutsMs.call, isTransient, clock })
  let dialect = postgresql
  return {
    async prepare () { dialect = await call(prepare) },
    addMany: plants => call(query => addMany(query, dialect, plants)),
    page: (from, limit) => call(query => selectPage(query, from, limit)),
    count: () => call(countPlants),
    check: () => call(async query => {
      try {
        dialect = await recheck(query)
      } catch (error) {
        // A session may keep a state that the database no longer has, such as read-only.
        connections.renew()
        throw error
      }
      await confirmCommits(query, dialect)
    }),
    close: () => connections.close()
  }
}
