// The servers that `npm run bench` loads: child processes that end when the benchmark ends.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A command and its whole environment; inherited variables could change the results. */
export interface Program { name: string, command: string[], env: Record<string, string> }

export interface Server { name: string, port: number, pid: number }

const children = new Map<number, ChildProcess>()
process.on('exit', () => [...children.keys()].forEach(killTree))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

/**
 * Starts a server and waits until it listens.
 * @param prefix runs the command, such as taskset
 */
export async function startServer ({ name, command, env }: Program, folder: string, prefix: string[]): Promise<Server> {
  const [file = '', ...args] = [...prefix, ...command]
  const child = spawn(file, args, {
    cwd: folder,
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

/** Kills a process and its children: a traced one survives strace. */
function killTree (pid: number): void {
  childrenOf(pid).forEach(killTree)
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** The process ids of its children; none on systems without /proc. */
function childrenOf (pid: number): number[] {
  try {
    const ofThreads = readdirSync(`/proc/${pid}/task`).map(id => readFileSync(`/proc/${pid}/task/${id}/children`, 'utf8'))
    return ofThreads.join(' ').match(/\d+/g)?.map(Number) ?? []
  } catch {
    return []
  }
}

/** Ends a server in order. */
export async function stopServer ({ pid }: Server): Promise<void> {
  const child = children.get(pid) as ChildProcess
  child.kill('SIGTERM')
  await once(child, 'exit')
  children.delete(pid)
}

/** CPU time in microseconds of all threads of a server and of its child processes; NaN on systems without /proc. */
export function cpuTime ({ pid }: Pick<Server, 'pid'>): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const nanoseconds = threads.map(id => Number.parseInt(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8')))
    const own = nanoseconds.reduce((sum, each) => sum + each) / 1000
    return childrenOf(pid).reduce((sum, child) => sum + cpuTime({ pid: child }), own)
  } catch {
    return NaN
  }
}
