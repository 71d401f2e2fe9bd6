// npm run generate: openapi.yaml -> generated/. With --check it writes nothing, and exits with 1 if a file differs.
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { makeDirectory } from '../src/own-files.ts'
import { readContract } from '../src/contract/generate/read.ts'
import type { Leniency } from '../src/contract/generate/read.ts'
import { emitDocument, emitOperations } from '../src/contract/generate/emit-contract.ts'
import { emitTypes } from '../src/contract/generate/emit-types.ts'
import { ContractError, unreadable } from '../src/contract/generate/findings.ts'
import { leniencyOf, leniencyOptions, readOptions } from './options.ts'

const banner = (contract: string) => `// Generated from ${basename(contract)} by \`npm run generate\`. ` +
  'Do not edit: change the contract and generate again.\n'

export interface Options extends Leniency { contract: string, out: string, check: boolean }

if (import.meta.main) {
  const { check, contract, out, ...leniency } = readOptions({
    check: { type: 'boolean', default: false },
    contract: { type: 'string', default: 'openapi.yaml' },
    out: { type: 'string', default: 'generated' },
    ...leniencyOptions
  })
  process.exitCode = await generate({ check, contract, out, ...leniencyOf(leniency) }) ? 0 : 1
}

/**
 * Updates the generated files and prints the result or the errors.
 * @param sources called with the contract's files once they are known
 * @returns whether the files match the contract
 */
export async function generate (
  { contract: file, out, check, ...leniency }: Options,
  sources: (files: string[]) => void = () => {}
): Promise<boolean> {
  try {
    const { document, served, contract, warnings, files } = await readContract(file, leniency)
    sources(files)
    for (const warning of warnings) console.warn(`warning: ${warning}`)
    for (const { method, url, reason } of contract.skipped) console.warn(`not served: ${method} ${url}: ${reason}`)
    const differing = await compare(out, banner(file), {
      'document.ts': emitDocument(document),
      'operations.ts': emitOperations(contract),
      'types.ts': await emitTypes(served).catch(error => { throw unreadable(file, error) })
    })
    if (differing.length === 0) console.log(`${out}/ matches ${file}.`)
    else if (!check) await write(out, differing)
    for (const [path] of check ? differing : []) {
      console.error(`${path} does not match ${file}. Run \`npm run generate\` and commit the result.`)
    }
    return !check || differing.length === 0
  } catch (error) {
    for (const line of error instanceof ContractError ? error.findings : [(error as Error).message]) console.error(line)
    return false
  }
}

/** The generated files that are missing or different, by path, with the text they should have. */
async function compare (
  out: string,
  head: string,
  files: Record<string, string>
): Promise<[path: string, text: string][]> {
  const wanted = Object.entries(files).map(([name, text]): [string, string] => [join(out, name), head + text])
  const present = await Promise.all(wanted.map(([path]) => readFile(path, 'utf8').catch(() => undefined)))
  return wanted.filter(([, text], index) => text !== present[index])
}

async function write (out: string, files: [path: string, text: string][]): Promise<void> {
  makeDirectory(out)
  for (const [path, text] of files) {
    await writeFile(path, text)
    console.log(`wrote ${path}`)
  }
}
