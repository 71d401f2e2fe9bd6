// What an error of PostgreSQL means: whether a retry can help, and what the operator can do.

/** A permanent error: do not retry. */
export class PermanentError extends Error {}

/** A lost or refused connection, a restart, a failover, or a conflict between two transactions. */
export function isTransient (error: unknown): boolean {
  if (error instanceof PermanentError) return false
  // Errors of the server carry a SQLSTATE of five characters; errors of the connection another code
  // or none.
  const code = codeOf(error)
  const isOfServer = /^[0-9A-Z]{5}$/.test(code)
  const { message } = error as Error
  if (hasOtherCount(error) || message.startsWith(failedLogin)) return false
  if (message.includes(duringRecovery)) return true
  if (!isOfServer || /^(?:08|40|57P)/.test(code)) return true
  if (code === duplicateRow) return (error as { schema?: string }).schema === 'pg_catalog'
  return code === readOnly || concurrentCreation.includes(code)
}

/**
 * pg_logical_emit_message() on a standby: an internal error in words that PostgreSQL does not
 * translate.
 */
const duringRecovery = 'cannot assign TransactionIds during recovery'

/** The start of the message when a password is missing, or the server does not know it. */
const failedLogin = 'SASL'

const otherHost = 'ERR_TLS_CERT_ALTNAME_INVALID'
const expired = 'CERT_HAS_EXPIRED'
const notYetValid = 'CERT_NOT_YET_VALID'
export const undefinedTable = '42P01'
/**
 * A standby, or the former primary of a failover: the pool connects again, and may reach the new
 * primary.
 */
export const readOnly = '25006'
/**
 * Two services create a table at the same moment: PostgreSQL reports a duplicate type, table or row
 * of its catalog. A duplicate in another unique column of plants stays one.
 */
const concurrentCreation = ['42710', '42P07']
const duplicateRow = '23505'

/** Whether the fault is in the statement or the rows, and not in a right that the owner grants. */
export function isWrongStatement (error: unknown): boolean {
  return !isTransient(error) && /^(?:22|23|42(?!501))/.test(codeOf(error))
}

/** The code of an error of Node or of PostgreSQL; empty without one. */
export function codeOf (error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Whether TLS fails with the host, and will until somebody replaces a certificate or a setting. */
export function isAboutTls (error: unknown): boolean {
  const code = codeOf(error)
  if ((error as Error).message.includes(lacksTls)) return true
  if ([otherHost, expired, notYetValid].includes(code)) return true
  return descriptions[code] === ofUnknownAuthority
}

/** Says what is wrong with a host or its database, and the way out. */
export function describeError (error: unknown): string {
  const { message } = error as Error
  const code = codeOf(error)
  for (const [part, description] of descriptionsByMessage) {
    if (message.includes(part)) return description
  }
  if (message.startsWith(failedLogin)) {
    return `the login failed (${message}); correct the password in DATABASE_URL`
  }
  const description = descriptions[code]
  if (description !== undefined) return description
  if (hasOtherCount(error)) return `${message}; ${correctStatement}`
  // Translated messages keep the remedy of their code.
  const remedy = message.includes('no encryption') ? remedyWithoutTls : remedyOf(code, message)
  return remedy === undefined ? message : `${message}; ${remedy}`
}

/**
 * Whether a statement has more or fewer values than it names: PostgreSQL has the code of a broken
 * protocol for it, or that of a table without the constraint of ON CONFLICT.
 */
function hasOtherCount (error: unknown): boolean {
  const code = codeOf(error)
  const { message, routine } = error as Error & { routine?: string }
  if (code === '42P10') return !message.includes('ON CONFLICT')
  return code === ofPooler && routine === 'exec_bind_message'
}

function remedyOf (code: string, message: string): string | undefined {
  if (code !== ofPooler) return remedies[code]
  if (/no such database|does not exist/.test(message)) return remedies['3D000']
  if (message.includes('max_client_conn')) return raiseClients
  if (message.includes('SSL required')) return 'end DATABASE_URL with ?sslmode=verify-full'
  return /authentication failed/.test(message) ? remedies['28P01'] : undefined
}

const raiseClients = 'raise it, or look in the log of PgBouncer whether it reaches PostgreSQL'
/** PgBouncer has one code for all its errors, that of a broken protocol. */
const ofPooler = '08P01'

const lacksTls = 'does not support SSL'
const unresponsive = 'it does not respond; check the network and the server'
const correctSocket = 'correct the folder of its socket and the port in DATABASE_URL'
/** What pg's errors without a code mean, by a part of their message. */
const descriptionsByMessage = [
  ['client password must be', 'the login needs a password; set it in DATABASE_URL, ' +
    'or as PGPASSWORD in the environment'],
  ['connection timeout', unresponsive],
  [
    'row-level security',
    'row-level security refuses plants; disable it (ALTER TABLE plants DISABLE ROW LEVEL ' +
      'SECURITY), or add a policy that lets this user read and insert every plant'
  ],
  [
    'not currently accepting connections',
    'it lets nobody connect; use ALTER DATABASE ... ALLOW_CONNECTIONS true'
  ],
  ['permission denied for database', 'this user may not connect; GRANT CONNECT ON DATABASE to it'],
  ['connect ENOENT', `no socket is there; start PostgreSQL, or ${correctSocket}`],
  ['connect EACCES', `its socket is not for this user; grant the rights, or ${correctSocket}`],
  [
    'Connection terminated unexpectedly',
    'it closed the connection without a word; check that it is PostgreSQL and not another program'
  ],
  [
    lacksTls,
    'it has no TLS; set ssl = on in PostgreSQL, or sslmode=disable in DATABASE_URL'
  ],
  [
    'server_login_retry',
    'PgBouncer cannot log in to PostgreSQL; start PostgreSQL, or look at the log of PgBouncer'
  ],
  [
    'timeout: the',
    'timeout: a statement did not end in time; end the transaction that locks its rows or table ' +
      '(pg_stat_activity), start a synchronous standby that is away, or look at its load'
  ]
] as const

const ofUnknownAuthority = 'its certificate is of no known authority; name the certificate of ' +
  'the authority by sslrootcert in DATABASE_URL, or by NODE_EXTRA_CA_CERTS'
const unresolved = 'the host does not resolve; correct DATABASE_URL or PGHOST'
/** What Node's errors of a connection mean. */
const descriptions: Readonly<Record<string, string>> = {
  EHOSTUNREACH: unresponsive,
  ENETUNREACH: unresponsive,
  ETIMEDOUT: unresponsive,
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved,
  DEPTH_ZERO_SELF_SIGNED_CERT: ofUnknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: ofUnknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ofUnknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ofUnknownAuthority,
  ECONNREFUSED: 'nothing listens there; start PostgreSQL, or correct DATABASE_URL'
}

/** pg_hba.conf may have only lines of the type `hostssl`, or none for this user or database. */
const remedyWithoutTls = 'correct the user or the database in DATABASE_URL, end it with ' +
  '?sslmode=verify-full, or let it in without TLS (pg_hba.conf)'
export const makeWritable =
  'SET default_transaction_read_only = off (ALTER SYSTEM, DATABASE or ROLE)'
export const namePrimary = 'name the primary, or all hosts, as in postgres://user@a,b/database'
export const sqlOfOwner = 'by the SQL for the owner in docs/use/postgresql.md'
const wasChanged = 'undo what makes its table plants differ from the SQL for the owner in ' +
  'docs/use/postgresql.md'
/** The start has compared the types of the columns. */
const correctStatement = `correct the statement (docs/build/add-a-member.md), or ${wasChanged}`
/** PostgreSQL stores no U+0000, neither in a text nor in a jsonb. */
const addPattern = 'give each text of the member the pattern of name, which refuses U+0000 ' +
  '(docs/build/add-a-member.md)'
const refusesPlants = `its table plants does not take every plant: ${wasChanged}`
const raiseTimeout = 'or raise the time limit for this user or database (ALTER ROLE, ALTER ' +
  'DATABASE)'
/** What the operator can do, by SQLSTATE or Node's code. */
const remedies: Readonly<Record<string, string>> = {
  '0A000': refusesPlants,
  22001: wasChanged,
  22003: `give the member and its column the same type, or ${correctStatement}`,
  22021: addPattern,
  '22P05': addPattern,
  '22P02': correctStatement,
  23502: refusesPlants,
  23503: refusesPlants,
  [duplicateRow]: 'plants may share everything but the id: drop it (DROP INDEX, or ALTER TABLE ' +
    'plants DROP CONSTRAINT)',
  23514: refusesPlants,
  42601: correctStatement,
  42703: correctStatement,
  42804: correctStatement,
  42846: correctStatement,
  '42P18': correctStatement,
  '428C9': refusesPlants,
  '42P10': refusesPlants,
  [readOnly]: `${makeWritable}; on a standby, ${namePrimary}`,
  28000: 'let it in (CREATE ROLE ... LOGIN, pg_hba.conf), or correct the user or the database in ' +
    'DATABASE_URL',
  '28P01': 'correct the user and the password in DATABASE_URL',
  '3D000': 'create it, or correct DATABASE_URL',
  53100: 'free some space on its disk',
  53300: 'raise max_connections, or the CONNECTION LIMIT of the role or the database, or end ' +
    'other clients',
  42501: `grant the rights, or let the owner make the tables, ${sqlOfOwner}; ` +
    'remove triggers that need others',
  '55P03': `end the transaction that has the lock (pg_stat_activity), ${raiseTimeout}`,
  57014: `find out what slows it down, or who cancels statements, ${raiseTimeout}`,
  [undefinedTable]: `restore it, or make it ${sqlOfOwner}; to let the service make it, empty, ` +
    'remove plants_schema',
  [expired]: 'renew its certificate',
  [notYetValid]: 'check the clock of this machine (date), and the certificate',
  [otherHost]: 'use a name of the certificate as the host in DATABASE_URL'
}
