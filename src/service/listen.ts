// Listens at the address of HOST, as the service and the server of METRICS_PORT do.
import type { FastifyInstance } from 'fastify'
import { CannotListen } from 'fastify-openapi-contract/server'
import { lookup } from 'node:dns/promises'
import type { ListenOptions } from 'node:net'

/** Fastify passes all options to Node, but its type has fewer. */
type Listen = (options: ListenOptions) => Promise<string>

/**
 * Resolves to the address of the server.
 * @param variable the one that sets the port
 * @throws CannotListen
 */
export async function listenAt (
  app: FastifyInstance,
  { host, port, reusePort = false }: { host: string, port: number, reusePort?: boolean },
  variable = 'PORT'
): Promise<string> {
  try {
    // For localhost Fastify would add servers, without the limits and error answers.
    const { address } = await lookup(host, { order: 'ipv4first' })
    return await (app.listen as Listen)({ host: address, port, reusePort })
  } catch (error) {
    throw new CannotListen(host, port, error as Error, wayOutOf(variable))
  }
}

/** @param variable the one that sets the port */
export function wayOutOf (variable: string): string {
  return `Set HOST and ${variable} to listen elsewhere.`
}
