// What the benches share: a temporary folder, two cores, servers, rounds and tables.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { parseNumber, parseNumbers, readOptions } from '../options.ts'
import { median, ratio } from './statistics.ts'

/** A command and its whole environment; inherited variables could change the results. */
export interface Program { name: string, command: string[], env: Record<string, string> }

export interface Server { name: string, port: number, pid: number }

/** The figures of one row of a table in one round. */
export interface Sample { name: string, figures: Record<string, number> }

/** The bearer token that every request has. */
export const token = 'secret'

/** The folder of this checkout. */
export const project = resolve(import.meta.dirname, '../..')

/** A temporary folder, which the end of the bench removes. */
export const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'))

const children = new Map<number, ChildProcess>()
process.on('exit', () => {
  for (const pid of children.keys()) killGroup(pid)
  // A killed server may still be closing its files: retry.
  rmSync(folder, { recursive: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(1))
}

type Setting = number | number[] | string | boolean

/** Reads the options of the command line; the type of each is that of its default. */
export function readSettings<Settings extends Record<string, Setting>> (
  defaults: Settings
): Settings {
  const options: Record<string, { type: 'string' | 'boolean' }> = {}
  for (const [name, value] of Object.entries(defaults)) {
    options[name] = { type: value === false ? 'boolean' : 'string' }
  }
  const settings: Record<string, Setting> = { ...defaults }
  for (const [name, value] of Object.entries(readOptions(options))) {
    const text = String(value)
    if (Array.isArray(defaults[name])) settings[name] = parseNumbers(name, text, 0)
    else if (typeof defaults[name] === 'number') settings[name] = parseNumber(name, text)
    else settings[name] = value as string | boolean
  }
  return settings as Settings
}

/**
 * The base of comparisons.
 * @param store commits each plant alone: sqlite, or the URL of a PostgreSQL with the table
 */
export function bareFastify (processes = 1, store = ''): Program {
  const command = [process.execPath, join(project, 'scripts/bench/bare.ts'), String(processes)]
  if (store === 'sqlite') {
    return { name: 'bare Fastify with commits', command, env: { PEER_STORE: store } }
  }
  if (store !== '') {
    const env = { PEER_STORE: 'postgres', DATABASE_URL: store }
    return { name: 'bare Fastify, one INSERT each', command, env }
  }
  const name = processes === 1 ? 'bare Fastify' : `bare Fastify, ${processes} processes`
  return { name, command, env: {} }
}

/** The service on SQLite, or as the variables of the environment say. */
export function service (
  name: string,
  env: Record<string, string> = {},
  checkout = project
): Program {
  const command = [process.execPath, join(checkout, 'src/main.ts')]
  const defaults = { PORT: '0', ACCESS_TOKENS: token, DATABASE_URL: 'sqlite:plants.db' }
  return { name, command, env: { ...defaults, ...env } }
}

/**
 * Gives core 1 to this process, which sends the load.
 * @returns the command that gives core 0 to a server; empty without taskset
 */
export function pinToCores (): string[] {
  const { status } = spawnSync('taskset', ['-acp', '1', String(process.pid)])
  return status === 0 ? ['taskset', '-c', '0'] : []
}

/**
 * Starts a server in its own folder, and waits until it listens.
 * @param prefix runs the command, such as taskset
 */
export async function startServer (program: Program, prefix: string[] = []): Promise<Server> {
  const { name, command, env } = program
  const [file = '', ...args] = [...prefix, ...command]
  const child = spawn(file, args, {
    cwd: mkdtempSync(join(folder, 'server-')),
    detached: true,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const pid = child.pid as number
  children.set(pid, child)
  for await (const line of createInterface(child.stdout)) {
    const port = /listening at http:\/\/[^"]*:(\d+)/.exec(line)?.[1]
    if (port === undefined) continue
    child.stdout.resume()
    return { name, port: Number(port), pid }
  }
  throw new Error(`${name}: ${command.join(' ')} did not start`)
}

/**
 * Starts several instances of each program. Neighbours in the result are instances of different
 * programs.
 */
export function startInstances (
  programs: Program[],
  instances: number,
  prefix: string[]
): Promise<Server[]> {
  const starting: Array<Promise<Server>> = []
  for (let instance = 0; instance < instances; instance++) {
    for (const program of programs) starting.push(startServer(program, prefix))
  }
  return Promise.all(starting)
}

/** Ends a server in order. */
export async function stopServer ({ pid }: Server): Promise<void> {
  const child = children.get(pid) as ChildProcess
  child.kill('SIGTERM')
  await once(child, 'exit')
  children.delete(pid)
}

/** Kills a server with its children: a traced server survives strace. */
function killGroup (pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/**
 * CPU time in microseconds of all threads of a process and of its child processes; NaN on systems
 * without /proc.
 */
export function cpuTime (pid: number | string): number {
  let sum = 0
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const read = (name: string) => readFileSync(`/proc/${pid}/task/${thread}/${name}`, 'utf8')
      // In nanoseconds.
      sum += Number.parseInt(read('schedstat')) / 1000
      for (const child of read('children').match(/\d+/g) ?? []) sum += cpuTime(child)
    }
    return sum
  } catch {
    return NaN
  }
}

export function residentMiB ({ pid }: Server): number {
  const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) / 1024
}

/** Runs rounds, and prints that each has ended. */
export async function repeat (
  rounds: number,
  run: (round: number) => Promise<void>
): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    await run(round)
    console.error(`round ${round} of ${rounds}`)
  }
}

/**
 * Prints a row with the medians of the samples of each name.
 * @param compared figures whose ratio to the first row is printed, too
 */
export function printMedians (title: string, samples: Sample[], compared: string[] = []): void {
  const rows: Record<string, Record<string, string>> = {}
  let base: Record<string, number> | undefined
  for (const [name, group] of Map.groupBy(samples, ({ name }) => name)) {
    const medians: Record<string, number> = {}
    for (const figure of Object.keys(group[0]?.figures ?? {})) {
      const known = group.map(({ figures }) => figures[figure] as number)
      medians[figure] = median(known.filter(value => !Number.isNaN(value)))
    }
    base ??= medians
    const row: Record<string, string> = {}
    for (const [figure, value] of Object.entries(medians)) {
      if (Number.isNaN(value)) row[figure] = 'unknown'
      else row[figure] = value < 100 ? value.toPrecision(3) : value.toFixed(0)
      const first = base[figure] as number
      if (compared.includes(figure)) row[`${figure} x`] = ratio(value, first)
    }
    rows[name] = row
  }
  console.log(`${title}, medians, Node ${process.version}`)
  console.table(rows)
}
