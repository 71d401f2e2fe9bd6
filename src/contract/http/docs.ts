// The contract for people and programs: /docs is a page, /docs/json and /docs/yaml are the contract itself.
import swagger from '@fastify/swagger'
import type { StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { HttpError } from './http-error.ts'
import { pathOf } from './request.ts'

type Document = Extract<StaticDocumentSpec, { document: unknown }>['document']
type Variables = Readonly<Record<string, string>>
interface Titled { readonly info: { readonly title: string } }

export const docsPath = '/docs'

/**
 * Serves the contract under /docs.
 * @param document the bundled contract; the page has its title
 * @param variables values for the variables of its server address, by name (OpenAPI 3.1, section 4.8.6)
 */
export async function serveDocs (app: FastifyInstance, document: Titled, variables: Variables): Promise<void> {
  await app.register(async docs => {
    // Any failure to find a file of the page, such as a name that is too long or leaves the folder, is a 404.
    docs.setErrorHandler((cause, request) => {
      throw new HttpError(404, `There is nothing at ${pathOf(request)}.`, { cause })
    })
    await docs.register(swagger, { mode: 'static', specification: { document: withVariables(document, variables) } })
    await docs.register(swaggerUi, {
      routePrefix: docsPath,
      staticCSP: contentSecurityPolicy(Object.values(variables)),
      theme: { title: document.info.title },
      // Without the bar for other contracts, which the policy does not let the page read.
      uiConfig: { layout: 'BaseLayout' }
    })
  })
}

/** A copy, because @fastify/swagger hands out the object that it was given. */
function withVariables (document: object, variables: Variables): Document {
  const copy = structuredClone(document) as { servers?: Array<{ variables?: Record<string, { default: string }> }> }
  for (const server of copy.servers ?? []) {
    for (const [name, variable] of Object.entries(server.variables ?? {})) {
      variable.default = variables[name] ?? variable.default
    }
  }
  return copy as Document
}

/** Without upgrade-insecure-requests, which breaks the page over plain http away from localhost. */
function contentSecurityPolicy (addresses: string[]): string {
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
