// One statement over its own connection: the server may end at any moment.
import pg from 'pg'

/** Connects as the user postgres, and returns the rows. */
export async function queryOnce<Row extends pg.QueryResultRow> (
  server: pg.ClientConfig,
  sql: string
): Promise<Row[]> {
  const client = new pg.Client({ user: 'postgres', connectionTimeoutMillis: 2000, ...server })
  // The error also rejects the query.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}
