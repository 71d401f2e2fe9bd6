// fastify-openapi-contract init: a service that starts, in the current folder. It writes what is
// missing and never changes a file.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, relative, resolve } from 'node:path'
import { updateFiles } from '../generate/generate.ts'
import { compilerOptions, importExtension } from '../generate/emit/import-extension.ts'
import { readContract } from '../generate/read-contract.ts'
import { type Choices, generateCommand, readInitArguments, requireFile } from './arguments.ts'
import { linesToAdd } from './kept-files.ts'
import { printAddition, printLines, printMissing, printNext } from './next-steps.ts'
import {
  type Manifest, type OwnManifest, projectFiles, projectManifest, readManifest, startScripts
} from './project-files.ts'
import { sampleContract } from './sample-contract.ts'
import { serviceFiles } from './service-files.ts'
import { secretForm } from './verifiers-file.ts'
import { withWayOut } from './way-out.ts'

export async function runInit (args: string[], own: OwnManifest): Promise<number> {
  // One that is no JSON is reported before anything is written.
  const existing = readManifest('.')
  const { contract: given, choices, out } = readInitArguments(args, generatedFolder(), existing)
  if (given !== undefined) requireFile(given, 'contract', 'init')
  const hasConfig = existsSync('tsconfig.json')
  const startsAs = startScripts({ out, extension: hasConfig ? importExtension(out) : '.ts' })
  const hasApp = isApp(existing, startsAs)
  if (hasApp && existing?.type !== 'module') throw new Error(isCommonJs)
  if (/^commonjs$/i.test(String(compilerOptions('').module))) throw new Error(compilesToCommonJs)
  const source = given ?? 'openapi.yaml'
  if (given === undefined) requireNoOther(source)
  refuseSecond(source, choices, out)
  if (given === undefined) writeFiles({ [source]: sampleContract })
  const read = await readContract(source, choices).catch(async error => {
    throw await withWayOut(source, choices, error)
  })
  const contract = copyHere(source, read.files)
  const generate = generateCommand(contract, { ...choices, out })
  // A new project has a configuration of its own, not that of a folder around it.
  const extension = hasApp || hasConfig ? importExtension(out) : '.ts'
  const manifest = projectManifest(generate, own, { out, extension })
  if (!hasApp) writeFiles(projectFiles(manifest, extension))
  // Generated files belong together: a complete folder, with the last of them, stays as it is.
  if (existsSync(`${out}/types.ts`)) console.log(`kept ${out}/`)
  else await updateFiles({ contract, out, command: `npx ${generate}`, check: false, ...choices })

  const files = serviceFiles(read.contract, { out, extension, hasApp })
  writeFiles(files)
  printLines(linesToAdd(read.contract, files))
  const { type, scripts, dependencies } = manifest
  const ofApp = { type, scripts: { generate: scripts.generate }, dependencies }
  if (existing !== undefined) printMissing(existing, hasApp ? ofApp : manifest)
  const secrets = Object.entries(read.contract.securitySchemes).map(secretForm)
  if (hasApp) {
    printAddition(extension, secrets)
    return 0
  }
  printNext(extension, secrets, ownScripts(existing, manifest.scripts), generate)
  return 0
}

const isCommonJs = 'The app in this folder is CommonJS, as its package.json does not say ' +
  '"type": "module", and init writes ES modules. Run generate, and register the plugin in your ' +
  'app as the README shows; or run init in another folder.'

const compilesToCommonJs = 'init writes ES modules, and the tsconfig.json here has "module": ' +
  '"commonjs". Set it to "nodenext", or run init in another folder.'

/** Below src, if the compiler refuses files elsewhere. */
function generatedFolder (): string {
  const rootDir = compilerOptions('').rootDir
  const isSource = typeof rootDir === 'string' && relative('', rootDir) === 'src'
  return isSource ? 'src/generated' : 'generated'
}

/** @throws Error that names the descriptions in this folder, if there are others only */
function requireNoOther (contract: string): void {
  if (existsSync(contract)) return
  const [first, ...others] = readdirSync('.').filter(name => {
    if (!/\.(?:ya?ml|json)$/.test(name)) return false
    return /^[\s{]*"?openapi"?\s*:\s*["']?3\./m.test(readFileSync(name, 'utf8'))
  })
  if (first === undefined) return
  const names = [first, ...others].join(' or ')
  throw new Error(`Name your contract: npx fastify-openapi-contract init ${names}`)
}

/** @throws Error if the generated files are those of another contract */
function refuseSecond (contract: string, choices: Choices, out: string): void {
  const door = `${out}/index.ts`
  const name = basename(contract)
  if (!existsSync(door)) return
  if (readFileSync(door, 'utf8').startsWith(`// Generated from ${name} by `)) return
  const command = generateCommand(contract, {
    ...choices, out: `src/${basename(name, extname(name))}/generated`
  })
  throw new Error(`${out}/ has another contract than ${name}, and init writes one service. ` +
    `Generate into another folder: npx ${command}. Then register ` +
    'the contract in your app as the README shows.')
}

/**
 * Copies the files of a contract here, unless it is in this folder or below.
 * @returns the path of the contract here
 * @throws Error for files in other places, or with the names of others that are here
 */
function copyHere (contract: string, files: string[]): string {
  const own = relative('', contract)
  if (!isOutside(own)) return own
  const copies: Record<string, string> = {}
  for (const file of files.filter(path => !/^https?:/.test(path))) {
    const name = relative(dirname(contract), file)
    if (isOutside(name)) {
      throw new Error(`${contract} refers to ${file}: copy both here, and name the copy.`)
    }
    copies[name] = readFileSync(file, 'utf8')
    if (existsSync(name) && readFileSync(name, 'utf8') !== copies[name]) {
      throw new Error(`${name} is here, and differs from that of ${contract}: rename one of them.`)
    }
  }
  writeFiles(copies)
  console.log(`From now on change ${basename(contract)}, a copy of ${contract}.`)
  return basename(contract)
}

function isOutside (path: string): boolean {
  return path.startsWith('..') || resolve(path) === path
}

function writeFiles (files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    if (existsSync(path)) {
      console.log(`kept ${path}`)
      continue
    }
    try {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    } catch (error) {
      const { message } = error as Error
      throw new Error(`${path} cannot be written: ${message}. Run init in another folder.`)
    }
    console.log(`wrote ${path}`)
  }
}

/** Whether the folder has an app that init did not write: packages alone are none. */
function isApp (existing: Manifest = {}, { start, dev }: Record<string, string>): boolean {
  if (!Object.hasOwn(Object(existing.dependencies), 'fastify')) return false
  const startsOther = ownScripts(existing, { start, dev }).length > 0
  return startsOther || (!existsSync('src/service.ts') && ['.', 'src'].some(hasCode))
}

/** The names of scripts that a package.json has in another form. */
function ownScripts (
  existing: Manifest = {},
  scripts: Record<string, string | undefined>
): string[] {
  const own = Object(existing.scripts)
  const names = Object.keys(scripts).filter(name => Object.hasOwn(own, name))
  return names.filter(name => own[name] !== scripts[name])
}

function hasCode (folder: string): boolean {
  if (!existsSync(folder)) return false
  return readdirSync(folder).some(name => /(?<!\.config|\.d)\.[cm]?[jt]s$/.test(name))
}
