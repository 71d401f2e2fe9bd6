// npm run prove -- contracts FILE...: serves each contract as it is published, and calls every
// operation with samples of its schemas. It prints a row of a table for each contract, and then
// what was left out or went wrong. --corpus FOLDER takes the contracts of corpus.txt from a folder.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { compiler } from '../../../scripts/compiler.ts'
import { choicesOf, contractOptions, exitWith, readArguments } from '../../../scripts/options.ts'
import { emitOperations } from '../../../src/contract/generate/emit/emit-contract.ts'
import { emitTypes } from '../../../src/contract/generate/emit/emit-types.ts'
import { readContract } from '../../../src/contract/generate/index.ts'
import { ownPaths } from '../../../src/service/service-paths.ts'
import { callOperations } from './operations.ts'

const options = { ...contractOptions, corpus: { type: 'string' as const, default: '' } }
const { values, positionals } = readArguments(options, Infinity)
const choices = choicesOf(values)
const files = values.corpus === '' ? positionals : corpusIn(values.corpus)
if (files.length === 0) exitWith('Name the files of the contracts to serve.')
const columns = [
  'contract', 'operations', 'answered', 'sample refused', 'failed', 'left out', 'generate',
  'compile', 'ready'
]
const remarks: string[] = []

printRow(columns)
printRow(columns.map(() => '---'))
for (const file of files) {
  // Many contracts have the same name.
  const name = join(basename(dirname(resolve(file))), basename(file))
  printRow([name, ...await tryContract(file, name)])
}
if (remarks.length > 0) console.log(`\n${remarks.join('\n')}`)

/** The files of the corpus, in checkouts and packages below a folder. */
function corpusIn (folder: string): string[] {
  const list = readFileSync(join(import.meta.dirname, 'corpus.txt'), 'utf8')
  const lines = list.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return lines.map(line => {
    const [source = '', , path = ''] = line.split(' ')
    return join(folder, source, path)
  })
}

function printRow (cells: Array<string | number>): void {
  console.log(`| ${cells.join(' | ')} |`)
}

/** The cells of a contract's row, after its name. */
async function tryContract (file: string, name: string): Promise<Array<string | number>> {
  try {
    const began = performance.now()
    const read = await readContract(file, { ownPaths, ...choices })
    const types = await emitTypes(read.served)
    const generateMs = performance.now() - began
    const { operations, skipped } = read.contract
    const compileMs = compile(types, emitOperations(read.contract))
    const { answered, refused, failed, readyMs } = await callOperations(read)
    for (const { method, url, reason } of skipped) {
      remarks.push(`${name}: ${method} ${url}: left out: ${reason}`)
    }
    for (const remark of [...refused, ...failed]) remarks.push(`${name}: ${remark}`)
    const total = Object.keys(operations).length + skipped.length
    const times = [generateMs, compileMs, readyMs].map(ms => `${(ms / 1000).toFixed(2)} s`)
    return [total, answered, refused.length, failed.length, skipped.length, ...times]
  } catch (error) {
    process.exitCode = 1
    return [(error as Error).message.split('\n', 1)[0] as string]
  }
}

/** Compiles generated types and operations; returns the time in milliseconds. */
function compile (types: string, operations: string): number {
  const folder = mkdtempSync(join(tmpdir(), 'published-contract-'))
  try {
    writeFileSync(join(folder, 'types.ts'), types)
    writeFileSync(join(folder, 'operations.ts'), operations)
    const began = performance.now()
    const options = ['--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext']
    const args = [compiler, ...options, 'types.ts', 'operations.ts']
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`The generated code does not compile: ${stdout}`)
    return performance.now() - began
  } finally {
    rmSync(folder, { recursive: true })
  }
}
