// npm run prove -- fuzz-contracts: mutates contracts, and prints each that is refused without a
// name, crashes, hangs, does not compile or does not start. `--case` runs one of them again.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { compiler, oneThread } from '../../../scripts/compiler.ts'
import { parseNumber, readOptions } from '../../../scripts/options.ts'
import type { CaseResult, WorkerTask } from './contract-worker.ts'

const texts = readOptions({
  cases: { type: 'string', default: '5000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  /** Stops after this time. */
  seconds: { type: 'string', default: '3600' },
  /** Stops at the first violation. */
  first: { type: 'boolean', default: false },
  /** Runs only this one. */
  case: { type: 'string', default: '' }
})
const seed = parseNumber('seed', texts.seed, 0)
const only = texts.case === '' ? undefined : parseNumber('case', texts.case, 0)
const cases = only === undefined ? parseNumber('cases', texts.cases) : 1
const until = performance.now() + parseNumber('seconds', texts.seconds) * 1000
/** Longer than any contract of this size needs on a busy machine. */
const hangMs = 60_000
/** The compiler takes longer to start than to compile a case. */
const casesPerCompilation = 200

console.log(`seed ${seed}`)
const counts = new Map<string, number>()
const count = (name: string) => { counts.set(name, (counts.get(name) ?? 0) + 1) }
const folder = mkdtempSync(join(tmpdir(), 'plant-store-contracts-'))
process.once('exit', () => rmSync(folder, { recursive: true }))
let worker = startWorker()
/** Those whose generated code is not compiled yet. */
const uncompiled = new Map<number, CaseResult>()
let done = 0
for (; done < cases && performance.now() < until; done++) {
  const result = await run(only ?? done)
  report(result)
  uncompiled.set(result.index, result)
  if (uncompiled.size === casesPerCompilation) compile()
  if (texts.first && process.exitCode === 1) break
}
compile()
await worker.terminate()
console.log(`${process.exitCode === 1 ? 'FAILED' : 'passed'}  contracts: ${done} cases`)
for (const [name, number] of [...counts].sort()) {
  console.log(`${String(number).padStart(9)}  ${name}`)
}

function startWorker (): Worker {
  const file = new URL('contract-worker.ts', import.meta.url)
  const workerData: WorkerTask = { seed, folder }
  return new Worker(file, { workerData, stdout: false })
}

function run (index: number): Promise<CaseResult> {
  const { promise, resolve } = Promise.withResolvers<CaseResult>()
  let mutant = { text: '', changes: [] as string[] }
  const fail = (violation: string) => {
    const broken = worker
    worker = startWorker()
    broken.terminate().then(() => {
      resolve({ index, ...mutant, outcomes: ['failed'], violations: [violation] })
    })
  }
  const timer = setTimeout(fail, hangMs, `no end within ${hangMs} ms`)
  const onMessage = (message: CaseResult) => {
    if (message.outcomes === undefined) mutant = message
    else resolve(message)
  }
  const onError = (error: Error) => fail(`crash: ${String(error.stack ?? error)}`)
  worker.on('message', onMessage).on('error', onError)
  worker.postMessage(index)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', onMessage).off('error', onError)
  })
}

function report ({ index, text, changes, outcomes, violations }: CaseResult): void {
  outcomes.forEach(count)
  if (violations.length === 0) return
  process.exitCode = 1
  count('violations')
  const file = join(tmpdir(), `contract-${seed}-${index}.yaml`)
  writeFileSync(file, text)
  const found = [...new Set(violations)].map(violation => `  => ${violation.slice(0, 1000)}`)
  const applied = changes.map(change => `  ${change}`)
  console.log(['', `case ${index}, ${file}`, ...applied, ...found].join('\n'))
  console.log(`Replay: node test/proofs/fuzz/contracts.ts --seed ${seed} --case ${index}`)
}

/** Compiles the generated code in the folder, reports each case that has errors, and removes it. */
function compile (): void {
  const files = readdirSync(folder).filter(name => name.endsWith('.ts'))
  const output = [oneThread, '--pretty', 'false', '--noEmit']
  const language = ['--strict', '--target', 'esnext', '--module', 'nodenext']
  const args = [compiler, ...output, ...language, ...files]
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  const errors = [...stdout.matchAll(/^\w+-(\d+)\.ts\(.*$/gm)]
  if (files.length > 0 && status !== 0 && errors.length === 0) throw new Error(stdout)
  for (const [line, index] of errors) {
    const result = uncompiled.get(Number(index))
    if (result === undefined) continue
    report({ ...result, outcomes: [], violations: [`does not compile: ${line}`] })
    uncompiled.delete(result.index)
  }
  for (const name of files) rmSync(join(folder, name))
  uncompiled.clear()
}
