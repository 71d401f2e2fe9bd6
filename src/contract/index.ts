// Exports of the contract engine, which serves any OpenAPI 3.1 contract. Programs without a server use schema/index.ts.
export { serveDocs, docsPath } from './http/docs.ts'
export { connectionsOf, drainOnClose } from './http/drain.ts'
export type { ServedSocket } from './http/drain.ts'
export { dryRun } from './http/dry-run.ts'
export { answerErrors, answerServerErrors, errorOptions, refuseOverload } from './http/errors.ts'
export type { ErrorReporter, FailedRequest, SentError } from './http/errors.ts'
export { HttpError } from './http/http-error.ts'
export type { BodyLimits } from './http/media.ts'
export { kindOf } from './http/media-type.ts'
export type { HooksOf, OperationHooks, ServedOperation } from './http/operation-hooks.ts'
export { routed, routedOperations, routerOptions, serverPath, toRoute } from './http/paths.ts'
export { traceIds } from './http/request-id.ts'
export { callerOf, identityOf, rawPath } from './http/request.ts'
export { describeContract } from './http/skipped.ts'
export { serveContract } from './http/serve.ts'
export type { Service } from './http/serve.ts'
export { stubs } from './http/stubs.ts'
export type { Stubs } from './http/stubs.ts'
export { bodilessStatuses, framingFields } from './types.ts'
export type { Bytes, FieldPart, FilePart, ServerSentEvent } from './bodies.ts'
export type {
  Answer, BasicCredentials, Body, Content, Contract, Encoding, Handler, Handlers, HandlersTagged,
  Media, Operation,
  Parameter, Principal, Request, Response, SecurityScheme, Server, SkippedOperation, TokenVerifier, Verdict, Verifier,
  Verifiers
} from './types.ts'
