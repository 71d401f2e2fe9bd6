// Converts path templates to routes and regular expressions (OpenAPI 3.1, section 4.8.8.2).
import { maxHeaderSize } from '../server/node-http.ts'
import type { Contract, Operation, Server, SkippedOperation } from '../types/contract.ts'

/** The limit of the whole header also limits a path parameter. */
export const routerOptions = { maxParamLength: maxHeaderSize }

/** Where an operation is. */
export interface Routed {
  readonly method: string
  /** The full path template, with the server path or a prefix, decoded. */
  readonly template: string
  /** As Fastify has it, below a prefix. */
  readonly route: string
}
export interface RoutedOperation extends Operation, Routed { readonly id: string }

type Variables = Readonly<Record<string, string>>

/**
 * @param variables replace the defaults of the contract's server variables
 * @param prefix replaces the paths of servers, unless it is empty
 */
export function routedOperations (
  contract: Contract,
  variables: Variables,
  prefix = ''
): RoutedOperation[] {
  return Object.entries(contract.operations).map(([id, operation]) => {
    return { id, ...routed(operation, contract.server, variables, prefix) }
  })
}

/** The skipped operations that a request can reach; parameters as in routedOperations(). */
export function routedSkipped (
  { server, skipped }: Contract,
  variables: Variables,
  prefix = ''
): Array<SkippedOperation & Routed> {
  const reachable = skipped.filter(({ isReachable }) => isReachable)
  return reachable.map(operation => routed(operation, server, variables, prefix))
}

/**
 * An operation with its path template.
 * @param server the contract's server, for operations that do not name another
 */
export function routed<Op extends Pick<Operation, 'method' | 'url' | 'server'>> (
  operation: Op,
  server: Server,
  variables: Variables,
  prefix = ''
): Op & Routed {
  const path = prefix === '' ? serverPath(operation.server ?? server, variables) : ''
  const below = decodeURI(path + operation.url)
  return { ...operation, template: withoutSlash(prefix) + below, route: toRoute(below) }
}

/** A prefix before a path: Fastify takes one with a slash at its end for the same. */
export function withoutSlash (prefix: string): string {
  return prefix.replace(/\/$/, '')
}

/** A server's path, percent-encoded, without a slash at its end (OpenAPI 3.1, section 4.8.5). */
export function serverPath (server: Server, variables: Variables): string {
  const address = server.url.replace(/\{([^}]+)\}/g, (variable, name: string) => {
    // A variable that the contract does not declare takes any text, as a parameter does.
    return variables[name] ?? server.variables[name] ?? variable
  })
  return new URL(address, 'http://localhost/').pathname.replace(/\/+$/, '')
}

/**
 * Converts a path template to a Fastify route. Numbers the parameters, whose names may have any
 * character. The router decodes a segment before it applies a regular expression: the slash in one
 * is part of a parameter.
 */
export function toRoute (path: string): string {
  let position = 0
  return path.split('/').map(segment => {
    if (/^\{[^}]*\}$/.test(segment)) return `:p${position++}`
    const { first, parts } = splitSegment(segment)
    let route = escapeColons(first)
    for (const { end, after } of parts) route += `:p${position++}([^${end}]+)${escapeColons(after)}`
    return route
  }).join('/')
}

/** In a route, `::` is a literal colon. */
function escapeColons (text: string): string {
  return text.replaceAll(':', '::')
}

/**
 * A segment of a path template as the source of a regular expression with a group for each
 * parameter. Each of several parameters ends at the first character of the text after it, so that
 * matching takes linear time.
 */
export function segmentSource (segment: string): { names: string[], source: string } {
  const { first, parts } = splitSegment(segment)
  const names = parts.map(({ name }) => name)
  let source = RegExp.escape(first)
  for (const { end, after } of parts) source += `([^/${end}]+)${RegExp.escape(after)}`
  return { names, source }
}

/** A regular expression that matches the paths of a template. */
export function pathPattern (template: string): RegExp {
  const sources = template.split('/').map(segment => segmentSource(segment).source)
  return new RegExp(`^${sources.join('/')}$`)
}

function splitSegment (segment: string) {
  const [first = '', ...rest] = segment.split('{')
  const parts = rest.map(part => {
    const [name = '', after = ''] = part.split('}')
    return { name, after, end: rest.length === 1 ? '' : RegExp.escape(after.slice(0, 1)) }
  })
  return { first, parts }
}
