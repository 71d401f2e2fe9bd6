// Refuses to load in a Node that is too old. Import this file before any other.
const { node } = process.versions
const [major = 0, minor = 0] = node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 4)) {
  throw new Error(`fastify-openapi-contract needs Node 24.4 or newer; this is v${node}.`)
}
