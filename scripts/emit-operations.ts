// The contract as data: per operation what the service registers, and the JSON Schemas that the operations refer to.
import type { Oas3PathItem } from '@redocly/openapi-core'
import type { Contract, Operation } from '../src/contract/types.ts'
import type { Description } from './contract.ts'

/** What the service registers of a bundled description. Every schema becomes a document of its own, named as its component. */
export function toContract (document: Description): Contract {
  const { schemas = {}, securitySchemes = {} } = document.components as NonNullable<Description['components']>
  const contract = { operations: Object.fromEntries(listOperations(document)), schemas, securitySchemes }
  return JSON.parse(JSON.stringify(contract), (key, value) => key === '$ref' && typeof value === 'string'
    ? value.replace(/^#\/components\/schemas\/([^/]+)/, '$1#')
    : value) as Contract
}

/** The contract as TypeScript source: a constant for each of its parts. */
export function emitOperations (contract: Contract): string {
  return Object.entries(contract).map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 2)} as const\n`).join('\n')
}

/** The whole description, as TypeScript source, for whoever reads the contract at run time. */
export function emitDocument (document: Description): string {
  return `export const document = ${JSON.stringify(document, null, 2)}\n`
}

function listOperations (document: Description): [string, Operation][] {
  const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'] as const
  return Object.entries(document.paths ?? {}).flatMap(([url, path]) => methods.flatMap((method): [string, Operation][] => {
    const operation = resolve<Oas3PathItem>(document, path)?.[method]
    if (operation?.operationId === undefined) return []
    return [[operation.operationId, {
      method: method.toUpperCase(),
      url,
      // The linter (security-defined) sees to it that one of the two is there: nothing is open by omission.
      security: (operation.security ?? document.security) as Operation['security'],
      ...body(resolve(document, operation.requestBody)),
      responses: Object.fromEntries(Object.entries(operation.responses).map(([status, response]: [string, Content]) =>
        [status, answer(resolve(document, response))]))
    }]]
  }))
}

type Content = { content?: Record<string, { schema?: object }> }

function body (requestBody: Content & { required?: boolean } | undefined) {
  if (requestBody === undefined) return {}
  return { body: { required: requestBody.required ?? false, schema: jsonSchema(requestBody) } }
}

function answer (response: Content | undefined) {
  return response?.content === undefined ? {} : { schema: jsonSchema(response) }
}

function jsonSchema ({ content }: Content): object {
  return content?.['application/json']?.schema ?? {}
}

/** Follows a Reference Object inside the description (OpenAPI 3.1, section 4.8.23). */
function resolve<T extends object> (document: object, node: T | { $ref: string } | undefined): T | undefined {
  if (node === undefined || !('$ref' in node)) return node
  let target: unknown = document
  for (const key of node.$ref.split('/').slice(1)) {
    target = (target as Record<string, unknown>)[key.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return resolve(document, target as T)
}
