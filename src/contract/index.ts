// Exports of the contract engine, which serves any OpenAPI 3.1 contract. Programs without a server use schema/index.ts.
export { serveDocs, docsPath } from './docs.ts'
export { dryRun } from './generate/dry-run.ts'
export { answerErrors, errorOptions } from './message/errors.ts'
export type { ErrorReporter, SentError } from '../server/error-reporter.ts'
export { HttpError } from '../server/http-error.ts'
export type { BodyLimits } from './bodies/media.ts'
export { kindOf } from './message/media-type.ts'
export type { HooksOf, OperationHooks, ServedOperation } from './routing/operation-hooks.ts'
export { routed, routedOperations, routerOptions, serverPath, toRoute } from './routing/paths.ts'
export { callerOf, identityOf } from './message/request-fields.ts'
export { rawPath } from './message/request-texts.ts'
export { describeContract } from './routing/skipped.ts'
export { serveContract } from './serve.ts'
export type { Service } from './serve.ts'
export { stubs } from './stubs.ts'
export type { Stubs } from './stubs.ts'
export { bodilessStatuses, framingFields } from './types.ts'
export type { Bytes, FieldPart, FilePart, ServerSentEvent } from './body-types.ts'
export type { Answer } from './answer-types.ts'
export type {
  BasicCredentials, Handler, Handlers, HandlersTagged, Principal, Request, TokenVerifier, Verdict, Verifier, Verifiers
} from './handler.ts'
export type {
  Body, Content, Contract, Encoding, Media, Operation, Parameter, Response, SecurityScheme, Server, SkippedOperation
} from './types.ts'
