// Answers the operations that the contract's owner leaves out.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Contract } from '../types.ts'
import { HttpError } from '../../server/http-error.ts'
import { routed, toRoute } from '../message/paths.ts'
import type { Routed } from '../message/paths.ts'
import { methodsOf } from './routing.ts'

/** The skipped operations that a request can reach. */
export function routedSkipped ({ server, skipped }: Contract, variables: Readonly<Record<string, string>>): Routed[] {
  return skipped.filter(({ isReachable }) => isReachable).map(operation => routed(operation, server, variables))
}

/**
 * Answers 501 (RFC 9110, section 15.6.2), without credentials: the contract is public. An operation with the same path,
 * whose parameters have other names, may be served.
 */
export function refuseSkipped (app: FastifyInstance, skipped: Routed[], operations: Routed[]): void {
  const refuse = (_request: FastifyRequest, _reply: FastifyReply, done: (error: Error) => void) => {
    done(new HttpError(501, 'The service does not implement this operation of its contract.'))
  }
  for (const operation of skipped) {
    const url = toRoute(operation.template)
    for (const method of methodsOf(operation, operations) as HTTPMethods[]) {
      if (app.hasRoute({ method, url })) continue
      app.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: String })
    }
  }
}

/** What a contract's owner should know at startup, a sentence each: what everyone may call, and what is left out. */
export function describeContract ({ operations, skipped }: Contract): string[] {
  const open = Object.values(operations).filter(({ security }) => {
    return security.length === 0 || security.some(requirement => Object.keys(requirement).length === 0)
  })
  return [
    ...open.map(({ method, url }) => `${method} ${url} needs no credentials.`),
    ...skipped.map(({ method, url, reason }) => `${method} ${url} is not served: ${reason}.`)
  ]
}
