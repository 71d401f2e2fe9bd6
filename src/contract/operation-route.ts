// Hooks of the application that depend on the operation, such as on its extensions in the contract.
import type { RouteShorthandOptions } from 'fastify'
import type { RoutedOperation } from './message/paths.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation that a route serves; routes outside the contract have none. */
    operation?: ServedOperation
  }
}

/** An operation as its hooks see it. */
export interface ServedOperation {
  readonly id: string
  readonly method: string
  /** The path template as the contract writes it. */
  readonly path: string
  readonly tags: readonly string[]
  /** The members of the operation in the contract whose names begin with `x-`. */
  readonly extensions: Readonly<Record<string, unknown>>
}

/** Fastify's hooks of one operation. Those of onRequest run once the caller is authenticated, before the body. */
export type OperationHooks = Pick<
  RouteShorthandOptions,
  'onRequest' | 'preHandler' | 'onSend' | 'onResponse' | 'onError' | 'onRequestAbort'
>

/** Returns the hooks of an operation; it is called once for each of them, at startup. */
export type HooksOf = (operation: ServedOperation) => OperationHooks

export function servedOperation ({ id, method, url, tags = [], extensions = {} }: RoutedOperation): ServedOperation {
  return { id, method, path: url, tags, extensions }
}
