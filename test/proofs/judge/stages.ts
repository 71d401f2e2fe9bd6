// Where the judge watches the service: with kills on SQLite and on PostgreSQL, with power cuts
// under SQLite, and with failovers of PostgreSQL.
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { copyProject, withoutSync } from '../../fixtures/mutation.ts'
import { startOwnPostgres, startPostgres } from '../../fixtures/postgres.ts'
import { makeDisk, prepareForDisk } from '../../fixtures/power.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { type Service, startService } from '../../fixtures/service.ts'
import { createTeardown, type Teardown } from '../../fixtures/teardown.ts'
import type { Content, History } from './history.ts'
import { readPostgres, readSqlite } from './service-client.ts'
import type { Chance } from './workload.ts'

export interface Stage {
  /** Faults until the database is replaced by an empty one. */
  faults: number
  /** Starts the services; resolves to their origins, or rejects when one does not start. */
  start: () => Promise<string[]>
  /** Lets the fault happen under load. The service may run on. */
  strike: (history: History) => Promise<void>
  /** Reads the whole database, past the service. */
  look: () => Promise<Map<bigint, Content>>
  end: () => Promise<void>
}

/** @param isControl takes away what protects the plants */
export type OpenStage = (chance: Chance, isControl: boolean) => Promise<Stage>

/**
 * Starts the service with one thread or two.
 * @throws Error when it does not start: then plants are lost
 */
export async function launch (
  t: Teardown, chance: Chance, folder: string, url: string, main = resolve('src/main.ts')
): Promise<Service> {
  const THREADS = chance() < 0.5 ? '1' : '2'
  const env = { ACCESS_TOKENS: testToken, LOG_LEVEL: 'info', DATABASE_URL: url, THREADS }
  const service = await startService(t, folder, env, [], { main })
  if (service.origin === '') throw new Error(`The service does not start: ${service.output()}`)
  return service
}

export async function kill ({ child, ended }: Service): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

/** Reads a copy, so that only the service recovers the file itself. */
export async function lookAtCopy (folder: string): Promise<Map<bigint, Content>> {
  const copy = mkdtempSync(join(tmpdir(), 'plant-store-judge-'))
  try {
    if (existsSync(folder)) cpSync(folder, copy, { recursive: true })
    rmSync(join(copy, 'plants.db-shm'), { force: true })
    return readSqlite(join(copy, 'plants.db'))
  } finally {
    rmSync(copy, { recursive: true })
  }
}

const killsOfSqlite: OpenStage = async chance => {
  const { t, end } = createTeardown()
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-judge-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const data = join(folder, 'data')
  let service: Service
  return {
    faults: 20,
    async start () {
      service = await launch(t, chance, folder, `sqlite:${join(data, 'plants.db')}`)
      return [service.origin]
    },
    strike: () => kill(service),
    look: () => lookAtCopy(data),
    end
  }
}

const killsOfPostgres: OpenStage = async chance => {
  const { t, end } = createTeardown()
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-judge-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const url = await (await startPostgres(t)).database()
  let service: Service
  return {
    faults: 20,
    async start () {
      service = await launch(t, chance, folder, url)
      return [service.origin]
    },
    strike: () => kill(service),
    look: () => readPostgres(url),
    end
  }
}

/** The primary is killed, with commits that no standby has; the standby takes its place. */
const failovers: OpenStage = async (chance, isControl) => {
  const { t, end } = createTeardown()
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-judge-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const primary = await startOwnPostgres(t)
  const standby = await primary.startStandby()
  if (!isControl) await primary.requireStandby('standby')
  const streaming = "SELECT pid FROM pg_stat_replication WHERE state = 'streaming'"
  let [sender] = await primary.query(streaming)
  while (sender === undefined) {
    await sleep(10)
    sender = (await primary.query(streaming))[0]
  }
  const pid = Number(sender.pid)
  return {
    faults: 1,
    async start () {
      const hosts = `${new URL(primary.url).host},${new URL(standby.url).host}`
      const both = primary.url.replace(new URL(primary.url).host, hosts)
      const url = `${both}?target_session_attrs=read-write`
      return [(await launch(t, chance, folder, url)).origin]
    },
    async strike () {
      process.kill(pid, 'SIGSTOP')
      await sleep(chance() * 300)
      await primary.kill()
      await sleep(chance() * 500)
      await standby.query('SELECT pg_promote()')
      // Clients go on at the new primary.
      await sleep(1500)
    },
    look: () => readPostgres(standby.url),
    end
  }
}

export const stages = {
  kills: () => killsOfSqlite, 'postgres-kills': () => killsOfPostgres, failovers: () => failovers
}

/** Makes a disk for all power cuts. For root: it continues in another mount namespace. */
export function preparePowerCuts (): OpenStage {
  prepareForDisk()
  const disk = makeDisk()
  let files = 0
  return async (chance, isControl) => {
    const { t, end } = createTeardown()
    // A cut can undo the removal of a folder: each database has another one.
    const data = join(disk.root, `data-${files++}`)
    const main = isControl ? join(disk.scratch, 'src/main.ts') : undefined
    if (main !== undefined && !existsSync(main)) await copyProject(disk.scratch, withoutSync)
    let service: Service
    let cut: () => Promise<void>
    return {
      faults: 20,
      async start () {
        const url = `sqlite:${join(data, 'plants.db')}`
        service = await launch(t, chance, disk.scratch, url, main)
        cut = await disk.arm()
        return [service.origin]
      },
      async strike (history) {
        history.distrust()
        await cut()
        await sleep(chance() * 20)
        await kill(service)
        disk.unmount()
        disk.mount()
      },
      look: () => lookAtCopy(data),
      async end () {
        await end()
        rmSync(data, { recursive: true, force: true })
      }
    }
  }
}
