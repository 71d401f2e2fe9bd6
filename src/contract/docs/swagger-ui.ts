// The page of the contract, which Swagger UI makes in a separate app that does not listen.
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify from 'fastify'
import type { Rendered } from './docs-files.ts'

type Document = Extract<StaticDocumentSpec, { document: unknown }>['document']
type Servers = Array<{ variables?: Record<string, { default: string }> }>

export interface PageSettings {
  /** The bundled contract; the page takes its title. */
  document: { readonly info: { readonly title: string } }
  /** Values for variables of its servers. */
  variables: Readonly<Record<string, string>>
  /** The path of the page, and that before it, percent-encoded. */
  path: string
  prefix: string
  css: string
  uiConfig: object
}

/** Returns a function that makes the page and its files; undefined for other paths. */
export async function openSwaggerUi (
  { document, variables, path, prefix, css, uiConfig }: PageSettings
): Promise<(below: string) => Promise<Rendered | undefined>> {
  const app = fastify()
  const paths = new Set<string>()
  app.addHook('onRoute', ({ url }) => {
    // The files are read elsewhere.
    if (!url.endsWith('*')) paths.add(url)
  })
  // @fastify/swagger-ui writes it as it is.
  const title = document.info.title.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const specification = { document: withVariables(document, variables) }
  await app.register(swagger, { mode: 'static', specification })
  await app.register(swaggerUi, {
    routePrefix: path,
    // For the links to the files of the page.
    indexPrefix: prefix,
    theme: { title, css: [{ filename: 'page.css', content: css }] },
    uiConfig
  })
  return async below => {
    if (!paths.has(path + below)) return undefined
    const { statusCode, headers, rawPayload } = await app.inject(path + below)
    if (statusCode !== 200) return undefined
    const type = String(headers['content-type'])
    return { type, bytes: type.startsWith('text/html') ? withViewport(rawPayload) : rawPayload }
  }
}

/** Else a phone shows the page 980 pixels wide. @fastify/swagger-ui has no option for it. */
function withViewport (page: Buffer): Buffer {
  const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
  return Buffer.from(String(page).replace('<head>', `$&${viewport}`))
}

/** Copies the document, because @fastify/swagger serves the object that it gets. */
function withVariables (document: object, variables: PageSettings['variables']): Document {
  const copy = structuredClone(document) as { servers?: Servers }
  for (const server of copy.servers ?? []) {
    for (const [name, variable] of Object.entries(server.variables ?? {})) {
      variable.default = variables[name] ?? variable.default
    }
  }
  return copy as Document
}
