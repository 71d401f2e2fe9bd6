// The service in one thread: the app and its HTTP server. Threads may share engine and credentials.
import { memoryLimit } from 'fastify-openapi-contract/server'
import { createVerifier, type Credentials } from '../auth/verifier.ts'
import type { Config } from '../config/config.ts'
import { exceedsFailures } from '../limits/failed-auth.ts'
import { groupCommit } from '../stores/group-commit.ts'
import type { Engine } from '../stores/engine.ts'
import { Recorder } from '../telemetry/metrics-recorder.ts'
import { type AppOptions, buildApp } from './app.ts'
import { listenAt } from './listen.ts'

type OfApp = 'log' | 'maxConnections' | 'shared' | 'thread'

export interface AppServerOptions extends Pick<AppOptions, OfApp> {
  config: Config
  engine: Engine
  credentials: Credentials
}

export interface AppServer {
  /** Resolves to the address. Several threads may listen at a port. */
  listen: (port: number) => Promise<string>
  /** Finishes the requests that are in progress, and closes the engine. */
  close: () => Promise<void>
  /** Like close(), while other threads go on: /readyz stays 200, without SHUTDOWN_DELAY. */
  leave: () => Promise<void>
}

/** @throws Error with the reason */
export async function openAppServer ({
  config, engine, credentials, ...options
}: AppServerOptions): Promise<AppServer> {
  const { log, thread, shared } = options
  const { threads } = shared
  const recorder = new Recorder(shared.metrics, thread)
  const store = groupCommit(engine, {
    observer: recorder,
    maxQueue: Math.ceil(config.maxQueue / threads),
    // The rest is for reading requests and for the batch that is being stored.
    maxQueueBytes: memoryLimit(threads) / 8,
    // Less than the time limit for a response, whose error would not say what the store waits for.
    timeoutMs: 9000
  })
  const isSuspect = exceedsFailures(config.failedAuthLimit, shared.failures)
  const verifyToken = await createVerifier(credentials, config.jwt, log, isSuspect)
  let isLeaving = false
  const app = await buildApp({
    ...config,
    ...options,
    store,
    verifyToken,
    recorder,
    isLeaving: () => isLeaving
  })
  const stopWatching = recorder.watchEventLoop()

  async function close (): Promise<void> {
    stopWatching()
    await app.close()
    await store.close()
  }
  return {
    listen: port => listenAt(app, { host: config.host, port, reusePort: threads > 1 }),
    close,
    async leave () {
      isLeaving = true
      await close()
    }
  }
}
