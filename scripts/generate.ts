// npm run generate: openapi.yaml -> generated/. --contract and --out name another file and folder,
// --overlay a file of changes to the contract, of which there may be several. With --check it
// writes nothing, and exits with 1 if a file differs. --skip-unsupported leaves out operations that
// cannot be served; --allow-open serves those without security.
import { generate } from 'fastify-openapi-contract/generate'
import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { ownPaths } from '../src/service/service-paths.ts'
import { exitWith, leniencyOf, leniencyOptions, readOptions } from './options.ts'

// Otherwise V8 lets garbage grow to a multiple of what a large contract needs.
setFlagsFromString('--heap-growing-percent=40')
const { check, contract, overlay: overlays, out, ...leniency } = readOptions({
  check: { type: 'boolean', default: false },
  contract: { type: 'string', default: 'openapi.yaml' },
  overlay: { type: 'string', multiple: true, default: [] },
  out: { type: 'string', default: 'generated' },
  ...leniencyOptions
})
for (const [option, files] of Object.entries({ contract: [contract], overlay: overlays })) {
  for (const file of files) {
    if (existsSync(file)) continue
    exitWith(`There is no file ${file}. Name the ${option}: npm run generate -- --${option} FILE`)
  }
}
const flags = overlays.map(file => ` --overlay ${file}`)
const command = flags.length === 0 ? 'npm run generate' : `npm run generate --${flags.join('')}`
const options = { check, contract, overlays, out, command, ownPaths, ...leniencyOf(leniency) }
process.exitCode = await generate(options) ? 0 : 1
