// The load of the benches: requests over keep-alive connections.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuTime, type Server, token } from './harness.ts'
import { p99 } from './statistics.ts'

export type MakeRequest = () => string

/** Requests per second, milliseconds, and microseconds of CPU per request. */
export type LoadFigures = Record<'throughput' | 'p99' | 'cpu', number>

export interface Connection { socket: Socket, sent: number }
type OnResponse = (connection: Connection, status: string) => void

// Ids of equal length make requests of equal length.
let lastId = 1_000_000_000

export function ordinaryPlant (): string {
  return postRequest('"name":"Boston fern","tag":"fern"')
}

/** Makes plants whose bodies have this many bytes. */
export function plantOfSize (bytes: number): MakeRequest {
  const others = '{"id":1000000000,"name":"","tag":"fern"}'.length
  const members = `"name":"${'x'.repeat(Math.max(0, bytes - others))}","tag":"fern"`
  return () => postRequest(members)
}

/** A plant with a new id and these ASCII members. */
export function postRequest (members: string): string {
  const body = `{"id":${++lastId},${members}}`
  return `POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Loads a server for some seconds; each connection sends one request after another. */
export async function load (
  server: Server,
  connections: number,
  seconds: number,
  request: MakeRequest = ordinaryPlant
): Promise<LoadFigures> {
  const latencies: number[] = []
  const stop = await keepSending(server, connections, request, ms => latencies.push(ms))
  const cpuBefore = cpuTime(server.pid)
  const began = performance.now()
  await sleep(seconds * 1000)
  const throughput = latencies.length / (performance.now() - began) * 1000
  const cpu = (cpuTime(server.pid) - cpuBefore) / latencies.length
  stop()
  return { throughput, p99: p99(latencies), cpu }
}

/**
 * Sends requests, on each connection one after another.
 * @returns ends the load
 */
export async function keepSending (
  { port }: Server,
  count: number,
  request: MakeRequest,
  onLatency: (ms: number) => unknown = () => {}
): Promise<() => void> {
  const connections = await open(port, count, (connection, status) => {
    if (status !== '200') throw new Error(`Unexpected response: ${status}`)
    onLatency(performance.now() - connection.sent)
    send(connection, request())
  })
  for (const connection of connections) send(connection, request())
  return () => close(connections)
}

export interface Rate { connections: number, perSecond: number, seconds: number }

/**
 * Sends requests at a rate, however long the responses take. A request that finds no free
 * connection waits, and its latency counts from the moment at which it was due.
 * @returns milliseconds of each response
 */
export async function sendAtRate (
  { port }: Server,
  request: MakeRequest,
  rate: Rate
): Promise<number[]> {
  const latencies: number[] = []
  const free: Connection[] = []
  const connections = await open(port, rate.connections, (connection, status) => {
    if (status !== '200') throw new Error(`Unexpected response: ${status}`)
    latencies.push(performance.now() - connection.sent)
    free.push(connection)
  })
  free.push(...connections)
  const began = performance.now()
  for (let arrived = 0; arrived < rate.seconds * rate.perSecond; arrived++) {
    const due = began + arrived * 1000 / rate.perSecond
    while (performance.now() < due || free.length === 0) await turn()
    send(free.shift() as Connection, request(), due)
  }
  while (free.length < connections.length) await turn()
  close(connections)
  return latencies
}

/** A turn of the event loop. */
export function turn (): Promise<void> {
  return new Promise(resolve => { setImmediate(resolve) })
}

export function send (connection: Connection, request: string, sent = performance.now()): void {
  connection.sent = sent
  connection.socket.write(request)
}

/** Opens connections. If the server ends one, the bench ends with an error. */
export async function open (
  port: number,
  count: number,
  onResponse: OnResponse
): Promise<Connection[]> {
  const connections: Connection[] = []
  while (connections.length < count) {
    const socket = connect(port, '127.0.0.1').setNoDelay()
    const connection = { socket, sent: 0 }
    await once(socket, 'connect')
    let status = ''
    socket.on('data', bytes => {
      if (status === '') status = bytes.toString('latin1', 9, 12)
      // Every response is a JSON object or list, maybe in several pieces: only its end is like it.
      if (bytes.at(-1) !== 0x7d && bytes.at(-1) !== 0x5d) return
      const complete = status
      status = ''
      onResponse(connection, complete)
    })
    socket.on('end', () => { throw new Error('The server ended a connection.') })
    connections.push(connection)
  }
  return connections
}

export function close (connections: Connection[]): void {
  for (const { socket } of connections) socket.destroy()
}
