// The features of OpenAPI that this service refuses. src/contract/FEATURES.md lists the same.
import type { UserContext } from '@redocly/openapi-core'
import { METHODS } from 'node:http'

/** The features by name, as findings and the README write them. */
export const unsupported = {
  version: 'an OpenAPI version other than 3.0.x, 3.1.x and 3.2.x',
  positions: 'prefixEncoding and itemEncoding',
  defaultMapping: 'a defaultMapping that leads to no schema of its oneOf',
  itemSchema: 'itemSchema of anything but JSON lines and the events of an answer',
  method: 'a method of additionalOperations that Node does not read, CONNECT, or one that has a ' +
    'field of its own',
  querystring: 'a querystring parameter without content, or beside another one or one in query',
  queryBody: 'a query operation without a request body, which HTTP needs',
  dialect: 'a JSON Schema dialect other than 2020-12',
  anchor: '$anchor, $dynamicAnchor and $dynamicRef',
  id: 'an $id by which a $ref in its schema means another place than by the place of the file',
  schemaReference: 'a $ref from a schema to something else than a schema or a part of one',
  reference: 'a $ref to a part of its own file in place of anything but a path item, a schema or ' +
    'what else components may hold',
  int64: 'format int64 on anything but a number or a string, or one of them and null',
  loop: 'a schema that contains itself without a member or an item in between',
  listLoop: 'a list that contains itself without a member in between, for which ' +
    'openapi-typescript has no type; --types built-in has one',
  proto: 'the name __proto__, and others that every object of JavaScript has; members may be ' +
    'called constructor or toString',
  noSecurity: 'an operation without security, its own or the contract\'s',
  ownPath: 'the service\'s own paths',
  path: 'a path with an asterisk, ?, \\, a control character, unmatched braces, the same ' +
    'parameter twice, a percent sign that encodes nothing or a delimiter, or . or .. between ' +
    'slashes',
  fragment: 'paths that differ by a fragment, whose operations of one method differ in more than ' +
    'parameters, bodies and answers',
  samePath: 'operations of one method whose paths differ only in encoding or in the names of ' +
    'parameters',
  adjacent: 'two parameters in a path with nothing between them',
  parameterContent: 'a parameter or header field with content that is neither JSON nor a text',
  style: 'a parameter style that OpenAPI does not define for its place, explode and type',
  nestedParameter: 'a list or an object inside a parameter or header field, except in ' +
    'deepObject, and except lists in exploded form',
  headerName: 'a header field or a cookie whose name is not a token of HTTP',
  mediaType: 'a media type without a slash, or with characters beyond ASCII',
  status: 'a status other than 2XX to 5XX and default',
  securityScheme:
    'a security scheme other than http bearer and basic, apiKey, oauth2 and openIdConnect'
}
type Feature = keyof typeof unsupported

/** Reports a feature at the visited place, or at a child of it. */
export function report (
  { report, location }: UserContext,
  feature: Feature,
  child?: string,
  detail?: unknown
): void {
  const text = typeof detail === 'object' ? JSON.stringify(detail) : detail
  const message = `Not supported: ${unsupported[feature]}${text === undefined ? '' : ` (${text})`}.`
  report({ message, location: child === undefined ? location.key() : location.child(child).key() })
}

/** Whether Node reads a method, and gives its requests to Fastify. */
export function isRoutable (method: string): boolean {
  return METHODS.includes(method) && method !== 'CONNECT'
}

/** Why no request can have a path, if it cannot. */
export function pathFault (path: string): 'path' | 'fragment' | 'adjacent' | undefined {
  if (path.includes('#')) return 'fragment'
  const names = Array.from(path.matchAll(/\{([^{}]*)\}/g), ([, name]) => name)
  const rest = path.replace(/\{[^{}]*\}/g, '')
  const isRepeated = new Set(names).size < names.length
  const segments = path.replaceAll(/%2e/gi, '.').split('/')
  const hasDots = segments.includes('.') || segments.includes('..')
  const hasSpecial = /[*?{}\\\p{Cc}\p{Cs}]/u.test(rest)
  // The router decodes all but these (RFC 3986, section 2.2), and then finds no route for them.
  const hasDelimiter = /%(?:2[346BCF]|3[ABDF]|40)/i.test(rest)
  if (hasSpecial || hasDelimiter || isRepeated || hasDots || !isDecodable(rest)) return 'path'
  return path.includes('}{') ? 'adjacent' : undefined
}

function isDecodable (path: string): boolean {
  try {
    return decodeURI(path) !== ''
  } catch {
    return false
  }
}

/** @throws Error for a path that the service itself answers */
export function throwOwnPath (template: string, ownPaths: readonly string[]): void {
  const isOwn = ownPaths.some(path => template === path || template.startsWith(`${path}/`))
  if (!isOwn) return
  throw new Error(`Not supported: ${unsupported.ownPath} (${ownPaths.join(', ')}) (${template}).`)
}
