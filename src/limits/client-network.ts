// The network of a caller, by which limits count.
import type { FastifyInstance } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { isIP, type Socket, SocketAddress } from 'node:net'

/**
 * An IPv4 address, or the first 64 bits of an IPv6 address: a host chooses the other bits at will.
 * With TRUST_PROXY the address is what the proxy wrote; text that is no address counts for the
 * proxy. Closed connections count together.
 */
export function networkOf (
  { ip, socket }: { ip: string, socket: Pick<Socket, 'remoteAddress'> }
): string {
  const address = isIP(ip) === 0 ? socket.remoteAddress ?? 'closed connections' : ip
  return isIP(address) === 6 ? networkOfIPv6(address) : address
}

function networkOfIPv6 (text: string): string {
  const withoutZone = text.replace(/%.*/s, '')
  // Lower case, without leading zeros, an IPv4-mapped address with dots.
  const { address } = new SocketAddress({ address: withoutZone, family: 'ipv6' })
  const [, ipv4] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? []
  if (ipv4 !== undefined) return ipv4
  const [head, tail = ''] = address.split('::') as [string, string?]
  const [first, last] = [groups(head), groups(tail)]
  const zeros = Array(Math.max(0, 8 - first.length - last.length)).fill('0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`
}

function groups (text: string): string[] {
  return text === '' ? [] : text.split(':')
}

/** A dozen IPv6 addresses. */
const maxForwarded = 512

/** With the port of the caller, as some proxies write them. */
const withPort = /\[([^\]\s,]*)\](?::\d+)?|(?<![\d:.])(\d+\.\d+\.\d+\.\d+):\d+/g

/**
 * Keeps the end of a long X-Forwarded-For, which the proxies nearest to the service wrote: each
 * address costs time, and a client may send hundreds. Removes ports.
 */
export function tidyForwardedFor ({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const field = headers['x-forwarded-for']
  if (typeof field !== 'string') return
  const end = field.slice(-maxForwarded)
  const whole = field.length > maxForwarded ? end.slice(end.indexOf(',') + 1) : field
  headers['x-forwarded-for'] = whole.replace(withPort, '$1$2')
}

/**
 * Warns once, at the first request with X-Forwarded-For from an address that TRUST_PROXY does not
 * name. All callers of an unknown proxy share its address.
 * @param trustProxy the value of TRUST_PROXY
 * @param warned shared by all threads: whether one has warned
 */
export function warnOfProxy (
  app: FastifyInstance,
  trustProxy: string[] = [],
  warned: Int32Array<SharedArrayBuffer>,
  warn: (sentence: string) => void
): void {
  let named: string | undefined
  app.addHook('onRequest', (request, _reply, done) => {
    done()
    const address = request.headers['x-forwarded-for'] && request.socket.remoteAddress
    if (!address || address === named || warned[0] === 1) return
    // Fastify adds the callers of a proxy that it trusts.
    if ((request.ips ?? []).length > 1) named = address
    else if (Atomics.exchange(warned, 0, 1) === 0) warn(unnamed(address, trustProxy))
  })
}

function unnamed (address: string, trustProxy: string[]): string {
  return `requests come with X-Forwarded-For from ${address}, which TRUST_PROXY does not name: ` +
    'the log and the limits take this address for that of the caller. If it is your proxy, set ' +
    `TRUST_PROXY=${[...trustProxy, address].join()}`
}
