// The door of the hardened HTTP server, for services that put more around a contract: several
// threads, metrics, an orderly shutdown.
export { type ConnectionLimit, connectionLimit } from './connection-limit.ts'
export type { ServerOptions } from './http-server.ts'
export { containerMemory, memoryLimit } from './memory-limit.ts'
export { ServerResponse } from './node-http.ts'
export { type Answerable, connectionsOf } from './open-connections.ts'
export { maxWaitMs, Overload } from './overload.ts'
export { CannotListen, claimPort } from './port-claim.ts'
