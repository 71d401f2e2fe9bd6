// Contract -> generated/: the document for /docs, what the service registers, and the types.
import { statSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { Description } from './description/description.ts'
import { emitBuiltInTypes } from './emit/emit-built-in-types.ts'
import { emitDocument, emitDoor, emitOperations } from './emit/emit-contract.ts'
import { importExtension } from './emit/import-extension.ts'
import { type ContractFile, readContract } from './read-contract.ts'
import type { ReadOptions, TypesEmitter } from './read-options.ts'

export interface GenerateOptions extends ReadOptions {
  /** The path of the contract. */
  contract: string
  /** The folder of the generated files. */
  out: string
  /** The command that updates them, for people. */
  command: string
  /** Report the files that differ instead of writing them. */
  check: boolean
}

type OnRead = (files: string[]) => void

/**
 * Updates the generated files and prints the result or the errors.
 * @param onRead called with the paths of the contract's files once they are known
 * @returns whether the files match the contract
 */
export async function generate (options: GenerateOptions, onRead?: OnRead): Promise<boolean> {
  try {
    return await updateFiles(options, onRead)
  } catch (error) {
    console.error((error as Error).message)
    return false
  }
}

/**
 * As generate().
 * @throws ContractError for a contract that cannot be served
 */
export async function updateFiles (
  { contract: file, out, command, check, ...options }: GenerateOptions,
  onRead: OnRead = () => {}
): Promise<boolean> {
  const read = await readContract(file, options)
  onRead(read.files)
  for (const warning of read.warnings) console.warn(`warning: ${warning}`)
  for (const { method, url, reason } of read.contract.skipped) {
    console.warn(`not served: ${method} ${url}: ${reason}`)
  }
  let areSame = true
  for await (const [name, text] of emitFiles(file, read, { ...options, out, command })) {
    const path = join(out, name)
    const present = await readFile(path).catch(() => Buffer.of())
    const bytes = Buffer.from(text)
    if (present.equals(bytes)) continue
    areSame = false
    if (check) {
      console.error(`${path} does not match ${file}. ${hintFor(String(present), command)}`)
      continue
    }
    try {
      await makeFolder(resolve(out))
      await writeFile(path, bytes)
    } catch (error) {
      const { message } = error as Error
      throw new Error(`${path} cannot be written: ${message}. Name another folder by --out.`)
    }
    console.log(`wrote ${path}`)
  }
  if (areSame) console.log(`${out}/ matches ${file}.`)
  return areSame || !check
}

/** What to do about a file that differs: its first line has the command that wrote it. */
function hintFor (present: string, command: string): string {
  const [, former = command] = /^\/\/ Generated from .* by `(.*)`\. Do not edit/.exec(present) ?? []
  if (former === command) return `Run \`${command}\` and commit the result.`
  return `It was written by \`${former}\`: give --check the same options, or run \`${command}\` ` +
    'and commit the result.'
}

/** Node's recursive mkdir never returns where folders cannot be created, as in /proc. */
async function makeFolder (path: string): Promise<void> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  await makeFolder(dirname(path))
  await mkdir(path)
}

/** The names and texts of the generated files, one after another: some have many megabytes. */
async function * emitFiles (
  file: string,
  read: ContractFile,
  { out, command, types: emitter }: Pick<GenerateOptions, 'out' | 'command' | 'types'>
): AsyncGenerator<[name: string, text: string]> {
  const banner = `// Generated from ${basename(file)} by \`${command}\`. ` +
    'Do not edit: change the contract and generate again.\n'
  // Before the first file: nothing is written if it fails.
  const types = await emitTypesBy(emitter, read.served)
  yield ['document.ts', banner + emitDocument(read.document)]
  yield ['index.ts', banner + emitDoor(importExtension(out))]
  yield ['operations.ts', banner + emitOperations(read.contract)]
  yield ['types.ts', banner + types]
}

async function emitTypesBy (
  emitter: TypesEmitter | undefined,
  document: Description
): Promise<string> {
  if (emitter === 'built-in') return emitBuiltInTypes(document)
  // Loads the compiler, which takes 0.3 s: programs that only read a contract go without it.
  const { emitTypes } = await import('./emit/emit-types.ts')
  return await emitTypes(document)
}
