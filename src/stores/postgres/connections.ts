// The connections to PostgreSQL.
import pg from 'pg'
import { PermanentError } from './errors.ts'

/** Milliseconds for a connection and for a statement. */
const timeoutsMs = { connection: 2000, statement: 5000 }

/** @param url postgres://user:password@host:port/database?options, or postgresql:// */
export function openPool (url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    // One batch is in flight; the others are for pages and checks.
    max: 3,
    connectionTimeoutMillis: timeoutsMs.connection,
    statement_timeout: timeoutsMs.statement,
    query_timeout: timeoutsMs.statement + 1000,
    application_name: 'plant-store',
    keepAlive: true
  })
  // The next query replaces an idle connection that was lost.
  pool.on('error', () => {})
  pool.on('connect', failOnWarnings)
  return pool
}

/**
 * Fails a statement on any warning: a cancelled wait for the standby commits with only a warning.
 * Message texts and severities are translated, so the check uses SQLSTATE class 01.
 */
function failOnWarnings (client: pg.PoolClient): void {
  // pool.query() listens only during its statement; without this listener a later error ends the process.
  client.on('error', () => {})
  client.on('notice', ({ code, routine, message }) => {
    if (code?.startsWith('01') && !harmlessRoutines.includes(routine)) client.emit('error', new PermanentError(message))
  })
}

/** Functions of PostgreSQL with other warnings: RAISE WARNING in a trigger, and transaction ids that run low. */
const harmlessRoutines: Array<string | undefined> = ['exec_stmt_raise', 'GetNewTransactionId']
