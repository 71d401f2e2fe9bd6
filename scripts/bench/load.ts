// The load of `npm run bench`: each connection sends POST /plants requests one after another.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuTime } from './server.ts'
import type { Server } from './server.ts'
import { p99 } from './statistics.ts'

/** Requests per second, 99th percentile of the latency in milliseconds, CPU time per request in microseconds. */
export interface Figures { throughput: number, p99: number, cpu: number }

/** The bearer token that every request has. */
export const token = 'secret'

// Ids of equal length make requests of equal length.
let lastId = 1_000_000_000

/**
 * Loads a server for a number of seconds.
 * @param request makes the next request
 * @throws Error when a response is not 200, or a connection is lost
 */
export async function load (
  server: Server,
  connections: number,
  seconds: number,
  request: () => string = nextRequest
): Promise<Figures> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(server.port)))
  const latencies: number[] = []
  const failed = Promise.withResolvers<never>()
  const cpuBefore = cpuTime(server)
  const began = performance.now()
  for (const socket of sockets) keepBusy(socket, request, latency => latencies.push(latency), failed.reject)
  await Promise.race([sleep(seconds * 1000), failed.promise])
  const elapsed = (performance.now() - began) / 1000
  const cpu = (cpuTime(server) - cpuBefore) / latencies.length
  for (const socket of sockets) socket.destroy()
  return { throughput: latencies.length / elapsed, p99: p99(latencies), cpu }
}

/**
 * Sends requests at a rate per second, however long the responses take. A request waits from the moment at which it is
 * due, also while all connections are in use.
 * @returns milliseconds that each request took
 * @throws Error when a response is not 200
 */
export async function sendAtRate (
  { port }: Server,
  request: () => string,
  rate: number,
  seconds: number
): Promise<number[]> {
  const latencies: number[] = []
  let unexpected: string | undefined
  const turn = async () => {
    if (unexpected !== undefined) throw new Error(`Unexpected response: ${unexpected}`)
    await new Promise(setImmediate)
  }
  const sockets = await Promise.all(Array.from({ length: 32 }, () => open(port)))
  const free = [...sockets]
  const due = new Map<Socket, number>()
  for (const socket of sockets) {
    socket.on('data', response => {
      const answer = response.toString('latin1')
      if (!answer.startsWith('HTTP/1.1 200 ')) unexpected = answer
      latencies.push(performance.now() - (due.get(socket) as number))
      free.push(socket)
    })
  }
  const began = performance.now()
  for (let sent = 0; sent < seconds * rate; sent++) {
    const time = began + sent * 1000 / rate
    while (performance.now() < time || free.length === 0) await turn()
    const socket = free.shift() as Socket
    due.set(socket, time)
    socket.write(request())
  }
  while (free.length < sockets.length) await turn()
  for (const socket of sockets) socket.destroy()
  return latencies
}

export async function open (port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay()
  await once(socket, 'connect')
  return socket
}

/** Sends a request, and the next one as soon as it is answered. */
function keepBusy (
  socket: Socket,
  request: () => string,
  onAnswer: (latency: number) => void,
  onFailure: (error: Error) => void
): void {
  let sent = 0
  let isFirstPiece = true
  const send = () => {
    const text = request()
    isFirstPiece = true
    sent = performance.now()
    socket.write(text)
  }
  socket.on('data', bytes => {
    const piece = bytes.toString('latin1')
    if (isFirstPiece && !piece.startsWith('HTTP/1.1 200 ')) onFailure(new Error(`Unexpected response: ${piece}`))
    isFirstPiece = false
    if (!piece.endsWith('"tag":"fern"}')) return
    onAnswer(performance.now() - sent)
    send()
  })
  socket.on('error', onFailure)
  socket.on('end', () => onFailure(new Error('The server ended a connection.')))
  send()
}

export function nextRequest (): string {
  return postRequest('"name":"Boston fern","tag":"fern"')
}

/** A plant with these ASCII members and a new id, by default the next one. */
export function postRequest (members: string, id: number = ++lastId): string {
  const body = `{"id":${id},${members}}`
  return `POST /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
