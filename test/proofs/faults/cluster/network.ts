// Three machines as network namespaces on this computer. Each has two network cards: one leads to
// the other machines, one to the clients on this computer. Removing a card's cable loses packets
// silently, as a broken switch does.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export type Card = 'peers' | 'clients'
const cards: Card[] = ['peers', 'clients']

export interface Machine {
  name: string
  /** The address that the other machines use. */
  peerAddress: string
  /** The address that this computer uses. */
  clientAddress: string
  /** Runs a command as the user postgres; its output goes to the file. */
  run: (log: string, command: string[]) => ChildProcess
  /** The ids of the processes that run now. */
  processes: () => number[]
  unplug: (card: Card) => void
  plug: (card: Card) => void
}

export interface Network {
  machines: Machine[]
  /** The address of this computer in the network of the clients. */
  ownAddress: string
  /** Both networks in the notation of pg_hba.conf. */
  ranges: string[]
}

export const ip = '/sbin/ip'

/** Processes that run as the user postgres: PostgreSQL and Patroni refuse to run as root. */
export const asPostgres = ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups']

/** Builds the network. `cleanup` ends the processes in it and removes it. */
export function buildNetwork (names: string[], cleanup: AsyncDisposableStack): Network {
  // Names of interfaces have at most 15 characters.
  const id = `ps${randomBytes(4).toString('hex')}`
  const prefixes = { peers: '198.18.0', clients: unusedPrefix() }
  for (const card of cards) addBridge(bridgeOf(id, card), cleanup)
  const ownAddress = `${prefixes.clients}.254`
  run('address', 'add', `${ownAddress}/24`, 'dev', bridgeOf(id, 'clients'))
  const machines = names.map((name, index) => {
    const addresses = { peers: `${prefixes.peers}.${index + 1}`, clients: `${prefixes.clients}.${index + 1}` }
    return addMachine(id, name, addresses, cleanup)
  })
  return { machines, ownAddress, ranges: Object.values(prefixes).map(prefix => `${prefix}.0/24`) }
}

function run (...args: string[]): string {
  return execFileSync(ip, args, { encoding: 'utf8' })
}

/**
 * 198.18.0.0/15 is reserved for tests (RFC 2544). No route leads to the peers, so all runs share
 * their range.
 */
function unusedPrefix (): string {
  const used = run('-4', 'address')
  for (;;) {
    const prefix = `198.19.${randomInt(256)}`
    if (!used.includes(`${prefix}.`)) return prefix
  }
}

const bridgeOf = (id: string, card: Card): string => `${id}-${card[0]}`

function addBridge (name: string, cleanup: AsyncDisposableStack): void {
  run('link', 'add', name, 'type', 'bridge')
  cleanup.defer(() => { run('link', 'del', name) })
  run('link', 'set', name, 'up')
}

function addMachine (
  id: string,
  name: string,
  addresses: Record<Card, string>,
  cleanup: AsyncDisposableStack
): Machine {
  const namespace = `${id}-${name}`
  run('netns', 'add', namespace)
  cleanup.defer(() => removeNamespace(namespace))
  run('-n', namespace, 'link', 'set', 'lo', 'up')
  const cableOf = (card: Card): string => `${id}-${card[0]}${name}`
  const plug = (card: Card) => { run('link', 'set', cableOf(card), 'master', bridgeOf(id, card), 'up') }
  for (const card of cards) {
    run('link', 'add', cableOf(card), 'type', 'veth', 'peer', 'name', card, 'netns', namespace)
    // Connections that wait for their last acknowledgement keep a namespace and its cables for
    // minutes.
    cleanup.defer(() => { run('link', 'del', cableOf(card)) })
    run('-n', namespace, 'address', 'add', `${addresses[card]}/24`, 'dev', card)
    run('-n', namespace, 'link', 'set', card, 'up')
    plug(card)
  }
  return {
    name,
    peerAddress: addresses.peers,
    clientAddress: addresses.clients,
    run: (log, command) => start(log, [ip, 'netns', 'exec', namespace, ...asPostgres, ...command], cleanup),
    processes: () => processesIn(namespace),
    unplug: card => { run('link', 'set', cableOf(card), 'nomaster') },
    plug
  }
}

/** Starts a process that a Ctrl-C on the terminal does not reach; its output goes to the file. */
export function start (log: string, [program = '', ...args]: string[], cleanup: AsyncDisposableStack): ChildProcess {
  const output = openSync(log, 'a')
  const child = spawn(program, args, { stdio: ['ignore', output, output], detached: true })
  cleanup.defer(() => { child.kill('SIGKILL') })
  return child
}

function processesIn (namespace: string): number[] {
  return run('netns', 'pids', namespace).trim().split('\n').filter(pid => pid !== '').map(Number)
}

async function removeNamespace (namespace: string): Promise<void> {
  // A process may start another one before it ends.
  for (let pids = processesIn(namespace); pids.length > 0; pids = processesIn(namespace)) {
    sendSignal(pids, 'SIGKILL')
    await sleep(50)
  }
  run('netns', 'del', namespace)
}

/** Sends a signal to processes, some of which may have ended. */
export function sendSignal (pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {
      // The process has ended.
    }
  }
}
