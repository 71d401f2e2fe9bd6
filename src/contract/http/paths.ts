// Paths: templates with parameters (OpenAPI 3.1, section 4.8.8.2), the server they are below, and those of requests.
import type { FastifyRequest } from 'fastify'
import { maxHeaderSize } from 'node:http'
import type { Contract, Operation, Server } from '../types.ts'

declare global {
  // ECMA-262, RegExp.escape; TypeScript 5.9 does not know it yet.
  interface RegExpConstructor { escape (text: string): string }
}

/** A parameter in a path may be as long as header fields may be together, which hold the path too. */
export const routerOptions = { maxParamLength: maxHeaderSize }

/** An operation with the whole template of its path, that of its server included; decoded, as the router compares paths. */
export interface Routed extends Operation { readonly id: string, readonly template: string }

/** The operations of a contract; `values` are what the variables of servers stand for, by default what the contract says. */
export function routed ({ server, operations }: Contract, values: Readonly<Record<string, string>>): Routed[] {
  return Object.entries(operations).map(([id, operation]) => ({ ...operation, id, template: decodeURI(prefixOf(operation.server ?? server, values) + operation.url) }))
}

/** The path of a server, without a slash at its end (OpenAPI 3.1, section 4.8.5). */
function prefixOf ({ url, variables }: Server, values: Readonly<Record<string, string>>): string {
  const address = url.replace(/\{([^}]+)\}/g, (_match, name: string) => String(values[name] ?? variables[name]))
  return new URL(address, 'http://localhost/').pathname.replace(/\/+$/, '')
}

/** A path template as Fastify's router writes it: its parameters by position, as names in templates may hold any sign. */
export function toRoute (path: string): string {
  let position = 0
  return path.split('/').map(segment => {
    const { first, parts } = splitSegment(segment)
    if (/^\{[^}]*\}$/.test(segment)) return `:p${position++}`
    return literal(first) + parts.map(({ group, after }) => `:p${position++}${group}${literal(after)}`).join('')
  }).join('/')
}

/** A colon begins a parameter, two are one colon. */
function literal (text: string): string {
  return text.replaceAll(':', '::')
}

/**
 * A segment of a path template as the source of a regular expression with a group for each parameter. Of several in a
 * segment each ends at the first sign of the text after it, so that matching takes no longer than the segment.
 */
export function segmentSource (segment: string): { names: string[], source: string } {
  const { first, parts } = splitSegment(segment)
  return {
    names: parts.map(({ name }) => name),
    source: RegExp.escape(first) + parts.map(({ group, after }) => group + RegExp.escape(after)).join('')
  }
}

/** The whole template likewise, to test paths with. */
export function pathPattern (path: string): RegExp {
  return new RegExp(`^${path.split('/').map(segment => segmentSource(segment).source).join('/')}$`)
}

function splitSegment (segment: string) {
  const [first = '', ...rest] = segment.split('{')
  const parts = rest.map(part => {
    const [name = '', after = ''] = part.split('}')
    return { name, after, group: rest.length === 1 ? '([^/]+)' : `([^/${RegExp.escape(after.slice(0, 1))}]+)` }
  })
  return { first, parts }
}

/** The path of a request target in origin or absolute form (RFC 9112, section 3.2), as it was sent. */
export function rawPath (request: FastifyRequest): string {
  return request.url.replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*$/s, '')
}

/** A segment of a path as it was sent, with what stands encoded in it as text, but for signs that separate and for percent signs. */
export function withTextDecoded (segment: string): string {
  return segment.replace(/(?:%(?!25)[\da-f]{2})+/gi, decodeURI)
}

/** The same, decoded. */
export function pathOf (request: FastifyRequest): string {
  return decodeURI(rawPath(request))
}
