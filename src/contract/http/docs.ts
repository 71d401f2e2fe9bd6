// The contract for people and programs: /docs is a page, /docs/json and /docs/yaml are the contract itself.
import swagger from '@fastify/swagger'
import type { StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { HttpError } from './http-error.ts'
import { decodedPath } from './request.ts'

type Document = Extract<StaticDocumentSpec, { document: unknown }>['document']
type Variables = Readonly<Record<string, string>>
interface Titled { readonly info: { readonly title: string } }

export const docsPath = '/docs'

/**
 * Serves the contract under /docs.
 * @param document the bundled contract; the page takes its title
 * @param variables values for the variables of its server address, by name (OpenAPI 3.1, section 4.8.6)
 */
export async function serveDocs (app: FastifyInstance, document: Titled, variables: Variables): Promise<void> {
  await app.register(async docs => {
    docs.setErrorHandler((cause: { status?: number }, request) => {
      const { status } = cause
      if (status === 412) throw new HttpError(status, 'The file does not meet a condition of the request.', { cause })
      if (status === 416) throw new HttpError(status, 'The file does not have that range of bytes.', { cause })
      // Any other error while reading a page file is 404, such as a name that is too long or outside the folder.
      throw new HttpError(404, `There is nothing at ${decodedPath(request)}.`, { cause })
    })
    await docs.register(swagger, { mode: 'static', specification: { document: withVariables(document, variables) } })
    await docs.register(swaggerUi, {
      routePrefix: docsPath,
      staticCSP: contentSecurityPolicy(Object.values(variables)),
      theme: { title: document.info.title },
      // BaseLayout hides the URL bar; the policy lets the page read only this contract.
      uiConfig: { layout: 'BaseLayout' }
    })
  })
}

/** Copies the document, because @fastify/swagger serves the object that it gets. */
function withVariables (document: object, variables: Variables): Document {
  const copy = structuredClone(document) as { servers?: Array<{ variables?: Record<string, { default: string }> }> }
  for (const server of copy.servers ?? []) {
    for (const [name, variable] of Object.entries(server.variables ?? {})) {
      variable.default = variables[name] ?? variable.default
    }
  }
  return copy as Document
}

/** Omits upgrade-insecure-requests, which breaks plain HTTP on hosts other than localhost. */
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
