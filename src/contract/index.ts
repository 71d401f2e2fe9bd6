// Exports of the contract engine, which serves any OpenAPI 3.1 contract. Programs without a server use schema/index.ts.
export { serveDocs, docsPath } from './docs.ts'
export { connectionsOf, drainOnClose } from '../server/drain.ts'
export type { ServedSocket } from '../server/drain.ts'
export { answerErrors, answerServerErrors, errorOptions, refuseOverload } from './message/errors.ts'
export type { ErrorReporter, FailedRequest, SentError } from './message/errors.ts'
export { HttpError } from '../server/http-error.ts'
export type { BodyLimits } from './bodies/media.ts'
export { kindOf } from './message/media-type.ts'
export type { HooksOf, OperationHooks, ServedOperation } from './routing/operation-hooks.ts'
export { routed, routedOperations, routerOptions, serverPath, toRoute } from './routing/paths.ts'
export { traceIds } from '../server/request-id.ts'
export { callerOf, identityOf, rawPath } from './message/request.ts'
export { describeContract } from './routing/skipped.ts'
export { serveContract } from './serve.ts'
export type { Service } from './serve.ts'
export { stubs } from './stubs.ts'
export type { Stubs } from './stubs.ts'
export { bodilessStatuses, framingFields } from './types.ts'
export type { Bytes, FieldPart, FilePart, ServerSentEvent } from './body-types.ts'
export type {
  Answer, BasicCredentials, Body, Content, Contract, Encoding, Handler, Handlers, HandlersTagged,
  Media, Operation,
  Parameter, Principal, Request, Response, SecurityScheme, Server, SkippedOperation, TokenVerifier, Verdict, Verifier,
  Verifiers
} from './types.ts'
