// npm run generate: openapi.yaml -> generated/. With --check it writes nothing, and exits with 1 if
// a file differs.
import { generate } from '../src/contract/generate/index.ts'
import { ownPaths } from '../src/service/service-paths.ts'
import { leniencyOf, leniencyOptions, readOptions } from './options.ts'

const { check, contract, out, ...leniency } = readOptions({
  check: { type: 'boolean', default: false },
  contract: { type: 'string', default: 'openapi.yaml' },
  out: { type: 'string', default: 'generated' },
  ...leniencyOptions
})
const options = { check, contract, out, ownPaths, ...leniencyOf(leniency) }
process.exitCode = await generate(options) ? 0 : 1
