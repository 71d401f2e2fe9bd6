// npm run prove -- fuzz: sends random plants, broken plants and connections, and prints what they
// met. A failure prints the command that replays it.
import fc from 'fast-check'
import { parseNumber, readOptions, exitWith } from '../../../scripts/options.ts'
import { properties, type Property } from './properties.ts'
import { startTarget } from './target.ts'

const { FUZZ_SEED, FUZZ_PATH, FUZZ_PROPERTY } = process.env
const texts = readOptions({
  /** Plants and connections, about a third for each property. */
  cases: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: FUZZ_SEED ?? String(Date.now() % 2 ** 31) },
  /** Runs only this property. */
  property: { type: 'string', default: FUZZ_PROPERTY ?? '' },
  /** Runs only the case at this place, which a failure prints. */
  path: { type: 'string', default: FUZZ_PATH ?? '' }
})
const cases = parseNumber('cases', texts.cases)
const seed = parseNumber('seed', texts.seed, 0)
const { path } = texts
const chosen = properties.filter(({ name }) => texts.property === '' || name === texts.property)
if (chosen.length === 0) {
  exitWith(`--property must be one of ${properties.map(({ name }) => name).join(', ')}.`)
}
if (path !== '' && chosen.length > 1) exitWith('--path needs --property.')

console.log(`seed ${seed}`)
const counts = new Map<string, number>()
for (const property of chosen) await check(property)
for (const [name, number] of [...counts].sort(([a], [b]) => a < b ? -1 : 1)) {
  console.log(`${String(number).padStart(9)}  ${name}`)
}

async function check ({ name, options, casesPerRun, of, examples = [] }: Property): Promise<void> {
  const target = await startTarget(options)
  const began = performance.now()
  const count = (name: string, add = 1) => { counts.set(name, (counts.get(name) ?? 0) + add) }
  const property = shrinkBriefly(of(target, count))
  // The number of cases varies from run to run: a few more make up for it.
  const numRuns = Math.ceil(cases / chosen.length / casesPerRun * 1.1)
  // A replay looks for a smaller failure.
  const runs = path === '' ? { numRuns, endOnFailure: true } : { numRuns: 1, path }
  const details = await fc.check(property, { seed, examples, ...runs })
  await target.close()
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const verdict = details.failed ? 'FAILED' : 'passed'
  console.log(`${verdict}  ${name}: ${counts.get(name) ?? 0} cases in ${seconds} s`)
  if (!details.failed) return
  process.exitCode = 1
  console.log(await fc.asyncDefaultReportMessage(details))
  console.log(String(details.errorInstance))
  const replay = `--property ${name} --seed ${seed} --path "${details.counterexamplePath}"`
  console.log(`Replay: node test/proofs/fuzz/run.ts ${replay}`)
}

/**
 * fast-check shrinks a failure for as long as smaller ones fail; connections that hang would take
 * it an hour.
 */
function shrinkBriefly (property: ReturnType<Property['of']>): ReturnType<Property['of']> {
  const { run } = property
  let until = Infinity
  return Object.assign(property, {
    async run (value: unknown) {
      if (performance.now() > until) return null
      const failure = await run.call(property, value)
      if (failure !== null) until = Math.min(until, performance.now() + 15_000)
      return failure
    }
  })
}
