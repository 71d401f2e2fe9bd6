// npm run prove -- soak: half an hour under load, in which the minutes of the service pass a
// thousand times as fast: three weeks of windows, summaries and renewals. Memory, files, threads
// and the log must stop growing, and /metrics must agree with the callers at the end. The control
// keeps every verified JWT for ever: its memory must be found to grow.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { exitWith, parseNumber, readOptions } from '../../../scripts/options.ts'
import { median } from '../../../scripts/bench/statistics.ts'
import { samples as metricsOf } from '../../fixtures/exposition.ts'
import { audience, makeKey, startIssuer } from '../../fixtures/issuer.ts'
import { copyProject } from '../../fixtures/mutation.ts'
import { startOwnPostgres } from '../../fixtures/postgres.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { startService } from '../../fixtures/service.ts'
import { createTeardown } from '../../fixtures/teardown.ts'
import { startTraffic } from './traffic.ts'

const texts = readOptions({
  minutes: { type: 'string', default: '30' },
  /** How many times as fast the minutes of the service pass. */
  speed: { type: 'string', default: '1000' },
  /** sqlite or postgres. */
  store: { type: 'string', default: 'sqlite' },
  control: { type: 'boolean', default: false }
})
const minutes = parseNumber('minutes', texts.minutes)
const speed = parseNumber('speed', texts.speed)
if (!['sqlite', 'postgres'].includes(texts.store)) exitWith('--store: use sqlite or postgres.')

/** The first third of all samples is the warm-up. */
const samplesOfRun = 60
const callers = 32
const jwtsPerSecond = 200

const { t, end } = createTeardown()
const folder = mkdtempSync(join(tmpdir(), 'plant-store-soak-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const database = join(folder, 'data', 'plants.db')
const postgres = texts.store === 'postgres' ? await startOwnPostgres(t) : undefined
const issuer = await startIssuer(t)
const key = await makeKey('only')
issuer.publish(key)
const tokens = join(folder, 'tokens')
writeFileSync(tokens, testToken, { mode: 0o600 })
const { child, origin, output } = await startService(t, folder, {
  ACCESS_TOKENS_FILE: tokens,
  DATABASE_URL: postgres?.url ?? `sqlite:${database}`,
  JWT_AUDIENCE: audience,
  JWT_ISSUER: issuer.issuer,
  LOG_LEVEL: 'info',
  THREADS: String(availableParallelism()),
  TRUST_PROXY: '127.0.0.1'
}, ['--import', `${new URL('fast-minutes.ts', import.meta.url)}?speed=${speed}`], {
  main: texts.control ? await withoutLimitOfTokens() : 'src/main.ts'
})
if (origin === '') exitWith(`The service does not start: ${output()}`)

const jwts: string[] = []
const signing = setInterval(async () => {
  const exp = Math.floor(Date.now() / 1000) + 3600
  const clients = Array.from({ length: jwtsPerSecond / 10 }, () => issuer.sign(key, { exp }))
  if (jwts.length < jwtsPerSecond) jwts.push(...await Promise.all(clients))
}, 100)
const rotating = setInterval(() => {
  writeFileSync(tokens, `${testToken}\nof-this-moment-${Date.now()}`)
}, 5000)

const traffic = startTraffic(Number(new URL(origin).port), callers, () => jwts.pop())
const found: Sample[] = []
const columns = 'minute  requests   RSS MiB  files  threads  log B/request  -wal MiB  B/plant'
console.log(`${minutes} minutes on ${texts.store}${texts.control ? ', control' : ''}, ` +
  `those of the service ${speed} times as fast\n${columns}`)
for (let taken = 1; taken <= samplesOfRun; taken++) {
  await sleep(minutes * 60_000 / samplesOfRun)
  await Promise.all([fetchText('/metrics'), fetch(`${origin}/readyz`)])
  const sample = await takeSample()
  found.push(sample)
  if (taken % 5 === 0) print(taken * minutes / samplesOfRun, sample)
}
clearInterval(signing)
clearInterval(rotating)
await traffic.stop()
const mistakes = [...traffic.mistakes.slice(0, 5), ...growth(), ...await miscounts()]
for (const mistake of mistakes) console.log(mistake)
console.log(`${requests()} requests, ${traffic.plants} plants, ${mistakes.length} mistakes`)
await end()
const isFound = mistakes.length > 0
process.exit(isFound === texts.control ? 0 : 1)

interface Sample { rss: number, files: number, threads: number, log: number, wal: number, plant: number }

function requests (): number {
  return traffic.statuses.values().reduce((sum, count) => sum + count, 0)
}

/** MiB, and bytes for each request or plant; 0 for the log of PostgreSQL. */
async function takeSample (): Promise<Sample> {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const bytesOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return {
    rss: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    files: readdirSync(`/proc/${child.pid}/fd`).length,
    threads: Number(/Threads:\s+(\d+)/.exec(status)?.[1]),
    log: output().length / requests(),
    wal: bytesOf(`${database}-wal`) / 2 ** 20,
    plant: (await bytesOfPostgres() ?? bytesOf(database)) / traffic.plants
  }
}

function print (minute: number, { rss, files, threads, log, wal, plant }: Sample): void {
  const cells = [
    minute.toFixed(1).padStart(6), String(requests()).padStart(9), rss.toFixed(0).padStart(9),
    String(files).padStart(6), String(threads).padStart(8), log.toFixed(2).padStart(14),
    wal.toFixed(1).padStart(9), plant.toFixed(1).padStart(8)
  ]
  console.log(cells.join(' '))
}

/** What the last third of the samples has more of than the second third. */
function growth (): string[] {
  const third = samplesOfRun / 3
  const [middle, last] = [found.slice(third, 2 * third), found.slice(2 * third)]
  const allowed: Sample = { rss: 1.1, files: 1.1, threads: 1, log: 1.1, wal: 1.1, plant: 1.05 }
  const grown: string[] = []
  for (const name of Object.keys(allowed) as Array<keyof Sample>) {
    const before = median(middle.map(sample => sample[name]))
    const after = median(last.map(sample => sample[name]))
    if (after <= before * allowed[name]) continue
    grown.push(`${name} has grown from ${before.toFixed(1)} to ${after.toFixed(1)}.`)
  }
  return grown
}

/** Differences between the callers, /metrics and the database. */
async function miscounts (): Promise<string[]> {
  // The text of the last sample counts for a second.
  await sleep(1000)
  const metrics = metricsOf(await fetchText('/metrics'))
  const differences: string[] = []
  for (const [status, count] of traffic.statuses) {
    const labels = `{http_request_method="POST",http_response_status_code="${status}",` +
      'http_route="/plants"}'
    const counted = metrics[`http_server_request_duration_seconds_count${labels}`] ?? 0
    // The end of a guest's connection may arrive with its request, which is then not answered.
    const most = status === 400 ? count + traffic.cutOff : count
    if (counted >= count && counted <= most) continue
    differences.push(`/metrics has ${counted} responses ${status}, the callers ${count}.`)
  }
  const stored = await countPlants()
  if (stored === traffic.plants) return differences
  return [...differences, `${stored} plants are stored, not ${traffic.plants}.`]
}

async function countPlants (): Promise<number> {
  const text = 'SELECT count(*) AS plants FROM plants'
  if (postgres !== undefined) return Number((await postgres.query(text))[0]?.plants)
  return Number(new DatabaseSync(database, { readOnly: true }).prepare(text).get()?.plants)
}

async function bytesOfPostgres (): Promise<number | undefined> {
  if (postgres === undefined) return undefined
  return Number((await postgres.query('SELECT pg_database_size(current_database()) AS bytes'))[0]?.bytes)
}

async function fetchText (path: string): Promise<string> {
  return (await fetch(origin + path, { headers: { authorization: `Bearer ${testToken}` } })).text()
}

/** A copy of the service that keeps every verified token. */
async function withoutLimitOfTokens (): Promise<string> {
  const copy = join(folder, 'copy')
  await copyProject(copy, [{
    file: 'src/auth/issuer-keys.ts',
    text: 'const maxAcceptedTokens = 1000',
    by: 'const maxAcceptedTokens = Infinity'
  }])
  return resolve(copy, 'src/main.ts')
}
