// Backup of a running service, restored into a new one, by each means that docs/use/backup.md
// shows.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { missing } from '../../fixtures/packages.ts'
import { inParallel } from '../../fixtures/parallel.ts'
import { startPostgres } from '../../fixtures/postgres.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService, withoutCoverage } from '../../fixtures/service.ts'

const test = inParallel(t, 2)

const run = promisify(execFile)
const [program = '', ...command] = [...withoutCoverage, process.execPath, 'src/main.ts', 'copy']
const copy = (from: string, to: string) => run(program, [...command, from, to], { maxBuffer: 1e8 })

/** Makes a backup of the store and restores it, and resolves to the URL of the restored store. */
type Backup = (t: Test, folder: string, url: string) => Promise<string>

const strange = [
  '{"id":-9223372036854775808,"name":"least"}',
  '{"id":9007199254740993,"name":"\\\\ \\" 🌵 \\n","tag":"日本"}',
  '{"id":9223372036854775807,"name":"most","tag":""}'
]

/** Sends plants without a pause. */
function keepPosting (origin: string, acknowledged: Set<string>): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const post = async (plant: string) => {
    const { status } = await postPlant(origin, testToken, plant)
    if (status !== 200) throw new Error(`${status} for ${plant}`)
    acknowledged.add(plant)
  }
  const send = async (client: number) => {
    for (let nth = 0; !stopping.signal.aborted; nth++) await post(`{"id":${4 * nth + client},"name":"plant ${nth}"}`)
  }
  const all = Promise.all([...strange.map(post), ...[0, 1, 2, 3].map(send)])
  return {
    async stop () {
      stopping.abort()
      await all
    }
  }
}

async function checkBackup (t: Test, folder: string, url: string, backup: Backup): Promise<void> {
  const env = { ACCESS_TOKENS: testToken }
  const first = await startService(t, folder, { ...env, DATABASE_URL: url })
  const acknowledged = new Set<string>()
  const posting = keepPosting(first.origin, acknowledged)
  while (acknowledged.size < 200) await sleep(5)
  const before = [...acknowledged]
  const restored = await backup(t, folder, url)
  await posting.stop()
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  t.ok(acknowledged.size > before.length, 'plants arrived during the backup')

  const second = await startService(t, folder, { ...env, DATABASE_URL: restored })
  const lines = new Set((await copy(restored, '-')).stdout.split('\n').slice(0, -1))
  t.strictSame(before.filter(plant => !lines.has(plant)), [], 'each plant acknowledged before is there, byte for byte')
  t.strictSame(await statusesOf(second.origin, strange), [200, 200, 200])
  const others = strange.map(plant => plant.replace('"name":"', '"name":"x'))
  t.strictSame(await statusesOf(second.origin, others), [409, 409, 409])
  t.equal((await postPlant(second.origin, testToken, '{"id":-7,"name":"new"}')).status, 200)
}

async function statusesOf (origin: string, plants: string[]): Promise<number[]> {
  return Promise.all(plants.map(async plant => (await postPlant(origin, testToken, plant)).status))
}

test('npm run copy backs up a running service on SQLite', async t => {
  const folder = t.testdir()
  await checkBackup(t, folder, `sqlite:${join(folder, 'plants.db')}`, async (t, folder, url) => {
    const file = join(folder, 'backup.ndjson')
    await copy(url, file)
    t.ok(readFileSync(file, 'utf8').startsWith(`${strange[0]}\n`))
    const restored = `sqlite:${join(folder, 'restored.db')}`
    await copy(file, restored)
    return restored
  })
})

test('VACUUM INTO backs up a running service', async t => {
  const folder = t.testdir()
  await checkBackup(t, folder, `sqlite:${join(folder, 'plants.db')}`, async (_, folder) => {
    const database = new DatabaseSync(join(folder, 'plants.db'))
    database.prepare('VACUUM INTO ?').run(join(folder, 'restored.db'))
    database.close()
    return `sqlite:${join(folder, 'restored.db')}`
  })
})

test('npm run copy and pg_dump back up a running service on PostgreSQL', async t => {
  const postgres = await startPostgres(t)
  const folder = t.testdir({ copy: {}, dump: {} })
  await checkBackup(t, join(folder, 'copy'), await postgres.database(), async (_, folder, url) => {
    const file = join(folder, 'backup.ndjson')
    await copy(url, file)
    const restored = await postgres.database()
    await copy(file, restored)
    return restored
  })

  const reason = missing('pg_dump', 'postgresql-client')
  if (reason !== false) return t.comment(`pg_dump not tested: ${reason}`)
  const client = Number.parseInt((await run('pg_dump', ['--version'])).stdout.replace(/^\D*/, ''))
  const [row] = await postgres.query('SHOW server_version_num')
  const server = Math.floor(Number(row?.server_version_num) / 10_000)
  // pg_dump refuses a server that is newer than itself.
  if (client < server) return t.comment(`pg_dump not tested: it is of version ${client}, the server of ${server}`)
  await checkBackup(t, join(folder, 'dump'), await postgres.database(), async (_, folder, url) => {
    const file = join(folder, 'plants.dump')
    await run('pg_dump', ['--format=custom', `--file=${file}`, url])
    const restored = await postgres.database()
    await run('pg_restore', ['--exit-on-error', '--no-owner', '--no-acl', `--dbname=${restored}`, file])
    return restored
  })
})
