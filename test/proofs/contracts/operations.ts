// Serves a contract in this process and calls each of its operations with a sample.
import fastify from 'fastify'
import { answerErrors, errorOptions, routerOptions, serveContract, serverPath } from '../../../src/contract/index.ts'
import type { Contract, SentError } from '../../../src/contract/index.ts'
import type { ContractFile } from '../../../src/contract/generate/read.ts'
import { listOperations } from '../../../src/contract/generate/description.ts'
import { extents, sampler } from './samples.ts'
import type { Extent, Listed } from './samples.ts'

/** What came of the operations, a sentence for each that did not answer its sample. */
export interface Calls {
  /** Its request was valid, and its answer was sent. */
  answered: number
  /** The sample of its request or its answer breaks its schema. */
  refused: string[]
  failed: string[]
  readyMs: number
}

export async function callOperations ({ served, contract }: ContractFile): Promise<Calls> {
  const samples = sampler(served)
  let extent: Extent = 'all'
  let cause = ''
  let sent = 0
  const reporter = {
    errorBody: (error: number, message: string) => ({ error, message }),
    log: ({ message, cause: thrown }: SentError) => { cause = thrown instanceof Error ? thrown.message : message }
  }
  const listed = listOperations(served)
  const handlers = Object.fromEntries(listed.map(operation => {
    const handler = ({ accept }: { accept?: string }) => {
      const answer = samples.answer(operation, accept, extent)
      sent = answer.status
      return answer
    }
    return [String(operation.operation.operationId), handler]
  }))
  const verify = () => ({ name: 'anyone' })
  const verifiers = Object.fromEntries(Object.keys(contract.securitySchemes).map(name => [name, verify]))

  const began = performance.now()
  const app = fastify({ ...errorOptions(reporter), routerOptions, http: { requireHostHeader: false } })
  answerErrors(app, reporter)
  await serveContract<Record<string, unknown>, Contract>(app, {
    contract,
    handlers: handlers as never,
    verifiers: verifiers as never,
    realm: 'try',
    responseTimeoutMs: 10_000,
    toHttpError: () => undefined,
    logFault: fault => { cause = fault.message }
  })
  await app.ready()
  const calls: Calls = { answered: 0, refused: [], failed: [], readyMs: performance.now() - began }

  const call = async (operation: Listed): Promise<{ status: number, message: string }> => {
    const { payload, url, ...request } = await samples.request(operation, extent)
    const { server = contract.server } = contract.operations[String(operation.operation.operationId)] ?? {}
    const path = decodeURI(serverPath(server, {})).replaceAll(/[{}]/g, '') + url
    try {
      const { statusCode: status } = await app.inject({ ...request, url: path, ...payload && { payload } } as never)
      return { status, message: cause }
    } catch {
      return { status: 500, message: `the response broke off: ${cause}` }
    }
  }
  for (const operation of listed) {
    sent = 0
    let answer = { status: 0, message: '' }
    for (extent of extents) {
      answer = await call(operation)
      if (answer.status === sent) break
    }
    const { status, message } = answer
    const remark = `${operation.method.toUpperCase()} ${operation.url}: ${status} ${message}`
    if (status === sent) calls.answered++
    else (isBreach(status, message) ? calls.refused : calls.failed).push(remark)
  }
  await app.close()
  return calls
}

/** Whether a sample breaks its schema: samples do not know every keyword, and a contract's own examples may be wrong. */
function isBreach (status: number, message: string): boolean {
  return status === 400 || (status === 500 && /answer(?:ed .* that)? .*(?:must|matches|has|is not)/.test(message))
}
