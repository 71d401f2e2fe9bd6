// The service and its databases as the judge sees them: over HTTP, and by SQL of its own.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Content, contentOf, type History } from './history.ts'
import type { Plant, Send } from './workload.ts'

/** After this time a client gives up; the service promises a response after 10 seconds. */
const giveUpMs = 15_000

/**
 * Any response but 200, 409 and 503 is a fault, and so is a 200 with another plant. Requests go to
 * the origins by turns.
 */
export function createSend (origins: string[], token: string, { faults }: History): Send {
  const agent = new Agent({ keepAlive: true })
  let requests = 0
  return async plant => {
    const url = `${origins[requests++ % origins.length]}/plants`
    const response = await post(agent, url, token, plant).catch(() => undefined)
    if (response === undefined) {
      // A service that is gone fails each request at once: let other work go on.
      await sleep(10)
      return 'unknown'
    }
    const { status, body } = response
    if (status === 503) return 'unknown'
    if (status === 409) return 'conflict'
    if (status !== 200) faults.push(`${status} for ${JSON.stringify(body)}`)
    else if (contentOfBody(body) !== contentOf(plant.name, plant.tag)) faults.push(`200: ${body}`)
    return status === 200 ? 'stored' : 'unknown'
  }
}

async function post (
  agent: Agent, url: string, token: string, { id, name, tag }: Plant
): Promise<{ status: number | undefined, body: string }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(giveUpMs)
  const asking = request(url, { method: 'POST', agent, headers, signal })
  const tagMember = tag === null ? '' : `,"tag":${JSON.stringify(tag)}`
  asking.end(`{"id":${id},"name":${JSON.stringify(name)}${tagMember}}`)
  const [response] = await once(asking, 'response') as [IncomingMessage]
  return { status: response.statusCode, body: await text(response) }
}

function contentOfBody (body: string): Content {
  const { name, tag } = JSON.parse(body) as { name: string, tag?: string }
  return contentOf(name, tag)
}

/** Reads a database file; a file without the table has no plants. */
export function readSqlite (path: string): Map<bigint, Content> {
  const database = new DatabaseSync(path, { readBigInts: true })
  try {
    const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'plants'").all()
    if (tables.length === 0) return new Map()
    return toContents(database.prepare('SELECT id, name, tag FROM plants').all())
  } finally {
    database.close()
  }
}

export async function readPostgres (url: string): Promise<Map<bigint, Content>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const [tables, plants] = ["to_regclass('plants') AS plants", 'id, name, tag FROM plants']
    const { rows: [found] } = await client.query(`SELECT ${tables}`)
    if (found?.plants === null) return new Map()
    return toContents((await client.query(`SELECT ${plants}`)).rows)
  } finally {
    await client.end()
  }
}

function toContents (rows: Array<Record<string, unknown>>): Map<bigint, Content> {
  const contents = new Map<bigint, Content>()
  for (const { id, name, tag } of rows) {
    contents.set(BigInt(String(id)), contentOf(String(name), tag === null ? null : String(tag)))
  }
  return contents
}
