// Refuses to load in a Node that is too old. Import this file before any other.
const { node } = process.versions
if (node.localeCompare('24.4', 'en', { numeric: true }) < 0) {
  const problem = `fastify-openapi-contract needs Node 24.4 or newer; this is v${node}`
  const wayOut = 'put npx -p node@26 before the command'
  throw new Error(`${problem}. Install one, or ${wayOut}.`)
}
