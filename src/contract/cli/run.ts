// Chooses the command by its name.
import { readFileSync } from 'node:fs'

const usage = `Usage: npx fastify-openapi-contract COMMAND [openapi.yaml] [OPTIONS]

  init       write a service that starts: handlers, a test, package.json; changes no file
  generate   write the types and the data of the contract to a folder

Options of both:
  --allow-open         serve operations without security to everyone
  --skip-unsupported   leave out operations that cannot be served: they answer 501
  --int64 number       integers of format int64 are numbers within 2^53, and not bigint
  --types built-in     write the types without openapi-typescript
Options of generate:
  --overlay FILE       change the contract by an overlay (OpenAPI Overlay 1.0); may be repeated
  --out DIR            the folder, by default "generated"
  --check              write nothing; exit with 1 if a file differs
  --watch              generate again after each change of the contract

  --help, --version    print this text, or the version`

/**
 * Runs a command line.
 * @returns the exit code
 * @throws Error with a sentence about what the command cannot do
 */
export async function run (args: string[]): Promise<number> {
  const [command = '--help', ...rest] = args
  if ([command, ...rest].some(argument => argument === '--help' || argument === '-h')) {
    console.log(usage)
    return 0
  }
  if (command === '--version') {
    console.log(ownManifest().version)
    return 0
  }
  // Their packages may be missing, which says only the command that needs them.
  if (command === 'init') {
    return await (await import('./init-command.ts')).runInit(rest, ownManifest())
  }
  if (command === 'generate') {
    return await (await import('./generate-command.ts')).runGenerate(rest)
  }
  throw new Error(`There is no command ${command}: use init, generate, --help or --version.`)
}

/** The package.json of this package, of which init writes the version. */
function ownManifest () {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
}
