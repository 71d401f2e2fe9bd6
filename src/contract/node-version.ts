// Refuses to load in a Node that is too old. Import this file before any other.
const { node } = process.versions
const [major, minor] = node.split('.').map(Number) as [number, number]
if (major < 24 || (major === 24 && minor < 4)) {
  throw new Error(`fastify-openapi-contract needs Node 24.4 or newer; this is v${node}.`)
}
