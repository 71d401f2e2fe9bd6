// The PostgreSQL engine: each call runs its statements with retries until a deadline.
import { type Clock, systemClock } from '../clock.ts'
import { type Engine, type EngineMethods, forwardAll } from '../engine.ts'
import { retry } from '../retry.ts'
import { dialectOf } from './dialects.ts'
import { isTransient } from './errors.ts'
import { hostOf, hostUrls } from './hosts.ts'
import { confirmCommits, createPlantMethods, type Query, type Run } from './plants.ts'
import { openPool } from './pool.ts'
import { checkDatabase, setUpDatabase } from './schema.ts'
import { createStatementRunner, type Probe, type StatementRunner } from './statements.ts'

/** Milliseconds for a call with all its retries, and until startup says that it waits. */
const timeoutsMs = { call: 8000, silence: 500 }

/**
 * Connects to a database and creates missing tables. Any number of services may share one database.
 * @param url postgres://user:password@host:port/database?options; the host may be a list
 * @param onWarning gets a sentence when startup has to wait, and when a host cannot be used
 * @throws Error that says why the database cannot be used
 */
export async function postgresEngine (
  url: string,
  onWarning: (sentence: string) => void
): Promise<Engine> {
  const urls = readHosts(url)
  const hosts = urls.map(hostOf)
  const database = `PostgreSQL database at ${hosts.join(', ')}`
  const runner = createStatementRunner(hosts, host => openPool(urls, host), systemClock)
  const { problems } = runner
  const describe = (error: unknown) => `${database} cannot be used: ${runner.describe(error)}`
  const engine = createPostgresEngine(runner, systemClock)
  const timer = setTimeout(() => {
    onWarning(`Waiting for the ${database}: ${problems() || 'no response yet'}.`)
  }, timeoutsMs.silence)
  let probe: Probe | undefined
  try {
    [, probe] = await Promise.all([engine.setUp(), urls.length > 1 ? runner.probe() : undefined])
  } catch (error) {
    // After close() a try that still runs has another problem.
    const message = `The ${describe(error)}.`
    await engine.close()
    throw new Error(message, { cause: error })
  } finally {
    clearTimeout(timer)
  }
  const { unreachable = '', primaries = [] } = probe ?? {}
  if (unreachable !== '') onWarning(`A host of the ${database} cannot be used: ${unreachable}.`)
  if (primaries.length > 1) {
    onWarning(`${primaries.join(' and ')} accept writes, and each would have plants that the ` +
      'other lacks. End the one that was replaced, or make it a standby (pg_rewind or ' +
      'pg_basebackup).')
  }
  return explainErrors(engine, describe)
}

/** Without it, the log would have neither the host nor the way out. */
function explainErrors (engine: EngineMethods, describe: (error: unknown) => string): Engine {
  return forwardAll((method, args) => engine[method](...args).catch(cause => {
    throw new Error(`the ${describe(cause)}`, { cause })
  }))
}

function readHosts (url: string): string[] {
  try {
    return hostUrls(url)
  } catch (error) {
    throw new Error(`The PostgreSQL URL ${(error as Error).message}.`)
  }
}

export interface PostgresEngine extends Engine {
  /** Checks the database and creates missing tables. Call it first. */
  setUp: () => Promise<void>
}

/** The engine on any connections, also simulated ones. */
export function createPostgresEngine (runner: StatementRunner, clock: Clock): PostgresEngine {
  let dialect = dialectOf({ hasCitus: false, schema: 'public' })
  const run: Run = work => retry(until => {
    const query: Query = (text, values = [], accept) => {
      return runner.query(text, values, until - clock.now(), accept)
    }
    return work(query, dialect)
  }, { timeoutMs: timeoutsMs.call, isTransient, clock })
  return {
    ...createPlantMethods(run),
    async setUp () { dialect = await run(setUpDatabase) },
    check: () => run(async query => {
      dialect = await checkDatabase(query, dialect.schema)
      await confirmCommits(query, dialect)
    }),
    close: () => runner.close()
  }
}
