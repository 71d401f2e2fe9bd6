// fastify-openapi-contract init: a service that starts, in the current folder. It writes what is
// missing and never changes a file.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'
import { type Leniency, readContract, updateFiles } from '../generate/index.ts'
import { generateCommand, readArguments, requireFile } from './arguments.ts'
import {
  type Manifest, missingFrom, type OwnManifest, projectFiles, projectManifest
} from './project-files.ts'
import { sampleContract } from './sample-contract.ts'
import { secretOf, serviceFiles } from './service-files.ts'
import { withWayOut } from './way-out.ts'

export async function runInit (args: string[], own: OwnManifest): Promise<number> {
  const { contract: given, leniency } = readArguments(args, {})
  const existing = readManifest()
  const contract = given === undefined ? sampleOrOwn() : await copyContract(given, leniency)
  const command = generateCommand(contract, leniency)
  const manifest = projectManifest(command, own)
  writeFiles(projectFiles(manifest))
  await generateOnce(contract, leniency, `npx ${command}`)

  const read = await readContract(contract, leniency)
  // Loads the compiler: not for the sentences above.
  const { importExtension } = await import('../generate/emit-types.ts')
  writeFiles(serviceFiles(read.contract, importExtension('generated')))
  if (existing !== undefined) printMissing(existing, manifest)
  printNext(Object.keys(read.contract.securitySchemes).map(secretOf))
  return 0
}

/** A package.json that is no JSON is reported before anything is written. */
function readManifest (): Manifest | undefined {
  if (!existsSync('package.json')) return undefined
  try {
    return JSON.parse(readFileSync('package.json', 'utf8'))
  } catch (error) {
    throw new Error(`package.json: ${(error as Error).message}`)
  }
}

function sampleOrOwn (): string {
  writeFiles({ 'openapi.yaml': sampleContract })
  return 'openapi.yaml'
}

/**
 * Copies the files of a contract here, unless it is in this folder or below.
 * @returns the path of the contract here
 * @throws Error for a contract that cannot be served, or that has files in other places
 */
async function copyContract (given: string, leniency: Leniency): Promise<string> {
  requireFile(given, 'init')
  const { files } = await readContract(given, leniency).catch(async error => {
    throw await withWayOut(given, leniency, error)
  })
  const own = relative('', given)
  if (!isOutside(own)) return own
  const copies: Record<string, string> = {}
  for (const file of files) {
    const name = relative(dirname(given), file)
    if (isOutside(name)) {
      throw new Error(`${given} refers to ${file}: copy both here, and name the copy.`)
    }
    copies[name] = readFileSync(resolve(dirname(given), name), 'utf8')
    if (existsSync(name) && readFileSync(name, 'utf8') !== copies[name]) {
      throw new Error(`${name} is here already, and differs from that of ${given}: remove one.`)
    }
  }
  writeFiles(copies)
  return basename(given)
}

function isOutside (path: string): boolean {
  return path.startsWith('..') || resolve(path) === path
}

/** Files of one run belong together: a folder that is there stays as it is. */
async function generateOnce (
  contract: string,
  leniency: Leniency,
  command: string
): Promise<void> {
  if (existsSync('generated')) return console.log('kept generated/')
  try {
    await updateFiles({ contract, out: 'generated', check: false, command, ...leniency })
  } catch (error) {
    throw await withWayOut(contract, leniency, error)
  }
}

function writeFiles (files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    if (existsSync(path)) {
      console.log(`kept ${path}`)
      continue
    }
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    console.log(`wrote ${path}`)
  }
}

function printMissing (existing: Manifest, wanted: Manifest): void {
  const missing = missingFrom(existing, wanted)
  if (Object.keys(missing).length === 0) return
  console.log(`\nAdd to your package.json:\n${JSON.stringify(missing, null, 2)}`)
}

function printNext (secrets: string[]): void {
  const variables = secrets.map(name => `${name}=choose-one `).join('')
  console.log(`\nNext:\n  npm install\n  npm test\n  ${variables}npm start`)
}
