// The errors of a contract's service, where its owner does not say how they look and are logged.
import type { FastifyInstance } from 'fastify'
import type { AnswerOptions } from './answers/answers.ts'
import { errorShape, plainShape } from './error-shape.ts'
import { rawPath } from './message/request-texts.ts'
import type { Compile } from './schema/index.ts'
import type { ErrorReporter } from './server/error-reporter.ts'
import type { Contract } from './types/contract.ts'

/** Fastify's log; that of an app without one has no level. */
interface Log { level?: string, info: WriteLine, error: WriteLine }
type WriteLine = (line: object, message: string) => void

/** What the owner says of errors, completed: their shape is that of the contract's errors. */
export function completeReporter (
  app: FastifyInstance,
  contract: Contract,
  compile: Compile,
  { errorBody, contentType, log = logTo(app.log), warn }: Partial<ErrorReporter> & Warn
): ErrorReporter {
  const given = errorBody && { errorBody, contentType }
  const shape = given ?? errorShape(contract, compile)
  if (shape === undefined) {
    warn('The names of the members do not say how the contract writes errors. Errors have the ' +
      'shape of Fastify\'s, unless serveContract() gets an errorBody.')
  }
  return { ...shape ?? plainShape, log }
}

interface Warn { warn: (sentence: string) => void }

/**
 * Logs a refused request as info, and a failure with its cause as an error. An app without a log
 * writes failures to standard error: nobody would see them otherwise.
 */
function logTo (log: Log): ErrorReporter['log'] {
  const isSilent = log.level === undefined
  return ({ status, message, cause }, { id, method, url = '' }) => {
    const line = { reqId: id, method, path: rawPath({ url }), status }
    if (isSilent && cause !== undefined) console.error(`${method} ${line.path}: ${message}`, cause)
    else if (status >= 500) log.error({ ...line, err: cause }, message)
    else log.info(line, message)
  }
}

/** How handlers answer unless the owner says otherwise. */
export function answerDefaults ({ log }: ErrorReporter): AnswerOptions {
  return {
    responseTimeoutMs: 10_000,
    toHttpError: () => undefined,
    logFault (cause, request) {
      log({ status: 500, message: 'A broken answer was sent.', cause }, request)
    }
  }
}
