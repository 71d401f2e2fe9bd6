// What every contract must keep: it is refused with findings of known form, or it starts and answers its operations.
import type { InjectOptions } from 'fastify'
import { stripTypeScriptTypes } from 'node:module'
import { relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import ts from 'typescript'
import { readContract } from '../../scripts/contract.ts'
import type { Leniency } from '../../scripts/contract.ts'
import { emitDocument, emitOperations } from '../../scripts/emit-operations.ts'
import { emitTypes } from '../../scripts/emit-types.ts'
import { ContractError, unreadable } from '../../scripts/findings.ts'
import { unsupported } from '../../scripts/unsupported.ts'
import { routedOperations } from '../../src/contract/index.ts'
import type { Contract } from '../../src/contract/index.ts'
import { kindOf } from '../../src/contract/http/media-type.ts'
import { serveWith } from '../fixtures/contract.ts'
import { sample } from './sample.ts'

/** @property violations none where the generator and the service do what they promise */
export interface Checked { outcome: string, violations: string[] }

export async function checkContract (file: string, leniency: Leniency): Promise<Checked> {
  let read
  let types = ''
  try {
    read = await readContract(file, leniency)
    types = await emitTypes(read.served).catch(error => { throw unreadable(file, error) })
  } catch (error) {
    if (!(error instanceof ContractError)) return { outcome: 'failed', violations: [`no ContractError: ${stackOf(error)}`] }
    const odd = error.findings.filter(finding => !isKnownFinding(finding, file))
    const none = error.findings.length === 0 ? ['refused without a finding'] : []
    return { outcome: 'refused', violations: [...none, ...odd.map(finding => `finding: ${finding}`)] }
  }
  const { document, contract, warnings } = read
  const odd = warnings.filter(warning => !placed.test(warning)).map(warning => `warning: ${warning}`)
  try {
    const constants = emitOperations(contract)
    const sources = { constants, types, document: emitDocument(document) }
    const faults = Object.entries(sources).flatMap(([name, text]) => syntaxFaults(name, text))
    const evaluated = faults.length > 0 ? contract : evaluate(constants)
    const isSame = isDeepStrictEqual(evaluated, JSON.parse(JSON.stringify(contract)))
    const changed = isSame ? [] : ['generated/operations.ts does not hold the contract']
    return { outcome: 'served', violations: [...odd, ...faults, ...changed, ...await callOperations(evaluated)] }
  } catch (error) {
    return { outcome: 'failed', violations: [...odd, `generated, but does not start: ${stackOf(error)}`] }
  }
}

function stackOf (error: unknown): string {
  return String((error as Error)?.stack ?? error)
}

const placed = /^\S.*?:\d+:\d+ #\/\S*/
const rules = /\((?:struct|no-unresolved-refs|no-identical-paths|operation-parameters-unique|path-parameters-defined|path-declaration-must-exist)\)$/
const known = [
  ...Object.values(unsupported).map(feature => `Not supported: ${feature}`), 'cannot be compiled: ', 'There is no security scheme ',
  'There is no schema '
]
/** YAML that cannot be parsed has no JSON pointer. */
const yamlFault = /^(?:\S.*)?:\d+:\d+ [^#]/

function isKnownFinding (finding: string, file: string): boolean {
  // The linter itself fails on a field of this name, which OpenAPI does not have.
  if (finding.endsWith('#/ cannot be compiled: node.hasOwnProperty is not a function')) return true
  if (/\n\s+at |undefined|\[object|is not a function|Cannot read|Maximum call/.test(finding.replace(/"[^"]*"|`[^`]*`/g, ''))) return false
  const isPlaced = placed.test(finding) && finding.includes(':')
  const isKnown = rules.test(finding) || known.some(text => finding.includes(text))
  return (isPlaced && isKnown) || (finding.startsWith(relative('', file)) && yamlFault.test(finding))
}

function syntaxFaults (name: string, text: string): string[] {
  const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true, compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext } })
  return diagnostics.slice(0, 1).map(({ messageText, start = 0 }) => {
    return `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')} near ${text.slice(Math.max(0, start - 60), start + 60)}`
  })
}

/** The constants of generated/operations.ts, as the service imports them. */
function evaluate (source: string): Contract {
  const names = Array.from(source.matchAll(/^export const (\w+) =/gm), ([, name]) => name)
  const script = stripTypeScriptTypes(source.replaceAll(/^export /gm, ''))
  return JSON.parse(JSON.stringify(new Function(`${script}; return { ${names.join()} }`)())) as Contract
}

/** Sends a request to each operation, which must reach its handler or be refused for its values. */
async function callOperations (contract: Contract): Promise<string[]> {
  let called = ''
  const handlers = Object.create(null)
  for (const [id, operation] of Object.entries(contract.operations)) {
    handlers[id] = () => {
      called = id
      return answerOf(operation.responses, contract)
    }
  }
  const verifiers = Object.fromEntries(Object.keys(contract.securitySchemes).map(name => [name, () => ({ name: 'fuzzer' })]))
  const { app, causes } = await serveWith(contract, { handlers, verifiers })
  try {
    await app.ready()
    const violations: string[] = []
    for (const operation of routedOperations(contract, {})) {
      called = ''
      const request = requestOf(operation, contract)
      const { statusCode, body } = await app.inject(request)
      const cause = causes().at(-1)
      const isOfHandler = called !== '' && /answered|^the answer/.test(String(cause))
      const place = `${String(request.method)} ${String(request.url)} (${operation.id})`
      if (statusCode === 500 && !isOfHandler) violations.push(`${place}: 500 ${cause}`)
      if ([404, 405].includes(statusCode) && called === '' && !isShadowed(operation, contract)) {
        violations.push(`${place}: unreachable, ${statusCode} ${body}`)
      }
    }
    return violations
  } finally {
    await app.close()
  }
}

/** Whether another path may match requests to this one. */
function isShadowed ({ template }: { template: string }, contract: Contract): boolean {
  const segments = (path: string) => path.split('/').length
  return routedOperations(contract, {}).some(other => {
    return other.template !== template && segments(other.template) === segments(template)
  })
}

type Responses = Contract['operations'][string]['responses']

function answerOf (responses: Responses, { schemas }: Contract): object {
  const [key, { content, headers = {} }] = Object.entries(responses)[0] ?? ['200', {}]
  const status = Number(key.replace(/XX$/, '01')) || 418
  const fields = Object.entries(headers).map(([name, { schema }]) => [name, sample(schema, schemas)])
  const [type, media] = Object.entries(content ?? {})[0] ?? []
  return {
    status,
    ...fields.length > 0 && { headers: Object.fromEntries(fields) },
    ...type !== undefined && { body: bodyOf(type, sample(media?.schema ?? {}, schemas)) },
    ...Object.keys(content ?? {}).length > 1 && { contentType: type?.replaceAll('*', 'a') }
  }
}

function bodyOf (type: string, value: unknown): unknown {
  const kind = kindOf(type)
  if (kind === 'json') return value
  if (kind === 'events') return (async function * () { yield { data: value } })()
  return kind === 'bytes' ? Buffer.from('a') : 'a'
}

function requestOf (operation: ReturnType<typeof routedOperations>[number], { schemas, securitySchemes }: Contract): InjectOptions {
  const values = (place: string) => operation.parameters.filter(parameter => parameter.in === place).map(({ name, schema }) => {
    const value = [sample(schema, schemas)].flat()
    return [name, value.map(String).join() || 'a'] as const
  })
  const path = Object.fromEntries(values('path'))
  const url = operation.template.split(/\{([^{}]*)\}/).map((part, index) => {
    return index % 2 === 1 ? encodeURIComponent(Object.hasOwn(path, part) ? path[part] as string : 'a') : encodeLiteral(part)
  }).join('')
  const keys = Object.values(securitySchemes).filter(({ type, in: place }) => type === 'apiKey' && place !== undefined)
  const apiKeys = (place: string) => keys.filter(key => key.in === place).map(({ name }) => [String(name), 'a'] as const)
  const query = [...values('query'), ...apiKeys('query')].map(pair => pair.map(toWellFormed).join('=')).join('&')
  const cookie = [...values('cookie'), ...apiKeys('cookie')].map(pair => pair.map(toWellFormed).join('=')).join('; ')
  const scheme = operation.security.flatMap(Object.keys).map(name => securitySchemes[name]).find(scheme => scheme?.type !== 'apiKey')
  const headers = [...values('header'), ...apiKeys('header')].filter(([name]) => /^[\w-]+$/.test(name))
  const [type, media] = Object.entries(operation.body?.content ?? {})[0] ?? []
  return {
    method: operation.method as 'GET',
    url: url + (query === '' ? '' : `?${query}`),
    headers: {
      ...Object.fromEntries(headers.map(([name, value]) => [name, toWellFormed(value)])),
      ...cookie !== '' && { cookie },
      authorization: scheme?.scheme?.toLowerCase() === 'basic' ? `Basic ${btoa('a:b')}` : 'Bearer a',
      ...type !== undefined && { 'content-type': type.replaceAll('*', 'a') + (kindOf(type) === 'multipart' ? '; boundary=b' : '') }
    },
    ...type !== undefined && { payload: payloadOf(type, sample(media?.schema ?? {}, schemas)) }
  }
}

function payloadOf (type: string, value: unknown): string {
  switch (kindOf(type)) {
    case 'json': return JSON.stringify(value, (_key, inner) => typeof inner === 'bigint' ? Number(inner) : inner) ?? 'null'
    case 'form': return new URLSearchParams(Object.entries(Object(value)).map(([name, inner]) => [name, String(inner)])).toString()
    case 'multipart': return '--b\r\nContent-Disposition: form-data; name="title"\r\n\r\na\r\n--b--\r\n'
    default: return 'a'
  }
}

function toWellFormed (text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The router decodes everything but escaped delimiters, which the template still has. */
function encodeLiteral (text: string): string {
  return encodeURI(text.toWellFormed()).replace(/%25([0-9a-f]{2})/gi, '%$1')
}
