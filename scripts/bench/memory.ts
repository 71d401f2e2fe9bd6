// npm run bench:memory: the memory of the service beside bare Fastify, idle and during minutes at 70 % of its peak.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { ownCheckout, startCommand } from './checkout.ts'
import { load, nextRequest, sendAtRate, token } from './load.ts'
import { startServer, stopServer } from './server.ts'
import type { Program, Server } from './server.ts'
import { parseNumber, readOptions } from '../options.ts'
import { median } from './statistics.ts'

const texts = readOptions({
  /** Minutes of load for each server. */
  minutes: { type: 'string', default: '10' },
  /** Load as a percentage of the peak. */
  percent: { type: 'string', default: '70' }
})
const minutes = parseNumber('minutes', texts.minutes)
const percent = parseNumber('percent', texts.percent)

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 5 }))
// The load gets core 1, the servers core 0, as in `npm run bench`.
const pinned = spawnSync('taskset', ['-acp', '1', String(process.pid)]).status === 0
const programs: Program[] = [
  { name: 'bare Fastify', command: startCommand(ownCheckout, 'scripts/bench/bare.ts'), env: {} },
  {
    name: 'service, SQLite',
    command: startCommand(ownCheckout, 'src/main.ts'),
    env: { PORT: '0', ACCESS_TOKENS: token, DATABASE_URL: 'sqlite:plants.db' }
  }
]
const rows = new Map<string, object>()
for (const program of programs) rows.set(program.name, await measure(program))
console.log(`Resident MiB at ${percent} % of the peak, medians of each minute, Node ${process.version}`)
console.table(Object.fromEntries(rows))
process.exit()

async function measure (program: Program): Promise<object> {
  const server = await startServer(program, mkdtempSync(join(folder, 'server-')), pinned ? ['taskset', '-c', '0'] : [])
  const idle = residentMiB(server)
  await load(server, 64, 4)
  const { throughput } = await load(server, 64, 3)
  const rate = throughput * percent / 100
  const figures: Record<string, string> = { 'requests/s': rate.toFixed(0), idle: idle.toFixed(0) }
  for (let minute = 1; minute <= minutes; minute++) {
    const samples: number[] = []
    const timer = setInterval(() => samples.push(residentMiB(server)), 500)
    await sendAtRate(server, nextRequest, rate, 60)
    clearInterval(timer)
    figures[`min ${minute}`] = median(samples).toFixed(0)
    console.error(`${program.name}: minute ${minute} of ${minutes}, ${figures[`min ${minute}`]} MiB`)
  }
  await stopServer(server)
  return figures
}

function residentMiB ({ pid }: Server): number {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kibibytes) / 1024
}
