// node test/proofs/contracts/published.ts FILE...: serves each contract as it is published, and calls every operation with samples of
// its schemas. It prints a row of a table for each contract, and then what was left out or went wrong.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { readContract } from '../../../src/contract/generate/read.ts'
import { emitOperations } from '../../../src/contract/generate/emit-contract.ts'
import { emitTypes } from '../../../src/contract/generate/emit-types.ts'
import { leniencyOf, leniencyOptions, readArguments } from '../../../scripts/options.ts'
import { callOperations } from './operations.ts'

const { values, positionals: files } = readArguments(leniencyOptions, Infinity)
const leniency = leniencyOf(values)
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const remarks: string[] = []

console.log('| contract | operations | answered | sample refused | failed | left out | generate | compile | ready |')
console.log('|---|---|---|---|---|---|---|---|---|')
for (const file of files) console.log(`| ${nameOf(file)} | ${(await tryContract(file)).join(' | ')} |`)
if (remarks.length > 0) console.log(`\n${remarks.join('\n')}`)

/** Its folder and its name: many contracts have the same name. */
function nameOf (file: string): string {
  return join(basename(dirname(resolve(file))), basename(file))
}

/** The cells of a contract's row, after its name. */
async function tryContract (file: string): Promise<Array<string | number>> {
  try {
    const began = performance.now()
    const read = await readContract(file, leniency)
    const types = await emitTypes(read.served)
    const generateMs = performance.now() - began
    const { operations, skipped } = read.contract
    const compileMs = compile(types, emitOperations(read.contract))
    const { answered, refused, failed, readyMs } = await callOperations(read)
    const leftOut = skipped.map(({ method, url, reason }) => `${method} ${url}: left out: ${reason}`)
    remarks.push(...[...leftOut, ...refused, ...failed].map(remark => `${nameOf(file)}: ${remark}`))
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
  const folder = mkdtempSync(join(tmpdir(), 'try-contract-'))
  try {
    writeFileSync(join(folder, 'types.ts'), types)
    writeFileSync(join(folder, 'operations.ts'), operations)
    const began = performance.now()
    const args = [compiler, '--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext']
    const { status, stdout } = spawnSync(process.execPath, [...args, 'types.ts', 'operations.ts'], { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`The generated code does not compile: ${stdout}`)
    return performance.now() - began
  } finally {
    rmSync(folder, { recursive: true })
  }
}
