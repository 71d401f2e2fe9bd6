// pg's pool of connections to one or several hosts.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { PermanentError, readOnly } from './errors.ts'
import type { Pool } from './statements.ts'

/** Milliseconds for a connection, and for a request to stop a statement. */
const timeoutsMs = { connection: 2000, stop: 500, leave: 60_000 }

/**
 * @param urls one URL for each host
 * @param currentHost returns the index of the host for the next new connection
 */
export function openPool (urls: readonly string[], currentHost: () => number): Pool {
  class Client extends pg.Client {
    constructor (options?: pg.ClientConfig) {
      try {
        super({ ...options, connectionString: urls[currentHost()] as string })
      } catch (error) {
        // Parameters that exclude each other, or a file that is gone: nothing was sent.
        throw new PermanentError((error as Error).message.replace(/\.$/, ''))
      }
      // pg throws when it connects then, and end() waits for this client for ever.
      if (!(this.port >= 0 && this.port < 65536)) {
        throw new PermanentError('its port is not valid; correct DATABASE_URL or PGPORT')
      }
      // pg leaves the connection open when it cannot log in, for example without a password.
      this.connection.on('error', () => this.connection.stream.destroy())
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
    onConnect: urls.length > 1 ? rejectReadOnly : undefined
  })
  // The next statement replaces an idle connection that was lost.
  pool.on('error', () => {})
  // Without a listener, an error between two statements ends the process.
  pool.on('connect', client => client.on('error', () => {}))

  return {
    async connect () {
      const client = await pool.connect()
      return { client, stop: () => stopStatement(client) }
    },
    probe: host => probe(urls[host] as string),
    end: () => pool.end()
  }
}

async function probe (connectionString: string): Promise<string | undefined> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: timeoutsMs.connection,
    query_timeout: timeoutsMs.connection
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows: [row] } = await client.query<{ startOfPrimary: string | null }>(selectPrimary)
    return row?.startOfPrimary ?? undefined
  } finally {
    await client.end()
  }
}

/** Of two servers only the moments of their start differ for certain, also behind poolers. */
const selectPrimary = `SELECT CASE current_setting('transaction_read_only') WHEN 'off'
THEN extract(epoch FROM pg_postmaster_start_time())::text END AS "startOfPrimary"`

/** Lets the pool connect again when a failover has made the host read-only. */
async function rejectReadOnly (client: pg.ClientBase): Promise<void> {
  const text = `SELECT current_setting('transaction_read_only') = 'on' AS "isReadOnly",
pg_is_in_recovery() AS "isStandby"`
  const statement = { text, query_timeout: timeoutsMs.connection }
  const { rows: [row] } = await client.query<{ isReadOnly: boolean, isStandby: boolean }>(statement)
  if (row?.isStandby === true) throw new Error('it is a standby')
  if (row?.isReadOnly !== true) return
  throw Object.assign(new Error('it is read-only'), { code: readOnly })
}

/** What identifies a connection to the server. pg has these fields, but its types do not. */
interface BackendKey { processID: number, secretKey: number }

/**
 * Asks the server to stop the statement that runs on a connection; a statement that waits for a
 * standby would keep its server process for as long as the standby is away. PostgreSQL 18, section
 * 54.2.9 "Canceling Requests in Progress".
 */
async function stopStatement (client: pg.PoolClient): Promise<void> {
  const { host, port, processID, secretKey } = client as pg.PoolClient & BackendKey
  const request = Buffer.alloc(16)
  for (const [index, word] of [16, 80877102, processID, secretKey].entries()) {
    request.writeInt32BE(word, 4 * index)
  }
  const isSocket = host.startsWith('/')
  const socket = connect(isSocket ? { path: `${host}/.s.PGSQL.${port}` } : { host, port })
  // Keep it open until the server closes it: PgBouncer drops the request of a client that has left.
  socket.on('error', () => {}).resume().write(request)
  const closed = new Promise(resolve => socket.once('close', resolve))
  await Promise.race([closed, sleep(timeoutsMs.stop)])
  // PgBouncer 1.18 ends when the client leaves while PostgreSQL does not respond.
  socket.unref().setTimeout(timeoutsMs.leave, socket.destroy.bind(socket))
}
