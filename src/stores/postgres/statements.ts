// Runs statements: finds the host that accepts writes, bounds the time of each statement, and fails
// on warnings.
import type pg from 'pg'
import type { Clock } from '../clock.ts'
import { describeError, isAboutTls, PermanentError } from './errors.ts'

export interface StatementRunner {
  /**
   * Runs one statement as a transaction. After the timeout the server is asked to stop it.
   * @param accept throws if the rows show that the connection must not be used again
   */
  query: <Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[],
    timeoutMs: number,
    accept?: (rows: Row[]) => void
  ) => Promise<Row[]>
  /** Tries every host. */
  probe: () => Promise<Probe>
  /** Why the last connection to a host failed, for each host where it did; empty without one. */
  problems: () => string
  /** Why a call failed: the problem of the host of its last statement, or those of all hosts. */
  describe: (error: unknown) => string
  close: () => Promise<void>
}

export interface Probe {
  /** Why hosts cannot be used: a standby can. Empty without one. */
  unreachable: string
  /** A host of each server that accepts writes. */
  primaries: string[]
}

/** The pool of connections of one service: pg's, or a simulated one. */
export interface Pool {
  connect: () => Promise<Connection>
  /** Connects to a host. Returns what identifies its server, if that accepts writes. */
  probe: (host: number) => Promise<string | undefined>
  end: () => Promise<void>
}

export interface Connection {
  client: StatementClient
  /** Asks the server to stop the statement that runs. */
  stop: () => Promise<void>
}

/** What a statement needs of pg's client. */
export interface StatementClient {
  query: <Row extends pg.QueryResultRow>(
    text: string,
    values: unknown[]
  ) => Promise<{ rows: Row[] }>
  on: (event: 'notice', listener: (notice: Notice) => void) => unknown
  off: (event: 'notice', listener: (notice: Notice) => void) => unknown
  /** Returns the connection to the pool, or closes it. */
  release: (close?: boolean) => void
}

interface Notice {
  code?: string | undefined
  routine?: string | undefined
  message?: string | undefined
}

const statementTimeoutMs = 5000

/**
 * @param hosts their names; a new connection goes to the first that accepts writes
 * @param openPool gets a function that returns the index of the host for the next new connection
 */
export function createStatementRunner (
  hosts: readonly string[],
  openPool: (currentHost: () => number) => Pool,
  clock: Clock
): StatementRunner {
  let current = 0
  const problems = hosts.map(() => '')
  /** Of the errors of statements. */
  const descriptions = new WeakMap<object, string>()
  const pool = openPool(() => current)
  const listProblems = () => problems.filter(problem => problem !== '').join('; ')

  function describeAt (host: number, error: unknown): string {
    return (hosts.length > 1 ? `${hosts[host]}: ` : '') + describeError(error)
  }

  async function onHost<Result> (host: number, connecting: Promise<Result>): Promise<Result> {
    try {
      const result = await connecting
      problems[host] = ''
      return result
    } catch (error) {
      problems[host] = describeAt(host, error)
      // Another host of a list may have TLS, and a good certificate.
      if (hosts.length > 1 || !isAboutTls(error)) throw error
      throw new PermanentError(problems[host], { cause: error })
    }
  }

  async function connectTo (host: number): Promise<Connection> {
    try {
      return await onHost(host, pool.connect())
    } catch (error) {
      // Another statement may have moved on already.
      if (current === host) current = (host + 1) % hosts.length
      throw error
    }
  }

  return {
    async query (text, values, timeoutMs, accept) {
      const until = clock.now() + timeoutMs
      const host = current
      const connection = await connectTo(host)
      const remainingMs = Math.min(until - clock.now(), statementTimeoutMs)
      try {
        return await runStatement(connection, text, values, remainingMs, clock, accept)
      } catch (error) {
        descriptions.set(error as Error, describeAt(host, error))
        throw error
      }
    },
    async probe () {
      const outcomes = await Promise.allSettled(hosts.map((_name, host) => pool.probe(host)))
      const unreachable: string[] = []
      const primaries = new Map<string, string>()
      for (const [host, outcome] of outcomes.entries()) {
        if (outcome.status === 'rejected') unreachable.push(describeAt(host, outcome.reason))
        else if (outcome.value !== undefined) primaries.set(outcome.value, hosts[host] as string)
      }
      return { unreachable: unreachable.join('; '), primaries: [...primaries.values()] }
    },
    problems: listProblems,
    describe (error) {
      // The last try is the cause of the timeout of a call.
      const { cause } = error as Error
      const ofStatement = descriptions.get(error as Error) ?? descriptions.get(cause as Error)
      const ofHosts = error instanceof PermanentError ? '' : listProblems()
      return ofStatement ?? (ofHosts || describeError(error))
    },
    close: () => pool.end()
  }
}

/** Runs a statement and returns the connection to the pool; after an error the pool closes it. */
async function runStatement<Row extends pg.QueryResultRow> (
  { client, stop }: Connection,
  text: string,
  values: unknown[],
  timeoutMs: number,
  clock: Clock,
  accept: (rows: Row[]) => void = () => {}
): Promise<Row[]> {
  const failure = Promise.withResolvers<never>()
  const onNotice = (notice: Notice) => {
    if (isWarning(notice)) failure.reject(new PermanentError(notice.message))
  }
  const timeout = new Error('timeout: the statement did not end in time')
  const cancelTimer = clock.setTimer(() => failure.reject(timeout), timeoutMs)
  client.on('notice', onNotice)
  const statement = Promise.race([client.query<Row>(text, values), failure.promise])
  try {
    const { rows } = await statement.finally(() => {
      cancelTimer()
      client.off('notice', onNotice)
    })
    accept(rows)
    client.release()
    return rows
  } catch (error) {
    // A pooler forgets a client that has left: ask before the connection closes.
    if (error === timeout) await stop()
    client.release(true)
    throw error
  }
}

/**
 * A cancelled wait for the standby commits with only a warning, so any warning fails the statement.
 * Message texts and severities are translated: look at SQLSTATE class 01.
 */
function isWarning ({ code, routine }: Notice): boolean {
  return code?.startsWith('01') === true && !harmlessRoutines.includes(routine)
}

/** Functions of PostgreSQL with other warnings: RAISE WARNING, and transaction ids that run low. */
const harmlessRoutines: Array<string | undefined> = ['exec_stmt_raise', 'GetNewTransactionId']
