// npm run generate: openapi.yaml -> generated/. --contract and --out name another file and folder.
// With --check it writes nothing, and exits with 1 if a file differs. --skip-unsupported leaves out
// operations that cannot be served; --allow-open serves those without security. --built-in-types
// emits the types without openapi-typescript.
import { generate } from 'fastify-openapi-contract/generate'
import { existsSync } from 'node:fs'
import { ownPaths } from '../src/service/service-paths.ts'
import { exitWith, leniencyOf, leniencyOptions, readOptions } from './options.ts'

const { check, contract, out, 'built-in-types': isBuiltIn, ...leniency } = readOptions({
  'built-in-types': { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  contract: { type: 'string', default: 'openapi.yaml' },
  out: { type: 'string', default: 'generated' },
  ...leniencyOptions
})
if (!existsSync(contract)) {
  exitWith(`There is no file ${contract}. Name the contract: npm run generate -- --contract FILE`)
}
const command = 'npm run generate'
const types = isBuiltIn ? 'built-in' : 'openapi-typescript'
const options = { check, contract, out, command, ownPaths, types, ...leniencyOf(leniency) } as const
process.exitCode = await generate(options) ? 0 : 1
