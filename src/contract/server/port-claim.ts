// Keeps two services from sharing a port. Threads share one (SO_REUSEPORT), and so could those of
// another service.
import { once } from 'node:events'
import { lookup } from 'node:dns/promises'
import { createServer, type ListenOptions, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds. */
const retryMs = 20
const longestWaitMs = 5000

/** The address is in use, or does not exist. */
export class CannotListen extends Error {
  constructor (host: string, port: number, error: NodeJS.ErrnoException, wayOut: string) {
    const { message, code = '' } = error
    const lacksFiles = ['EMFILE', 'ENFILE'].includes(code)
    const hint = lacksFiles ? 'Let the process open more files (ulimit -n).' : wayOut
    super(`Cannot listen on ${host}, port ${port}: ${message}. ${hint}`)
  }
}

/**
 * Claims a port while the first thread begins to listen at it. Port 0, any free one, is never
 * shared.
 * @param warn gets a sentence when another service could share the port after all
 * @param wayOut the sentence of CannotListen about what the owner of the service can do
 * @returns a function that ends the claim: once a thread listens, the system refuses the port to
 *   others
 * @throws CannotListen when the port is in use
 */
export async function claimPort (
  host: string,
  port: number,
  warn: (sentence: string) => void,
  wayOut = 'Choose another address or port.'
): Promise<() => void> {
  if (port === 0) return () => {}
  const lock = await lockStart(port, warn)
  try {
    const { address } = await lookup(host, { order: 'ipv4first' })
    const probe = await listen({ host: address, port })
    probe.close()
    await once(probe, 'close')
    return () => lock?.close()
  } catch (error) {
    lock?.close()
    throw new CannotListen(host, port, error as Error, wayOut)
  }
}

/** Waits until no other service is starting at the port. */
async function lockStart (
  port: number,
  warn: (sentence: string) => void
): Promise<Server | undefined> {
  // An abstract socket of Linux is of one network namespace, and ends with its process.
  const path = `\0fastify-openapi-contract, start at port ${port}`
  let reason = 'another service has been starting at this port for 5 seconds'
  const end = performance.now() + longestWaitMs
  for (; performance.now() < end; await sleep(retryMs)) {
    try {
      return await listen({ path })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'EADDRINUSE') continue
      reason = `this process may not create Unix sockets (${message})`
      break
    }
  }
  warn(`Two services that start at the same moment might share port ${port}: ${reason}.`)
  return undefined
}

async function listen (options: ListenOptions): Promise<Server> {
  const server = createServer().listen(options)
  await once(server, 'listening')
  return server
}
