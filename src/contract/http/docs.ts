// The contract for people and programs: /docs is a page, /docs/json and /docs/yaml are the contract itself.
import swagger from '@fastify/swagger'
import type { StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { ServiceError } from '../../errors.ts'
import { pathOf } from './paths.ts'

type Document = Extract<StaticDocumentSpec, { document: unknown }>['document']
type Variables = Readonly<Record<string, string>>

/**
 * Serves the contract under /docs.
 * @param document the bundled contract
 * @param variables what the variables of its server address stand for, by name (OpenAPI 3.1, section 4.8.6)
 */
export async function serveDocs (app: FastifyInstance, document: { readonly info: { readonly title: string } }, variables: Variables): Promise<void> {
  await app.register(async docs => {
    // Whatever hinders a file of the page from being found, a name too long or one that leaves its folder: it is not there.
    docs.setErrorHandler((cause, request) => { throw new ServiceError('not-found', `There is nothing at ${pathOf(request)}.`, { cause }) })
    await docs.register(swagger, { mode: 'static', specification: { document: withVariables(document, variables) } })
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: policy(Object.values(variables)),
      theme: { title: document.info.title },
      // Without the bar that offers to explore other contracts: the policy lets the page read none.
      uiConfig: { layout: 'BaseLayout' }
    })
  })
}

/** A copy, as @fastify/swagger hands out the object that it was given. */
function withVariables (document: object, variables: Variables): Document {
  const copy = structuredClone(document) as { servers?: Array<{ variables?: Record<string, { default: string }> }> }
  for (const server of copy.servers ?? []) {
    for (const [name, variable] of Object.entries(server.variables ?? {})) variable.default = variables[name] ?? variable.default
  }
  return copy as Document
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
