// The connections to PostgreSQL: finds the host that accepts writes, and bounds the time of each statement.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { describeError, PermanentError } from './errors.ts'
import { hostOf } from './hosts.ts'

export interface Connections {
  /** Runs one statement in a transaction of its own. After the timeout the server is asked to stop it. */
  query: <Row extends pg.QueryResultRow>(text: string, values: unknown[], timeoutMs: number) => Promise<Row[]>
  /** Tries every host, so that problems() is complete. */
  probe: () => Promise<void>
  /** Why the last connection to a host failed, for each host where it did. */
  problems: () => string[]
  close: () => Promise<void>
}

/** Milliseconds for a connection, for a statement, and for a request to stop one. */
const timeoutsMs = { connection: 2000, statement: 5000, cancel: 500 }

/** @param urls one URL for each host; a new connection goes to the first that accepts writes */
export function openConnections (urls: readonly string[]): Connections {
  let current = 0
  const problems = new Map<number, string>()

  class Client extends pg.Client {
    constructor (options?: pg.ClientConfig) {
      super({ ...options, connectionString: urls[current] as string })
    }
  }
  const pool = new pg.Pool({
    Client,
    // One batch is in flight; the others are for pages and checks.
    max: 3,
    connectionTimeoutMillis: timeoutsMs.connection,
    application_name: 'plant-store',
    keepAlive: true,
    // With one host, startup reports that it is read-only. With several, the next one may not be.
    ...urls.length > 1 && { onConnect: refuseReadOnly }
  })
  // The next statement replaces an idle connection that was lost.
  pool.on('error', () => {})
  // Without a listener, an error between two statements ends the process.
  pool.on('connect', client => client.on('error', () => {}))

  async function onHost<Result> (host: number, connecting: Promise<Result>): Promise<Result> {
    try {
      const result = await connecting
      problems.delete(host)
      return result
    } catch (error) {
      const label = urls.length > 1 ? `${hostOf(urls[host] as string)}: ` : ''
      problems.set(host, label + describeError(error))
      throw error
    }
  }

  async function connectToCurrent (): Promise<pg.PoolClient> {
    const host = current
    try {
      return await onHost(host, pool.connect())
    } catch (error) {
      // Another statement may have moved on already.
      if (current === host) current = (host + 1) % urls.length
      throw error
    }
  }

  return {
    async query <Row extends pg.QueryResultRow>(text: string, values: unknown[], timeoutMs: number) {
      const until = performance.now() + timeoutMs
      const client = await connectToCurrent()
      return runStatement<Row>(client, text, values, Math.min(until - performance.now(), timeoutsMs.statement))
    },
    async probe () {
      await Promise.allSettled(urls.map((url, host) => onHost(host, tryHost(url))))
    },
    problems: () => [...problems.values()],
    close: () => pool.end()
  }
}

async function tryHost (connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: timeoutsMs.connection })
  client.on('error', () => {})
  await client.connect()
  await client.end()
}

/** Lets the pool connect again when a failover has made the host read-only. */
async function refuseReadOnly (client: pg.ClientBase): Promise<void> {
  const statement = { text: 'SHOW transaction_read_only', query_timeout: timeoutsMs.connection }
  const { rows: [row] } = await client.query<{ transaction_read_only: string }>(statement)
  if (row?.transaction_read_only === 'on') throw new Error('it is read-only')
}

/** Runs a statement and returns the connection to the pool; after an error the pool closes it. */
async function runStatement<Row extends pg.QueryResultRow> (
  client: pg.PoolClient,
  text: string,
  values: unknown[],
  timeoutMs: number
): Promise<Row[]> {
  const failure = Promise.withResolvers<never>()
  const onNotice = (notice: Notice) => {
    if (isWarning(notice)) failure.reject(new PermanentError(notice.message))
  }
  const timeout = new Error('timeout: the statement did not end in time')
  const timer = setTimeout(() => failure.reject(timeout), timeoutMs)
  client.on('notice', onNotice)
  const statement = Promise.race([client.query<Row>(text, values), failure.promise]).finally(() => {
    clearTimeout(timer)
    client.off('notice', onNotice)
  })
  try {
    const { rows } = await statement
    client.release()
    return rows
  } catch (error) {
    // A pooler forgets a client that has left: ask before the connection closes.
    if (error === timeout) await stopStatement(client)
    client.release(true)
    throw error
  }
}

interface Notice { code?: string | undefined, routine?: string | undefined, message?: string | undefined }

/**
 * A cancelled wait for the standby commits with only a warning, so any warning fails the statement.
 * Message texts and severities are translated: look at SQLSTATE class 01.
 */
function isWarning ({ code, routine }: Notice): boolean {
  return code?.startsWith('01') === true && !harmlessRoutines.includes(routine)
}

/** Functions of PostgreSQL with other warnings: RAISE WARNING in a trigger, and transaction ids that run low. */
const harmlessRoutines: Array<string | undefined> = ['exec_stmt_raise', 'GetNewTransactionId']

/** What identifies a connection to the server. pg has these fields, but its types do not. */
interface BackendKey { processID: number, secretKey: number }

/**
 * Asks the server to stop the statement that runs on a connection; a statement that waits for a standby would keep its
 * server process for as long as the standby is away. PostgreSQL 18, section 54.2.9 "Canceling Requests in Progress".
 */
async function stopStatement (client: pg.PoolClient): Promise<void> {
  const { host, port, processID, secretKey } = client as pg.PoolClient & BackendKey
  const request = Buffer.alloc(16)
  for (const [index, word] of [16, 80877102, processID, secretKey].entries()) request.writeInt32BE(word, 4 * index)
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  // Keep it open until the server closes it: PgBouncer drops the request of a client that has left.
  socket.on('error', () => {}).resume().write(request)
  await Promise.race([once(socket, 'close'), sleep(timeoutsMs.cancel)])
  socket.destroy()
}
