// The contract for people and programs: /docs is a page, /docs/json and /docs/yaml are the contract itself.
import swagger from '@fastify/swagger'
import type { StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

type Document = Extract<StaticDocumentSpec, { document: unknown }>['document']

/**
 * Serves the contract under /docs.
 * @param document the bundled contract
 * @param variables what the variables of its server address stand for, by name (OpenAPI 3.1, section 4.8.6)
 */
export async function serveDocs (app: FastifyInstance, document: { readonly info: { readonly title: string } }, variables: Readonly<Record<string, string>>): Promise<void> {
  // A copy: @fastify/swagger hands out the object that it was given.
  const served = structuredClone(document) as { servers?: Array<{ variables?: Record<string, { default: string }> }> }
  for (const server of served.servers ?? []) {
    for (const [name, variable] of Object.entries(server.variables ?? {})) variable.default = variables[name] ?? variable.default
  }
  await app.register(swagger, { mode: 'static', specification: { document: served as Document } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: policy(Object.values(variables)),
    theme: { title: document.info.title },
    // Without the bar that offers to explore other contracts: the policy lets the page read none.
    uiConfig: { layout: 'BaseLayout' }
  })
}

/** Without upgrade-insecure-requests, which breaks the page over plain http away from localhost. */
function policy (addresses: string[]): string {
  const origins = addresses.flatMap(address => URL.parse(address)?.origin ?? [])
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src ${["'self'", ...origins].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; ')
}
