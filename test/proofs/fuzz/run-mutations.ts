// npm run prove -- fuzz-mutations: breaks a copy of the service in several ways, and proves that
// the fuzzer finds each.
import { parseNumber, readOptions } from '../../../scripts/options.ts'
import { mutations, runFuzzer, runMutation } from './mutations.ts'

const texts = readOptions({
  cases: { type: 'string', default: '20000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) }
})
const cases = parseNumber('cases', texts.cases)
const seed = parseNumber('seed', texts.seed, 0)
console.log(`up to ${cases} cases for each mutation, from seed ${seed}`)
const control = await runFuzzer('.', ['--cases', String(cases), '--seed', String(seed)])
if (control.hasFailed) {
  throw new Error(`The fuzzer finds a violation in the code as it is: ${control.output}`)
}
for (const mutation of mutations) {
  const { hasFailed } = await runMutation(mutation, cases, seed)
  console.log(`${hasFailed ? 'found ' : 'MISSED'}  ${mutation.property}: ${mutation.name}`)
  if (!hasFailed) process.exitCode = 1
}
