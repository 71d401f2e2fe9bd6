// Shows the numbers of an answer as the service sent them. Swagger UI shows what JavaScript reads,
// which rounds an int64 beyond 2^53.

interface Answer {
  content: unknown
  contentType: string
}

/** The parts of Swagger UI's system that a component gets. */
interface System {
  React: { createElement (type: unknown, props: object | null, ...children: unknown[]): unknown }
  getComponent (name: string, isContainer: boolean): unknown
}

/** The global of the page. */
declare const SwaggerUIBundle: { plugins: { DownloadUrl: unknown } }

/**
 * Plugins of Swagger UI, which replace its default: the first one loads the contract. The text of
 * each function goes into the page, so that it uses nothing of this module.
 */
export const pagePlugins = [() => SwaggerUIBundle.plugins.DownloadUrl, showExactNumbers]

function showExactNumbers () {
  const responseBody = (Original: unknown, { React, getComponent }: System) => (answer: Answer) => {
    const { content, contentType } = answer
    const original = React.createElement(Original, { ...answer })
    if (!/json/i.test(contentType)) return original
    const text = String(content)
    const keep = (_name: string, value: unknown, context?: { source: string }) => {
      return typeof value === 'number' ? JSON.rawJSON(String(context?.source)) : value
    }
    try {
      // A browser without `JSON.rawJSON()` throws here.
      const exact = JSON.stringify(JSON.parse(text, keep), null, 2)
      if (exact === JSON.stringify(JSON.parse(text), null, 2)) return original
      const title = React.createElement('h5', null, 'Response body')
      const file = { language: 'json', canCopy: true, downloadable: true, fileName: 'body.json' }
      const body = React.createElement(getComponent('HighlightCode', true), file, exact)
      return React.createElement('div', null, title, body)
    } catch {
      return original
    }
  }
  return { wrapComponents: { responseBody } }
}
