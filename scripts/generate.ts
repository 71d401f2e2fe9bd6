// npm run generate: openapi.yaml -> generated/. --contract and --out name another file and folder,
// --overlay a file of changes to the contract, of which there may be several. With --check it
// writes nothing, and exits with 1 if a file differs. --skip-unsupported leaves out operations that
// cannot be served; --allow-open serves those without security.
import { generate } from 'fastify-openapi-contract/generate'
import { setFlagsFromString } from 'node:v8'
import { ownPaths } from '../src/service/service-paths.ts'
import { choicesOf, contractOptions, readOptions, requireFiles } from './options.ts'

// Otherwise V8 lets garbage grow to a multiple of what a large contract needs.
setFlagsFromString('--heap-growing-percent=40')
const { check, contract, out, ...choices } = readOptions({
  check: { type: 'boolean', default: false },
  contract: { type: 'string', default: 'openapi.yaml' },
  out: { type: 'string', default: 'generated' },
  ...contractOptions
})
requireFiles('contract', [contract])
const options = { check, contract, out, ownPaths, ...choicesOf(choices) }
process.exitCode = await generate(options) ? 0 : 1
