// Which errors of PostgreSQL a retry can mend.

/** A permanent error: do not retry. */
export class PermanentError extends Error {}

/** A lost or refused connection, a restart, a failover, or a conflict between two transactions. */
export function isTransient (error: unknown): boolean {
  if (error instanceof PermanentError) return false
  // Errors of the server carry a SQLSTATE of five characters; errors of the connection another code or none.
  const code = codeOf(error) ?? ''
  const isOfServer = /^[0-9A-Z]{5}$/.test(code)
  return !isOfServer || /^(?:08|40|57P)/.test(code) || [readOnly, ...concurrentCreation].includes(code)
}

export const undefinedTable = '42P01'
/** A standby, or the former primary of a failover: the pool connects again, and may reach the new primary. */
const readOnly = '25006'
/** Two services create a table at the same moment: PostgreSQL reports a duplicate row, type or table. */
const concurrentCreation = ['23505', '42710', '42P07']

export function codeOf (error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
