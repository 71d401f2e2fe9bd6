// A cluster of Citus on loopback: a coordinator and workers, each worker with a standby.
import { execFileSync, type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { freePort } from '../../../fixtures/temporary-postgres.ts'
import { asPostgres, sendSignal, start } from './network.ts'
import { queryOnce } from './query.ts'

const bin = '/usr/lib/postgresql/15/bin'
const host = '127.0.0.1'

/** Whether this computer has PostgreSQL 15 with Citus. */
export function hasCitus (): boolean {
  return existsSync('/usr/share/postgresql/15/extension/citus.control')
}

/** One server. */
export interface Server {
  name: string
  port: number
  /** The id of the main process, which is the parent of the others. */
  pid: () => number
  /** Resolves once it accepts connections. */
  start: () => Promise<void>
  /** Sends SIGKILL to the server and its child processes. */
  kill: () => Promise<void>
  /** Stops the process that sends to the standby, with SIGSTOP. */
  freezeSender: () => void
  query: <Row extends pg.QueryResultRow>(sql: string) => Promise<Row[]>
}

export interface Worker {
  primary: Server
  standby: Server
}

export interface Cluster {
  url: string
  coordinator: Server
  workers: Worker[]
  /** Adds a node without a standby. */
  addNode: () => Promise<Server>
  /** Adds a worker with its standby; its shards come later. */
  addWorker: () => Promise<void>
  /** Lets the standby take the place of a worker that was killed, and makes a new standby. */
  failOver: (worker: Worker) => Promise<void>
}

/** @param isSynchronous whether each commit of a worker waits for its standby */
export async function startCluster (
  folder: string, isSynchronous: boolean, cleanup: AsyncDisposableStack
): Promise<Cluster> {
  const create = (name: string) => createServer(folder, name, cleanup)
  const coordinator = await create('coordinator')
  await initialise(folder, coordinator)
  await coordinator.query(`SELECT citus_set_coordinator_host('${host}', ${coordinator.port})`)
  const workers: Worker[] = []
  let nodes = 0
  let standbys = 0

  async function addNode (): Promise<Server> {
    const node = await create(`worker${++nodes}`)
    await initialise(folder, node)
    await coordinator.query(`SELECT citus_add_node('${host}', ${node.port})`)
    return node
  }

  async function addStandby (primary: Server): Promise<Server> {
    const standby = await create(`standby${++standbys}`)
    const data = join(folder, standby.name)
    const source = `host=${host} port=${primary.port} user=postgres sslmode=disable`
    asUser(['pg_basebackup', '-D', data, '-d', source, '-R', '-c', 'fast', '-X', 'stream'])
    const names = isSynchronous ? '*' : ''
    const settings = `port = ${standby.port}\nsynchronous_standby_names = '${names}'\n`
    appendFileSync(join(data, 'postgresql.conf'), settings)
    await standby.start()
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await primary.query('SELECT pg_reload_conf()')
    return standby
  }

  return {
    url: `postgres://postgres@${host}:${coordinator.port}/plants`,
    coordinator,
    workers,
    addNode,
    async addWorker () {
      const primary = await addNode()
      workers.push({ primary, standby: await addStandby(primary) })
    },
    async failOver (worker) {
      const { primary: lost, standby: promoted } = worker
      await promoted.query('SELECT pg_promote()')
      worker.standby = await addStandby(promoted)
      worker.primary = promoted
      await coordinator.query(`SELECT citus_update_node(nodeid, '${host}', ${promoted.port},
        force => true, lock_cooldown => 1000) FROM pg_dist_node WHERE nodeport = ${lost.port}`)
      rmSync(join(folder, lost.name), { recursive: true, maxRetries: 5 })
    }
  }
}

/** Creates the table as the documentation says, on the workers that may have shards. */
export async function createPlants ({ coordinator }: Cluster, shards: number): Promise<void> {
  await coordinator.query(`
    DROP TABLE IF EXISTS plants;
    CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text);
    SET citus.shard_count = ${shards};
    SELECT create_distributed_table('plants', 'id')
  `)
}

async function createServer (
  folder: string, name: string, cleanup: AsyncDisposableStack
): Promise<Server> {
  const port = await freePort()
  const data = join(folder, name)
  let server: ChildProcess | undefined
  const pid = () => Number(server?.pid)
  const children = () => {
    const { stdout } = spawnSync('pgrep', ['-P', String(pid())], { encoding: 'utf8' })
    return stdout.trim().split('\n').map(Number)
  }
  const query: Server['query'] = sql => queryOn(port, sql)
  return {
    name,
    port,
    query,
    pid,
    async start () {
      const log = join(folder, `${name}.log`)
      server = start(log, [...asPostgres, join(bin, 'postgres'), '-D', data], cleanup)
      const isUp = () => queryOn(port, 'SELECT', 'postgres').then(() => true, () => false)
      while (!await isUp()) await sleep(50)
    },
    async kill () {
      const ended = once(server as ChildProcess, 'exit')
      sendSignal([pid(), ...children()], 'SIGKILL')
      await ended
    },
    freezeSender () {
      const args = ['-P', String(pid()), '-f', 'walsender']
      sendSignal([Number(execFileSync('pgrep', args, { encoding: 'utf8' }))], 'SIGSTOP')
    }
  }
}

/** Creates the data of a server and its database with Citus, and starts it. */
async function initialise (folder: string, server: Server): Promise<void> {
  const data = join(folder, server.name)
  asUser(['initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'])
  appendFileSync(join(data, 'postgresql.conf'), `
    port = ${server.port}
    listen_addresses = '${host}'
    unix_socket_directories = ''
    shared_buffers = '32MB'
    max_prepared_transactions = 100
    wal_level = logical
    shared_preload_libraries = 'citus'
    citus.local_hostname = '${host}'
    citus.node_conninfo = 'sslmode=disable'
    citus.recover_2pc_interval = '2s'
    wal_retrieve_retry_interval = '500ms'
  `)
  await server.start()
  await queryOn(server.port, 'CREATE DATABASE plants', 'postgres')
  await server.query('CREATE EXTENSION citus')
}

function asUser ([program = '', ...args]: string[]): void {
  const [setpriv = '', ...options] = [...asPostgres, join(bin, program), ...args]
  execFileSync(setpriv, options, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function queryOn<Row extends pg.QueryResultRow> (
  port: number, sql: string, database = 'plants'
): Promise<Row[]> {
  return queryOnce<Row>({ host, port, database }, sql)
}
