// Contract -> generated/: the document for /docs, what the service registers, and the types.
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { makeDirectory } from '../../own-files.ts'
import { emitDocument, emitOperations } from './emit-contract.ts'
import { emitTypes } from './emit-types.ts'
import { ContractError, unreadable } from './findings.ts'
import { readContract } from './read.ts'
import type { ContractFile, ReadOptions } from './read.ts'

export interface GenerateOptions extends ReadOptions {
  /** The path of the contract. */
  contract: string
  /** The folder of the generated files. */
  out: string
  /** Report the files that differ instead of writing them. */
  check: boolean
}

/** A generated file, and the text that it should have. */
interface Output { path: string, text: string }

/**
 * Updates the generated files and prints the result or the errors.
 * @param onRead called with the paths of the contract's files once they are known
 * @returns whether the files match the contract
 */
export async function generate (
  { contract: file, out, check, ...options }: GenerateOptions,
  onRead: (files: string[]) => void = () => {}
): Promise<boolean> {
  try {
    const read = await readContract(file, options)
    onRead(read.files)
    printWarnings(read)
    const differing = await findDiffering(await emitFiles(read, file, out))
    if (differing.length === 0) {
      console.log(`${out}/ matches ${file}.`)
    } else if (check) {
      for (const { path } of differing) {
        const hint = 'Run `npm run generate` and commit the result.'
        console.error(`${path} does not match ${file}. ${hint}`)
      }
      return false
    } else {
      await writeFiles(out, differing)
    }
    return true
  } catch (error) {
    const lines = error instanceof ContractError ? error.findings : [(error as Error).message]
    for (const line of lines) console.error(line)
    return false
  }
}

function printWarnings ({ warnings, contract }: ContractFile): void {
  for (const warning of warnings) console.warn(`warning: ${warning}`)
  for (const { method, url, reason } of contract.skipped) {
    console.warn(`not served: ${method} ${url}: ${reason}`)
  }
}

async function emitFiles (read: ContractFile, file: string, out: string): Promise<Output[]> {
  const banner = `// Generated from ${basename(file)} by \`npm run generate\`. ` +
    'Do not edit: change the contract and generate again.\n'
  const types = await emitTypes(read.served).catch(error => { throw unreadable(file, error) })
  return [
    { path: join(out, 'document.ts'), text: banner + emitDocument(read.document) },
    { path: join(out, 'operations.ts'), text: banner + emitOperations(read.contract) },
    { path: join(out, 'types.ts'), text: banner + types }
  ]
}

/** The files that are missing, or have another text. */
async function findDiffering (outputs: Output[]): Promise<Output[]> {
  const differing: Output[] = []
  for (const output of outputs) {
    const present = await readFile(output.path, 'utf8').catch(() => undefined)
    if (present !== output.text) differing.push(output)
  }
  return differing
}

async function writeFiles (out: string, outputs: Output[]): Promise<void> {
  makeDirectory(out)
  for (const { path, text } of outputs) {
    await writeFile(path, text)
    console.log(`wrote ${path}`)
  }
}
