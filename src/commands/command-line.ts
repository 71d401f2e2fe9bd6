// What the arguments of the command ask for; without arguments the service starts.
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'

const usage = `Usage: plant-store                  start the service
       plant-store copy FROM TO     copy plants between stores and files; copy --help tells more
       plant-store --help | --version
With npm start, put arguments behind --, as in npm start -- --help.

Exit codes: 0 after a signal, 2 for what somebody must correct, 1 for other failures.

These variables configure the service, in the environment or as lines of the file .env \
in the current folder.
The values are the defaults, except where the text says "Example".`

const help = ['--help', '-h']
const known = [...help, '--version', '-v']

/** Does what the arguments ask for, and sets the exit code. */
export async function runCommand (args: string[]): Promise<void> {
  if (args[0] === 'copy') {
    const { runCopy } = await import('./copy.ts')
    return runCopy(args.slice(1))
  }
  const unknown = args.find(argument => !known.includes(argument))
  if (unknown !== undefined) reportUnknown(unknown)
  else if (args.some(argument => help.includes(argument))) console.log(`${usage}\n\n${variables()}`)
  else console.log(version())
}

/** The text of .env.example without its first paragraph and its comment signs. */
function variables (): string {
  const [, ...paragraphs] = readOwnFile('.env.example').trim().split('\n\n')
  return paragraphs.join('\n').replace(/^# (?=[A-Z_]+=)/gm, '    ').replace(/^# /gm, '')
}

function version (): string {
  return JSON.parse(readOwnFile('package.json')).version
}

/** Compiled code is a folder deeper than the source. */
function readOwnFile (name: string): string {
  return readFileSync(join(findPackageJSON(import.meta.url) as string, '..', name), 'utf8')
}

function reportUnknown (argument: string): void {
  // The rest may be a password.
  const [name] = /^[\w-]*/.exec(argument) as RegExpExecArray
  const wayOut = 'variables such as PORT configure the service, and --help lists them.'
  console.error(`The argument "${name}" is unknown: ${wayOut}`)
  process.exitCode = 2
}
