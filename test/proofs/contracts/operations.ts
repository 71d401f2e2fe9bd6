// Serves a contract in this process and calls each of its operations with a sample.
import fastify from 'fastify'
import {
  type Contract, type SentError, serveContract, serverOptions, serverPath
} from '../../../src/contract/index.ts'
import { listOperations } from '../../../src/contract/generate/description/description.ts'
import type { ContractFile } from '../../../src/contract/generate/read-contract.ts'
import { mapValues } from '../../../src/contract/schema/index.ts'
import { described } from '../../fixtures/contract.ts'
import { extents, Samples } from './samples.ts'

/** What came of the operations: a sentence for each that did not answer its sample. */
export interface Calls {
  /** Its request was valid, and its answer was sent. */
  answered: number
  /** The sample of its request or its answer breaks its schema. */
  refused: string[]
  failed: string[]
  readyMs: number
}

export async function callOperations ({ served, contract }: ContractFile): Promise<Calls> {
  const allSamples = extents.map(extent => new Samples(served, extent))
  let samples = allSamples[0] as Samples
  let sent = 0
  let cause = ''
  const handlers: Record<string, (request: { accept?: string }) => object> = {}
  const listed = listOperations(served)
  for (const operation of listed) {
    handlers[String(operation.operation.operationId)] = ({ accept }) => {
      const answer = samples.answer(operation, accept)
      sent = answer.status
      return answer
    }
  }
  const began = performance.now()
  const app = await serve(contract, handlers, message => { cause = message })
  const calls: Calls = { answered: 0, refused: [], failed: [], readyMs: performance.now() - began }

  for (const operation of listed) {
    sent = 0
    let status = 0
    const { server = contract.server } =
      contract.operations[String(operation.operation.operationId)] ?? {}
    const prefix = decodeURI(serverPath(server, {})).replaceAll(/[{}]/g, '')
    for (samples of allSamples) {
      const { path, ...request } = await samples.request(operation)
      try {
        status = (await app.inject({ ...request, url: prefix + path } as never)).statusCode
      } catch {
        status = 500
        cause = `the response broke off: ${cause}`
      }
      if (status === sent) break
    }
    const remark = `${operation.method.toUpperCase()} ${operation.url}: ${status} ${cause}`
    if (status === sent) calls.answered++
    else if (isBreach(status, cause)) calls.refused.push(remark)
    else calls.failed.push(remark)
  }
  await app.close()
  return calls
}

async function serve (contract: Contract, handlers: object, onError: (message: string) => void) {
  const reporter = {
    errorBody: (error: number, message: string) => ({ error, message }),
    log ({ message, cause }: SentError) {
      const isOfSampler = cause instanceof Error && cause.stack?.includes('openapi-sampler')
      const reason = cause instanceof Error ? cause.message : message
      onError(isOfSampler === true ? noSample : reason)
    }
  }
  const app = fastify(serverOptions())
  await app.register(serveContract<Record<string, unknown>, Contract>({
    ...reporter,
    contract: described(contract),
    handlers: handlers as never,
    verifiers: mapValues(contract.securitySchemes, () => () => ({ name: 'anyone' })) as never,
    logFault: fault => onError(fault.message),
    docs: false,
    warn: () => {}
  }))
  await app.ready()
  return app
}

/** The sampler fails on texts as long as a schema may ask for, and on formats such as `__proto__`. */
const noSample = 'the sampler failed'

/** Samples do not know every keyword, and a contract's own examples may be wrong. */
function isBreach (status: number, message: string): boolean {
  if (status === 400 || message === noSample) return true
  return status === 500 && /answer(?:ed .* that)? .*(?:must|matches|has|is not)/.test(message)
}
