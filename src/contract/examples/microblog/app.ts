// Pages, events, OAuth2 scopes, and what the engine leaves to hooks.
import { EventEmitter } from 'node:events'
import fastify, { type FastifyInstance } from 'fastify'
import { serveContract, serverOptions } from 'fastify-openapi-contract'
import { contract } from './generated/index.ts'
import { idempotencyHooks } from './idempotency.ts'
import { rateLimitHook } from './rate-limit.ts'
import { signatureHook } from './signature.ts'
import type { FeedEvents } from './events.ts'
import { statusHandlers } from './statuses.ts'
import { type Access, tokenVerifier } from './tokens.ts'

export interface BlogOptions {
  tokens: ReadonlyMap<string, Access>
  /** The key of the signatures of moderators. */
  signingSecret: string
  /** In milliseconds, for the rate limit. */
  now?: () => number
}

export async function buildMicroblog (
  { tokens, signingSecret, now = Date.now }: BlogOptions
): Promise<FastifyInstance> {
  const app = fastify(serverOptions())
  await app.register(serveContract({
    contract,
    handlers: statusHandlers(new EventEmitter<FeedEvents>()),
    verifiers: {
      OAuth: tokenVerifier(tokens),
      // The hook compares the signature.
      Signature: () => ({ name: 'moderators' })
    },
    hooks: ({ extensions }) => {
      const limit = extensions['x-rate-limit']
      return {
        ...typeof limit === 'number' && { onRequest: rateLimitHook(limit, now) },
        ...extensions['x-idempotent'] === true && idempotencyHooks(),
        ...extensions['x-signed'] === true && { preParsing: signatureHook(signingSecret) }
      }
    }
  }))
  return app
}
