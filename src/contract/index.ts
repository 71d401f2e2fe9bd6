// The door of the contract engine for programs that serve a contract. Programs without a server use
// schema/index.ts; programs that generate code use generate/.
export type { BodyLimits } from './bodies/media.ts'
export type { Bytes, FieldPart, FilePart, ServerSentEvent } from './body-types.ts'
export { docsPath, serveDocs } from './docs.ts'
export {
  answerErrors, answerServerErrors, errorOptions, refuseOverload
} from './message/errors.ts'
export type { ErrorReporter, FailedRequest, SentError } from './message/errors.ts'
export { routedOperations, routerOptions, serverPath, toRoute } from './message/paths.ts'
export { callerOf, identityOf, rawPath } from './message/request.ts'
export type { HooksOf, OperationHooks, ServedOperation } from './operation-route.ts'
export { describeContract, serveContract } from './serve.ts'
export type { ContractService } from './serve.ts'
export { stubs } from './stubs.ts'
export type { Stubs } from './stubs.ts'
export type {
  Answer, BasicCredentials, Contract, Handler, Handlers, HandlersTagged, Principal, Request,
  TokenVerifier, Verdict, Verifier, Verifiers
} from './types.ts'
export { connectionsOf, drainOnClose } from '../server/drain.ts'
export type { ServedSocket } from '../server/drain.ts'
export { HttpError } from '../server/http-error.ts'
export { traceIds } from '../server/request-id.ts'
