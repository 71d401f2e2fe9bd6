// The contract for people and programs: /docs is a page, /docs/json and /docs/yaml the contract.
import type { FastifyInstance } from 'fastify'
import { fileURLToPath } from 'node:url'
import { toRoute, withoutSlash } from '../message/paths.ts'
import { createFileHandler, once } from './docs-files.ts'
import { pagePlugins } from './exact-numbers.ts'
import type { PageSettings } from './swagger-ui.ts'

type Variables = Readonly<Record<string, string>>

export const docsPath = '/docs'

/** The files of the page. */
const folder = fileURLToPath(new URL('static', import.meta.resolve('@fastify/swagger-ui')))

/**
 * Serves the contract under /docs.
 * @param document the bundled contract; the page takes its title
 * @param variables values for variables of its server address, by name (OpenAPI 3.1, section 4.8.6)
 * @param prefixes where it is below the prefix of the app, percent-encoded
 * @param operations their count: the page opens a few, and lists many
 */
export async function serveDocs (
  app: FastifyInstance,
  document: PageSettings['document'],
  variables: Variables,
  prefixes: readonly string[],
  operations: number
): Promise<void> {
  await app.register(async docs => {
    const headers = securityHeaders([...Object.values(variables), ...tokenAddresses(document)])
    docs.addHook('onRequest', async (_request, reply) => { reply.headers(headers) })
    // Fastify 5 also takes the options of its router beside the others.
    const { ignoreTrailingSlash, routerOptions } = docs.initialConfig
    const ignoresSlash = routerOptions?.ignoreTrailingSlash ?? ignoreTrailingSlash === true
    const docExpansion = operations <= maxOpen ? 'full' : 'list'
    const parts = [JSON.stringify(uiConfig), closeSchemas, ...pagePlugins, pageCss, docExpansion]
    const answerFile = createFileHandler(folder, parts.join())
    for (const prefix of prefixes) {
      // Its packages take a seventh of the time in which the service starts.
      const openPage = once(async () => {
        const { openSwaggerUi } = await import('./swagger-ui.ts')
        // The text of this function goes into the page.
        // eslint-disable-next-line no-new-func
        const onComplete = Function(closeSchemas)
        const config = { ...uiConfig, docExpansion, onComplete, plugins: pagePlugins }
        const settings = { document, variables, css: pageCss, uiConfig: config }
        const above = withoutSlash(app.prefix) + prefix
        return openSwaggerUi({ ...settings, path: docsPath, prefix: above })
      })
      for (const below of ['', '/', '/json', '/yaml', '/static/*']) {
        // For a router that ignores slashes at the end, the second path is the first.
        if (below === '/' && ignoresSlash) continue
        const url = toRoute(decodeURI(prefix + docsPath + below))
        docs.get(url, { schema: { hide: true } }, answerFile(below, openPage))
      }
    }
  })
}

/**
 * The servers that the page lists. A prefix replaces the path of the contract's server. The page
 * calls no other host: where the contract has only addresses of others, its own comes first.
 */
export function docsServers (
  document: object,
  prefix: string,
  path: string
): { servers?: object[] } {
  if (prefix !== '') return { servers: [{ url: withoutSlash(prefix) || '/' }] }
  const { servers = [] } = document as { servers?: ReadonlyArray<{ url: string }> }
  const isElsewhere = servers.length > 0 && servers.every(({ url }) => /^[a-z]+:\/\//i.test(url))
  const own = { url: path || '/', description: 'This service' }
  return isElsewhere ? { servers: [own, ...servers] } : {}
}

/** The address of the page for each path above it, decoded. */
export function docsRedirects (prefixes: readonly string[]): Map<string, string> {
  const redirects = new Map<string, string>()
  for (const prefix of prefixes) {
    for (const path of [prefix, `${prefix}/`]) redirects.set(decodeURI(path), prefix + docsPath)
  }
  return redirects
}

/** Operations that may all be open. */
const maxOpen = 3

const uiConfig = {
  // Without the bar for another URL: the policy lets the page read only this contract.
  layout: 'BaseLayout',
  // Opens schemas and their members: Swagger UI resolves only those, and calls others "any".
  defaultModelsExpandDepth: 3,
  defaultModelExpandDepth: 3,
  // The token stays in localStorage until Logout. docs/proof/security.md says what that means.
  persistAuthorization: true
}

/** Runs in the page, where `ui` is, once the schemas are resolved: a reader may open them. */
const closeSchemas = "ui.layoutActions.show(['components', 'schemas'], false)"

const pageCss = `.swagger-ui {
  /* The service is at the first server, and only the operator sets its variables. */
  .schemes-server-container:has(.computed-url) :is(.servers-title, label, h4, table) {
    display: none
  }
  .servers .computed-url { margin: 0 }
  /* The address / says nothing. */
  .schemes-server-container:has(option[value="/"]:only-child, [data-variable][value="/"]) > * {
    display: none
  }
  /* Each response declares headers and one media type: a line each. */
  .response-control-media-type:has(option:only-child), .headers-wrapper {
    display: flex; flex-flow: row wrap; align-items: center; gap: 0 8px
  }
  .headers-wrapper > table { flex: 1; width: auto }
  .headers-wrapper thead { display: none }
  .headers-wrapper tbody td:nth-of-type(n) { padding: 0 }
  /* Swagger UI shows no focus there. */
  .json-schema-2020-12-accordion:focus-visible { outline: 2px solid #61affe }
  @media (max-width: 640px) {
    .opblock .tab-header .tab-item:first-of-type { padding: 0 }
    .responses-table > thead { display: none }
    .responses-table > tbody > tr > td { display: block }
    .response-col_links > i { display: none }
    /* The buttons Copy and Download lie below the text. */
    .highlight-code > .microlight { padding-bottom: 50px }
    .curl code { white-space: pre-wrap !important; overflow-wrap: anywhere }
  }
}`

interface Flow { tokenUrl?: string, refreshUrl?: string }
interface TokenScheme { openIdConnectUrl?: string, flows?: Readonly<Record<string, Flow>> }

/** Where *Authorize* gets tokens (OpenAPI 3.1, sections 4.8.27 and 4.8.29). */
function tokenAddresses (document: object): string[] {
  const { components = {} } = document as { components?: { securitySchemes?: object } }
  const schemes: TokenScheme[] = Object.values(components.securitySchemes ?? {})
  const found = schemes.flatMap(({ openIdConnectUrl, flows = {} }) => {
    const ofFlows = Object.values(flows).map(({ tokenUrl, refreshUrl }) => [tokenUrl, refreshUrl])
    return [openIdConnectUrl, ...ofFlows.flat()]
  })
  return found.filter(address => address !== undefined)
}

/** No upgrade-insecure-requests: it breaks plain HTTP on hosts other than localhost. */
function securityHeaders (addresses: string[]): Record<string, string> {
  const sources = ["'self'"]
  for (const address of addresses) {
    const url = URL.parse(address)
    if (url !== null && !sources.includes(url.origin)) sources.push(url.origin)
  }
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${sources.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ]
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer'
  }
}
