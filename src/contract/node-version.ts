// Refuses to load in a Node that is too old. Import this file before any other.
const { node } = process.versions
if (node.localeCompare('24.4', 'en', { numeric: true }) < 0) {
  throw new Error(`fastify-openapi-contract needs Node 24.4 or newer; this is v${node}.`)
}
