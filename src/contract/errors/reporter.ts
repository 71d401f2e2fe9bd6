// The errors of a contract's service, where its owner does not say how they look and are logged.
import type { FastifyInstance } from 'fastify'
import type { AnswerOptions } from '../answers/answers.ts'
import { rawPath } from '../message/request-texts.ts'
import type { Compile } from '../schema/index.ts'
import type { ErrorReporter } from '../server/error-reporter.ts'
import { HttpError } from '../server/http-error.ts'
import { Overload } from '../server/overload.ts'
import type { Contract, ServedContract } from '../types/contract.ts'
import { errorFault, errorShape, errorType, plainShape } from './error-shape.ts'

/** Fastify's log; that of an app without one has no level. */
interface Log { level?: string, info: WriteLine, error: WriteLine }
type WriteLine = (line: object, message: string) => void

/** What the owner says of errors, completed: their shape is that of the contract's errors. */
export function completeReporter (
  app: FastifyInstance,
  contract: ServedContract<unknown, Contract>,
  compile: Compile,
  {
    errorBody, contentType, log = logTo(app.log), warn
  }: Partial<ErrorReporter> & Warn
): ErrorReporter {
  if (errorBody !== undefined) {
    const checked = checkFirst(errorBody, contract, compile, warn)
    return { errorBody: checked, contentType: contentType ?? errorType(contract), log }
  }
  const shape = errorShape(contract, compile)
  if (typeof shape !== 'string') return { ...shape, log }
  const { title } = contract.document.info
  warn(`The error schema of "${title}" has members whose names do not say what they hold: ` +
    `${shape}. Errors have the shape of Fastify's, unless serveContract() gets an errorBody.`)
  return { ...plainShape, log }
}

/** Warns if the first error is none of the contract's. A check at the start would delay it. */
function checkFirst (
  errorBody: ErrorReporter['errorBody'],
  contract: Contract,
  compile: Compile,
  warn: Warn['warn']
): ErrorReporter['errorBody'] {
  let isFirst = true
  return (...error) => {
    const body = errorBody(...error)
    if (isFirst) {
      isFirst = false
      const fault = errorFault(body, contract, compile)
      const problem = 'errorBody() writes what no error of the contract is'
      if (fault !== undefined) warn(`${problem}: ${fault}.`)
    }
    return body
  }
}

interface Warn { warn: (sentence: string) => void }

/**
 * Logs a refused request as info, also one that overload refuses, and a failure with its cause as
 * an error. An app without a log writes failures to standard error: nobody would see them
 * otherwise.
 */
function logTo (log: Log): ErrorReporter['log'] {
  const isSilent = log.level === undefined
  return (error, { id, method, url = '' }) => {
    const { status, message, cause } = error
    const line = { reqId: id, method, path: rawPath({ url }), status }
    const isFailure = status >= 500 && !(error instanceof Overload)
    if (isSilent && cause !== undefined) console.error(`${method} ${line.path}: ${message}`, cause)
    else if (isFailure) log.error({ ...line, err: cause }, message)
    else log.info(line, message)
  }
}

/** How handlers answer unless the owner says otherwise. */
export const answerDefaults: Omit<AnswerOptions, 'logFault'> = {
  responseTimeoutMs: 10_000,
  lateMessage: 'The service did not respond in time. The request may have taken effect.',
  toHttpError: () => undefined
}

/** Logs what the response does not show: a fault of the service, by default as 500. */
export function faultLog (
  { log }: ErrorReporter,
  logOwn: AnswerOptions['logFault'] = (cause, request) => {
    log({ status: 500, message: 'A broken answer was sent.', cause }, request)
  }
): AnswerOptions['logFault'] {
  return (fault, request) => {
    // An answer begins while the body arrives, which may be wrong then.
    if (!(fault instanceof HttpError) || fault.status >= 500) logOwn(fault, request)
    else log({ status: fault.status, message: `The answer broke off: ${fault.message}` }, request)
  }
}
