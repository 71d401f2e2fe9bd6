// Checks mutated contracts, apart from the thread that notices when one of them never ends.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { parseYaml } from '@redocly/openapi-core'
import { seededRandom } from '../../fixtures/random.ts'
import { checkContract } from './contract-check.ts'
import { mutate } from './contract-mutations.ts'

/** `folder` is temporary: the thread that starts the worker removes it. */
export interface WorkerTask { seed: number, folder: string }

/** A case: what was changed, and what came of it by leniency. */
export interface CaseResult { index: number, text: string, changes: string[], outcomes: string[], violations: string[] }

const folderOfContracts = 'test/fixtures/contracts'
const contracts = ['garden', 'garden', 'orders', 'tree', 'plants'].map(name => {
  return parseYaml(readFileSync(join(folderOfContracts, `${name}.yaml`), 'utf8')) as object
})
const { seed, folder } = workerData as WorkerTask
cpSync(join(folderOfContracts, 'parts'), join(folder, 'parts'), { recursive: true })
const file = join(folder, 'contract.yaml')

parentPort?.on('message', async (index: number) => {
  const random = seededRandom(`${seed} ${index}`)
  const { text, changes } = mutate(random.pick(contracts), random)
  parentPort?.postMessage({ text, changes })
  writeFileSync(file, text)
  const outcomes: string[] = []
  const violations: string[] = []
  for (const skipUnsupported of [false, true]) {
    const checked = await checkContract(file, { skipUnsupported, allowOpen: true })
    for (const [name, source] of Object.entries(checked.sources ?? {})) {
      writeFileSync(join(folder, `${name}-${index}.ts`), source)
    }
    outcomes.push(`${checked.outcome}${skipUnsupported ? ' with --skip-unsupported' : ''}`)
    violations.push(...checked.violations.map(text => skipUnsupported ? `with --skip-unsupported: ${text}` : text))
  }
  parentPort?.postMessage({ index, text, changes, outcomes, violations } satisfies CaseResult)
})
