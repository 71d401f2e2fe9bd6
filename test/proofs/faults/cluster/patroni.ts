// A cluster of three machines, each with PostgreSQL 15 under Patroni and a member of etcd. On this
// computer HAProxy leads to the primary.
import { execFileSync } from 'node:child_process'
import { existsSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import {
  asPostgres, buildNetwork, ip, type Machine, type Network, sendSignal, start
} from './network.ts'
import { queryOnce } from './query.ts'

export interface Member extends Machine {
  /** Sends SIGKILL to the server and its child processes. */
  killPostgres: () => void
  killEtcd: () => void
  startEtcd: () => void
  /** Sends a signal to Patroni and PostgreSQL. */
  signal: (signal: 'SIGSTOP' | 'SIGCONT') => void
  /** Runs SQL as the superuser. */
  query: <Row extends pg.QueryResultRow>(sql: string, database?: string) => Promise<Row[]>
}

export interface Cluster {
  /** Values of DATABASE_URL: one through HAProxy, one that names the three machines. */
  urls: { haproxy: string, hosts: string }
  /** Creates the database of these URLs and its user. */
  createDatabase: (primary: Member) => Promise<void>
  /**
   * The primary of the whole cluster: both others stream from it, one of them synchronously, and etcd is healthy.
   * @throws Error that says what is missing
   */
  wholePrimary: () => Promise<Member>
  etcdLeader: () => Promise<Member>
  switchover: (primary: Member) => Promise<void>
}

const packages = {
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  iproute2: ip
}

/** The Debian packages that are not installed. */
export function missingPackages (): string[] {
  return Object.entries(packages).filter(([, program]) => !existsSync(program)).map(([name]) => name)
}

const passwords = { postgres: 'superuser', replicator: 'replication', plants: 'plants' }
const restPort = 8008
const etcdPort = 2379

/** Starts the processes of the cluster in the folder. `cleanup` ends them. */
export function startCluster (folder: string, synchronous: boolean, cleanup: AsyncDisposableStack): Cluster {
  const network = buildNetwork(['a', 'b', 'c'], cleanup)
  const members = network.machines.map(machine => startMember(folder, machine, network, synchronous))
  startHaproxy(folder, network, cleanup)
  const hosts = members.map(({ clientAddress }) => `${clientAddress}:5432`).join()
  const login = `plants:${passwords.plants}`
  return {
    urls: {
      haproxy: `postgres://${login}@${network.ownAddress}:5432/plants`,
      hosts: `postgres://${login}@${hosts}/plants?target_session_attrs=read-write`
    },
    async createDatabase (primary) {
      await primary.query(`CREATE ROLE plants LOGIN PASSWORD '${passwords.plants}'`)
      await primary.query('CREATE DATABASE plants OWNER plants')
    },
    wholePrimary: () => wholePrimary(members, synchronous),
    etcdLeader: () => etcdLeader(members),
    switchover
  }
}

function startMember (folder: string, machine: Machine, network: Network, synchronous: boolean): Member {
  const own = join(folder, machine.name)
  execFileSync('install', ['--directory', '--owner=postgres', '--mode=700', own])
  const startEtcd = () => machine.run(`${own}.etcd.log`, etcdCommand(own, machine, network))
  let etcd = startEtcd()
  const config = join(folder, `${machine.name}.patroni.json`)
  // Patroni reads YAML; JSON is YAML.
  writeFileSync(config, JSON.stringify(patroniConfig(own, machine, network, synchronous), null, 2))
  machine.run(`${own}.patroni.log`, [packages.patroni, config])
  const others = () => machine.processes().filter(pid => pid !== etcd.pid)
  return {
    ...machine,
    killPostgres: () => sendSignal(others().filter(isPostgres), 'SIGKILL'),
    killEtcd: () => { etcd.kill('SIGKILL') },
    startEtcd: () => { etcd = startEtcd() },
    signal: signal => sendSignal(others(), signal),
    query: (sql, database = 'postgres') => query(machine, sql, database)
  }
}

function isPostgres (pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === packages['postgresql-15']
  } catch {
    // The process has ended.
    return false
  }
}

function etcdCommand (folder: string, { name, peerAddress }: Machine, { machines }: Network): string[] {
  const options = {
    name,
    'enable-v2': 'true',
    'data-dir': join(folder, 'etcd'),
    'listen-peer-urls': `http://${peerAddress}:2380`,
    'initial-advertise-peer-urls': `http://${peerAddress}:2380`,
    'listen-client-urls': `http://0.0.0.0:${etcdPort}`,
    'advertise-client-urls': `http://${peerAddress}:${etcdPort}`,
    'initial-cluster': machines.map(({ name, peerAddress }) => `${name}=http://${peerAddress}:2380`).join()
  }
  return [packages['etcd-server'], ...Object.entries(options).map(([option, value]) => `--${option}=${value}`)]
}

function patroniConfig (folder: string, { name, peerAddress }: Machine, network: Network, synchronous: boolean) {
  return {
    scope: 'plants',
    name,
    restapi: { listen: `0.0.0.0:${restPort}`, connect_address: `${peerAddress}:${restPort}` },
    // Through version 3 of etcd's API, Patroni before 3.0.3 may take the lock from its new owner
    // (patroni#2689). Debian 12 has 3.0.2.
    etcd: { hosts: network.machines.map(({ peerAddress }) => `${peerAddress}:${etcdPort}`) },
    watchdog: { mode: 'off' },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 2,
        retry_timeout: 5,
        // Prefer a failover to a restart of a primary that crashed.
        primary_start_timeout: 0,
        synchronous_mode: synchronous,
        synchronous_mode_strict: synchronous,
        postgresql: { use_pg_rewind: true, parameters: { wal_sender_timeout: '10s', wal_receiver_timeout: '10s' } }
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums']
    },
    postgresql: {
      listen: '0.0.0.0:5432',
      connect_address: `${peerAddress}:5432`,
      data_dir: join(folder, 'data'),
      bin_dir: join(packages['postgresql-15'], '..'),
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password: passwords.postgres },
        replication: { username: 'replicator', password: passwords.replicator }
      },
      parameters: { unix_socket_directories: folder, shared_buffers: '32MB', max_connections: 50 },
      pg_hba: ['127.0.0.1/32', ...network.ranges].flatMap(range =>
        [`host all all ${range} scram-sha-256`, `host replication replicator ${range} scram-sha-256`])
    }
  }
}

function startHaproxy (folder: string, { machines, ownAddress }: Network, cleanup: AsyncDisposableStack): void {
  const config = join(folder, 'haproxy.cfg')
  writeFileSync(config, `
defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
listen primary
  bind ${ownAddress}:5432
  option httpchk GET /primary
  default-server check port ${restPort} inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${machines.map(({ name, clientAddress }) => `  server ${name} ${clientAddress}:5432`).join('\n')}
`)
  start(join(folder, 'haproxy.log'), [...asPostgres, packages.haproxy, '-db', '-f', config], cleanup)
}

function query<Row extends pg.QueryResultRow> (
  { clientAddress }: Machine, sql: string, database: string
): Promise<Row[]> {
  const { postgres: password } = passwords
  return queryOnce<Row>({ host: clientAddress, password, database, query_timeout: 20_000 }, sql)
}

async function wholePrimary (members: Member[], synchronous: boolean): Promise<Member> {
  for (const member of members) {
    const health = await request(member, etcdPort, 'GET /health')
    if (!health.text.includes('"true"')) throw new Error(`etcd on ${member.name} says ${health.text}`)
  }
  const answers = await Promise.all(members.map(member => request(member, restPort, 'GET /primary')))
  const [primary, ...more] = members.filter((_, index) => answers[index]?.ok)
  if (primary === undefined || more.length > 0) {
    throw new Error(`GET /primary is answered ${answers.map(({ status }) => status).join()}`)
  }
  const { text } = await request(primary, restPort, 'GET /cluster')
  const roles = Array.from(text.matchAll(/"role": "(\w+)"/g), ([, role]) => role).sort().join()
  if (roles !== `leader,replica,${synchronous ? 'sync_standby' : 'replica'}`) throw new Error(`the roles are ${roles}`)
  const standbys = await primary.query<{ state: string }>(streamingStandbys)
  const states = standbys.map(({ state }) => state).sort().join()
  if (states !== (synchronous ? 'async,sync' : 'async,async')) throw new Error(`the streaming standbys are ${states}`)
  return primary
}

const streamingStandbys = "SELECT sync_state AS state FROM pg_stat_replication WHERE state = 'streaming'"

/** Sends an HTTP request to a machine. @param target its method and path */
async function request ({ clientAddress }: Machine, port: number, target: string, body?: string) {
  const [method = '', path = ''] = target.split(' ')
  const response = await fetch(`http://${clientAddress}:${port}${path}`, {
    method,
    ...body !== undefined && { body },
    signal: AbortSignal.timeout(20_000)
  })
  return { ok: response.ok, status: response.status, text: await response.text() }
}

async function etcdLeader (members: Member[]): Promise<Member> {
  for (const member of members) {
    const { text } = await request(member, etcdPort, 'POST /v3/maintenance/status', '{}')
    const [, id] = /"member_id":"(\d+)"/.exec(text) ?? []
    if (id !== undefined && text.includes(`"leader":"${id}"`)) return member
  }
  throw new Error('etcd has no leader')
}

async function switchover (primary: Member): Promise<void> {
  const { ok, status, text } = await request(primary, restPort, 'POST /switchover', `{"leader":"${primary.name}"}`)
  if (!ok) throw new Error(`POST /switchover is answered ${status}: ${text}`)
}
