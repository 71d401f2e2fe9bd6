// The features of OpenAPI 3.1 that this service refuses. src/contract/README.md lists the same for people.
import { docsPath } from '../src/contract/index.ts'
import { healthPaths } from '../src/health.ts'
import { metricsPath } from '../src/metrics/exposition.ts'

/** The service's own paths; the contract cannot have them. */
const ownPaths = [docsPath, metricsPath, ...Object.values(healthPaths)]

/** Paths that no request reaches, or that the service itself answers. */
export const unreachable = {
  ownPath: `the service's own paths (${ownPaths.join(', ')})`,
  path:
    'a path with an asterisk, ?, #, unmatched braces, the same parameter twice or a percent sign that encodes nothing',
  adjacent: 'two parameters in a path with nothing between them'
}

/** Every feature that is refused, by the name that findings and the list for people use. */
export const unsupported = {
  version: 'an OpenAPI version other than 3.1',
  dialect: 'a JSON Schema dialect other than 2020-12',
  anchor: '$id, $anchor, $dynamicAnchor and $dynamicRef',
  schemaReference: 'a $ref from a schema to something else than a component schema or a part of one',
  int64: 'format int64 on anything but a number or a string, or one of them and null',
  uniqueInt64: 'uniqueItems of items with format int64',
  loop: 'a schema that contains itself without a member or an item in between',
  proto: 'the name __proto__',
  noSecurity: 'an operation without security, its own or the contract\'s',
  ...unreachable,
  parameterContent: 'a parameter or header field with content that is neither JSON nor a text',
  style: 'a parameter style that OpenAPI does not define for its place, explode and type',
  nestedParameter:
    'a list or an object inside a parameter or header field, except in deepObject, and except lists in exploded form',
  requestBody: 'a body of GET, HEAD or TRACE',
  status: 'a status other than 2XX to 5XX and default',
  securityScheme: 'a security scheme other than http bearer and basic, apiKey, oauth2 and openIdConnect'
}
export type Feature = keyof typeof unsupported

/** @throws Error for a path that the service itself answers */
export function refuseOwnPath (template: string): void {
  const isOwn = ownPaths.some(path => template === path || template.startsWith(`${path}/`))
  if (isOwn) throw new Error(`Not supported: ${unsupported.ownPath} (${template}).`)
}
