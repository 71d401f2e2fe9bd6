// Converts path templates to routes and regular expressions (OpenAPI 3.1, section 4.8.8.2).
import { maxHeaderSize } from 'node:http'
import type { Contract, Operation, Server } from '../types.ts'

declare global {
  // ECMA-262, RegExp.escape; TypeScript 5.9 does not know it yet.
  interface RegExpConstructor { escape (text: string): string }
}

/** The whole header bounds the length of a path parameter. */
export const routerOptions = { maxParamLength: maxHeaderSize }

/** The method of an operation and its full path template, server path included, decoded. */
export interface Routed { readonly method: string, readonly template: string }
export interface RoutedOperation extends Operation, Routed { readonly id: string }

type Variables = Readonly<Record<string, string>>

/** The operations of a contract; `variables` replace the defaults of the contract's server variables. */
export function routedOperations ({ server, operations }: Contract, variables: Variables): RoutedOperation[] {
  return Object.entries(operations).map(([id, operation]) => ({ id, ...routed(operation, server, variables) }))
}

/** An operation with its path template; the contract's server is where it has no server of its own. */
export function routed<Op extends Pick<Operation, 'method' | 'url' | 'server'>> (
  operation: Op,
  server: Server,
  variables: Variables
): Op & Routed {
  return { ...operation, template: decodeURI(serverPath(operation.server ?? server, variables) + operation.url) }
}

/** The path of a server, percent-encoded and without a slash at its end (OpenAPI 3.1, section 4.8.5). */
export function serverPath (server: Server, variables: Variables): string {
  // A variable that the contract does not declare stays: it takes any text, as a parameter does.
  const valueOf = (name: string) => variables[name] ?? server.variables[name] ?? `{${name}}`
  const address = server.url.replace(/\{([^}]+)\}/g, (_match, name: string) => valueOf(name))
  return new URL(address, 'http://localhost/').pathname.replace(/\/+$/, '')
}

/**
 * Converts a path template to a Fastify route. Numbers the parameters, whose names may have any character. The router
 * decodes a segment before it applies a regular expression: the slash in one is part of a parameter.
 */
export function toRoute (path: string): string {
  let position = 0
  return path.split('/').map(segment => {
    const { first, parts } = splitSegment(segment)
    if (/^\{[^}]*\}$/.test(segment)) return `:p${position++}`
    const rest = parts.map(({ end, after }) => `:p${position++}([^${end}]+)${escapeColons(after)}`)
    return escapeColons(first) + rest.join('')
  }).join('/')
}

/** In a route, `::` is a literal colon. */
function escapeColons (text: string): string {
  return text.replaceAll(':', '::')
}

/**
 * A segment of a path template as the source of a regular expression with a group for each parameter. Each of several
 * parameters ends at the first character of the text after it, so that matching takes linear time.
 */
export function segmentSource (segment: string): { names: string[], source: string } {
  const { first, parts } = splitSegment(segment)
  return {
    names: parts.map(({ name }) => name),
    source: RegExp.escape(first) + parts.map(({ end, after }) => `([^/${end}]+)${RegExp.escape(after)}`).join('')
  }
}

/** A regular expression that matches the paths of a template. */
export function pathPattern (template: string): RegExp {
  return new RegExp(`^${template.split('/').map(segment => segmentSource(segment).source).join('/')}$`)
}

function splitSegment (segment: string) {
  const [first = '', ...rest] = segment.split('{')
  const parts = rest.map(part => {
    const [name = '', after = ''] = part.split('}')
    return { name, after, end: rest.length === 1 ? '' : RegExp.escape(after.slice(0, 1)) }
  })
  return { first, parts }
}
