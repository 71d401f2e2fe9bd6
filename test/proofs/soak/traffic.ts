// The traffic of a soak: callers, whose responses are counted, and strangers, slow clients and
// lost connections beside them.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { requestText } from '../../fixtures/raw.ts'
import { testToken } from '../../fixtures/secrets.ts'

export interface Traffic {
  /** Responses to POST /plants of all callers, by status. */
  statuses: Map<number, number>
  /** Plants with another id than all before. */
  plants: number
  /** Plants of guests whose connection ended before their last byte: the service answers 400. */
  cutOff: number
  /** Sentences about responses that no caller should get. */
  mistakes: string[]
  /** Resolves once each request of a caller has its response. */
  stop: () => Promise<void>
}

interface Request { text: string, allowed: readonly number[] }

/** Between two requests of a caller: the load takes about half of two cores. */
const pauseMs = 3
/** Requests on one connection before a caller opens another. */
const requestsPerConnection = 1000
/** Each so often strangers send everything for a moment. */
const burst = { everyMs: 7000, forMs: 300 }

/**
 * Starts the traffic.
 * @param takeJwt returns a token that no request has had, if there is one
 */
export function startTraffic (
  port: number,
  callers: number,
  takeJwt: () => string | undefined
): Traffic {
  const statuses = new Map<number, number>()
  const mistakes: string[] = []
  const over = new AbortController()
  let plants = 0
  let cutOff = 0

  function nextRequest (): Request {
    const chance = Math.random()
    const isBurst = performance.now() % burst.everyMs < burst.forMs
    if (isBurst ? chance < 0.9 : chance < 0.03) return stranger()
    // The first half of the plants is stored for certain.
    const known = 1 + Math.floor(Math.random() * plants / 2)
    if (chance < 0.2 && plants > 10_000) return post(known, 'fern', 200)
    if (chance < 0.3 && plants > 10_000) return post(known, 'ivy', 409)
    if (chance < 0.35) return post(1, 'x","name":1,"x":"', 400)
    return post(++plants, 'fern', 200)
  }

  function post (id: number, name: string, status: number): Request {
    const token = Math.random() < 0.05 ? takeJwt() ?? testToken : testToken
    const body = `{"id":${id},"name":"${name}"}`
    return { text: plantRequest(token, body), allowed: [status] }
  }

  async function runCaller (): Promise<void> {
    while (!over.signal.aborted) {
      const socket = connect(port, '127.0.0.1').setNoDelay()
      await once(socket, 'connect')
      for (let sent = 0; sent < requestsPerConnection; sent++) {
        if (over.signal.aborted) break
        const { text, allowed } = nextRequest()
        const status = await exchangeStatus(socket, text)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        await sleep(pauseMs)
        if (!allowed.includes(status)) mistakes.push(`${status} instead of ${allowed}: ${text}`)
      }
      socket.destroy()
    }
  }

  const running = [runGuests(port, over.signal, () => cutOff++)]
  for (let caller = 0; caller < callers; caller++) running.push(runCaller())
  return {
    statuses,
    mistakes,
    get plants () { return plants },
    get cutOff () { return cutOff },
    async stop () {
      over.abort()
      await Promise.all(running)
    }
  }
}

function plantRequest (token: string, body: string, fields: string[] = []): string {
  return requestText('POST /plants', [
    'Host: plants', `Authorization: Bearer ${token}`, 'Content-Type: application/json',
    `Content-Length: ${body.length}`, ...fields
  ], body)
}

/** A wrong token from a network of 65,536 million. */
function stranger (): Request {
  const group = () => Math.floor(Math.random() * 65_536).toString(16)
  const network = `X-Forwarded-For: 2001:${group()}:${group()}:${group()}::1`
  return { text: plantRequest('wrong', '{"id":1,"name":"fern"}', [network]), allowed: [401, 429] }
}

/** Sends a request whose response is a JSON object, and resolves to its status; 0 without one. */
function exchangeStatus (socket: Socket, text: string): Promise<number> {
  return new Promise(resolve => {
    let status = ''
    const end = (found: number) => {
      socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error')
      resolve(found)
    }
    socket.on('data', bytes => {
      if (status === '') status = bytes.toString('latin1', 9, 12)
      if (bytes.at(-1) === 0x7d) end(Number(status))
    })
    socket.once('close', () => end(0)).once('error', () => {})
    socket.write(text)
  })
}

/** Requests that are cut off, connections without a request, health checks, files of /docs. */
async function runGuests (
  port: number,
  over: AbortSignal,
  onCutOff: () => void
): Promise<void> {
  const cutOff = plantRequest(testToken, '{"id":1,"name":"fern"}').slice(0, -5)
  const texts = [
    cutOff, '', 'POST /pl', '\r\n\r\n', 'nonsense\r\n\r\n',
    requestText('GET /docs/static/swagger-ui-bundle.js', ['Host: plants']),
    requestText('GET /livez', ['Host: plants']).repeat(20),
    requestText('GET /readyz', ['Host: plants']), requestText('OPTIONS /plants', ['Host: plants'])
  ]
  while (!over.aborted) {
    const text = texts[Math.floor(Math.random() * texts.length)] as string
    if (text === cutOff) onCutOff()
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    socket.resume().write(text)
    await sleep(20)
    socket.destroy()
  }
}
