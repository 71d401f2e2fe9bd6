// Finds how a contract writes errors, so that the engine's own errors look the same.
import { kindOf, sentType } from '../message/media-type.ts'
import { type Compile, readJson, type Schema } from '../schema/index.ts'
import type { ErrorReporter } from '../server/error-reporter.ts'
import type { RequestFault } from '../server/http-error.ts'
import { STATUS_CODES } from '../server/node-http.ts'
import type { Contract } from '../types/contract.ts'
import { type Admits, type Fill, fillerOf, type Problem } from './error-filler.ts'

type ErrorShape = Pick<ErrorReporter, 'errorBody' | 'contentType'>

/** The shape of Fastify's errors. */
export const plainShape: ErrorShape = {
  errorBody: (statusCode, message) => ({ statusCode, error: STATUS_CODES[statusCode], message })
}

/**
 * The shape that most of a contract's errors have, where the names of its members say what they
 * hold: a status, a title, a sentence, and what else error-filler.ts knows. Without errors in
 * JSON, it is the shape of Fastify's.
 * @returns what is wrong with the first error if none can be filled so
 */
export function errorShape (contract: Contract, compile: Compile): ErrorShape | string {
  let first: string | undefined
  for (const { type, schema } of errorMediaOf(contract)) {
    const faultOf = (fill: Fill | undefined, of = schema) => {
      return fill === undefined ? unknownNames : faultOfSamples(fill, of, compile)
    }
    let fill = fillerOf(schema, contract.schemas)
    let problem = faultOf(fill)
    first ??= problem
    if (problem !== undefined) {
      // An optional code may have a list of its own values.
      const admits: Admits = (member, filled) => faultOf(filled, member) === undefined
      fill = fillerOf(schema, contract.schemas, { admits })
      problem = faultOf(fill)
    }
    if (fill === undefined || problem !== undefined) continue
    return {
      errorBody: (status, message, details) => fill({ ...details, status, message }) as object,
      contentType: sentType(type)
    }
  }
  return first ?? plainShape
}

const unknownNames = 'no member is a status, a title or a sentence'

/** The media type of most errors of a contract; undefined where none is JSON. */
export function errorType (contract: Contract): string | undefined {
  const [first] = errorMediaOf(contract)
  return first && sentType(first.type)
}

/** What is wrong with a body that no error schema of the contract admits. */
export function errorFault (
  body: object,
  contract: Contract,
  compile: Compile
): string | undefined {
  let first: string | undefined
  for (const { schema } of errorMediaOf(contract)) {
    const problem = faultIn(body, schema, compile)
    if (problem === undefined) return undefined
    first ??= problem
  }
  return first
}

function faultIn (body: unknown, schema: Schema, compile: Compile): string | undefined {
  const { fault } = readJson(compile(schema), Buffer.from(JSON.stringify(body)))
  return fault && `${fault.path === '' ? 'it' : `"${fault.path}"`} ${fault.problem}`
}

interface ErrorMedia { type: string, schema: Schema, uses: number }

/** The media types and schemas of errors in JSON, those of most responses first. */
function errorMediaOf ({ operations }: Contract): ErrorMedia[] {
  const found = new Map<string, ErrorMedia>()
  for (const { responses } of Object.values(operations)) {
    for (const [key, { content = {} }] of Object.entries(responses)) {
      if (!/^(?:[45]|default)/.test(key)) continue
      for (const [type, { schema = {} }] of Object.entries(content)) {
        if (kindOf(type) !== 'json') continue
        const name = JSON.stringify([type, schema])
        const media = found.get(name) ?? { type, schema: schema as Schema, uses: 0 }
        media.uses++
        found.set(name, media)
      }
    }
  }
  return [...found.values()].toSorted((a, b) => b.uses - a.uses)
}

const sample: Problem = {
  status: 400, message: 'A sentence.', requestId: '00000000-0000-4000-8000-000000000000', faults: []
}
const sampleFault: RequestFault = { in: 'body', path: '/member', message: 'A sentence.' }

function faultOfSamples (fill: Fill, schema: Schema, compile: Compile): string | undefined {
  return faultIn(fill(sample), schema, compile) ??
    faultIn(fill({ ...sample, faults: [sampleFault] }), schema, compile)
}
