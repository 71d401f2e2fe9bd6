// npm run generate: openapi.yaml -> generated/. With --check it compares, writes nothing, and exits 1 naming what differs.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ContractError, readContract, refuseUncompilable } from './contract.ts'
import { emitDocument, emitOperations, toContract } from './emit-operations.ts'
import { emitTypes } from './emit-types.ts'

const banner = '// Generated from openapi.yaml by `npm run generate`. Do not edit: change the contract and generate again.\n'

const { values: { check, contract: file, out } } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    contract: { type: 'string', default: 'openapi.yaml' },
    out: { type: 'string', default: 'generated' }
  }
})

try {
  const { document, warnings } = await readContract(file)
  for (const warning of warnings) console.warn(`warning: ${warning}`)
  const contract = toContract(document)
  refuseUncompilable(file, contract)
  const files = {
    'document.ts': emitDocument(document),
    'operations.ts': emitOperations(contract),
    'types.ts': await emitTypes(document)
  }
  const differing = await compare(files)
  if (differing.length === 0) console.log(`${out}/ is what ${file} says.`)
  else if (!check) await write(differing)
  else fail(differing.map(([path]) => `${path} is not what ${file} says: run \`npm run generate\` and commit the result.`))
} catch (error) {
  fail(error instanceof ContractError ? error.findings : [(error as Error).message])
}

/** The generated files that are missing or different, by path, with the text they should have. */
async function compare (files: Record<string, string>): Promise<[path: string, text: string][]> {
  const wanted = Object.entries(files).map(([name, text]): [string, string] => [join(out, name), banner + text])
  const present = await Promise.all(wanted.map(([path]) => readFile(path, 'utf8').catch(() => undefined)))
  return wanted.filter(([, text], index) => text !== present[index])
}

async function write (files: [path: string, text: string][]): Promise<void> {
  await mkdir(out, { recursive: true })
  for (const [path, text] of files) {
    await writeFile(path, text)
    console.log(`wrote ${path}`)
  }
}

function fail (lines: string[]): void {
  for (const line of lines) console.error(line)
  process.exitCode = 1
}
