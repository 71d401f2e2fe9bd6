// Another version of the service and this one, on the same database: by turns on a SQLite file, and
// beside each other on PostgreSQL.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { exitWith } from '../../../scripts/options.ts'
import { unpackRevision } from '../../../scripts/revision.ts'
import { startPostgres } from '../../fixtures/postgres.ts'
import type { Service } from '../../fixtures/service.ts'
import { createTeardown } from '../../fixtures/teardown.ts'
import { kill, launch, lookAtCopy, type OpenStage } from './stages.ts'
import { readPostgres } from './service-client.ts'
import type { Chance } from './workload.ts'

/** Unpacks the other version, with the packages of its own lockfile. */
function install (revision: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-version-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const checkout = join(folder, 'checkout')
  if (!unpackRevision(revision, '.', checkout)) exitWith(`--revision: git knows no ${revision}.`)
  console.log(`installing the packages of ${revision}`)
  const options = ['--no-audit', '--no-fund', '--loglevel=error']
  const { status, stderr } = spawnSync('npm', ['ci', ...options], { cwd: checkout, encoding: 'utf8' })
  if (status !== 0) exitWith(`npm ci of ${revision} failed: ${stderr}`)
  return join(checkout, 'src/main.ts')
}

async function stop ({ child, ended }: Service): Promise<void> {
  child.kill('SIGTERM')
  const code = await ended
  if (code !== 0) throw new Error(`The service ended with ${code}.`)
}

/** Ends a service in order, or kills it. */
function end (service: Service, chance: Chance): Promise<void> {
  return chance() < 0.5 ? stop(service) : kill(service)
}

export function prepareUpgrades (revision: string): OpenStage {
  const versions = [install(revision), resolve('src/main.ts')]
  return async chance => {
    const { t, end: endStage } = createTeardown()
    const folder = mkdtempSync(join(tmpdir(), 'plant-store-judge-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const data = join(folder, 'data')
    let turns = 0
    let service: Service
    return {
      faults: 20,
      async start () {
        const main = versions[turns++ % 2]
        service = await launch(t, chance, folder, `sqlite:${join(data, 'plants.db')}`, main)
        return [service.origin]
      },
      strike: () => end(service, chance),
      look: () => lookAtCopy(data),
      end: endStage
    }
  }
}

/** Two services at a time: old and old, new and old, new and new, old and new, and so on. */
export function prepareRollingUpgrades (revision: string): OpenStage {
  const versions = [install(revision), resolve('src/main.ts')]
  return async chance => {
    const { t, end: endStage } = createTeardown()
    const folder = mkdtempSync(join(tmpdir(), 'plant-store-judge-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const url = await (await startPostgres(t)).database()
    const launches = [0, 0]
    const running: Service[] = []
    let turns = 0
    return {
      faults: 20,
      async start () {
        for (const [place, count] of launches.entries()) {
          running[place] ??= await launch(t, chance, folder, url, versions[count % 2])
        }
        return running.map(({ origin }) => origin)
      },
      async strike () {
        const place = turns++ % 2
        await end(running[place] as Service, chance)
        delete running[place]
        launches[place] = (launches[place] ?? 0) + 1
      },
      look: () => readPostgres(url),
      end: endStage
    }
  }
}
