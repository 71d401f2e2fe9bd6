// The door of the contract engine for programs that serve a contract. Programs without a server use
// schema/door.ts; programs that generate code use generate/index.ts.
import './node-version.ts'
export type { Answer } from './types/answer.ts'
export type { BodyLimits } from './bodies/body-readers.ts'
export type {
  Bytes, FieldPart, FilePart, RequestValue, ResponseValue, ServerSentEvent
} from './types/body.ts'
export type {
  BasicCredentials, FirstTags, Handler, Handlers, HandlersTagged, Principal, Request, TokenVerifier,
  Verdict, Verifier, Verifiers
} from './types/handler.ts'
export { callerOf, identityOf } from './message/request-fields.ts'
export type { HooksOf, OperationHooks, ServedOperation } from './routing/operation-route.ts'
export { type AuthenticateRoute, type ContractService, serveContract } from './serve.ts'
export { type ContractServerOptions, serverOptions } from './server-options.ts'
export { type Stubs, stubs } from './stubs.ts'
export type { Contract, ServedContract } from './types/contract.ts'
export type {
  ErrorDetails, ErrorReporter, FailedRequest, SentError
} from './server/error-reporter.ts'
export { HttpError, type RequestFault } from './server/http-error.ts'
// For services that put more around a contract: a second server, metrics of each path, a log.
export { docsPath } from './docs/docs-page.ts'
export { routedOperations, serverPath, toRoute } from './message/paths.ts'
export { rawPath } from './message/request-texts.ts'
