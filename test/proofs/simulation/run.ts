// npm run faults:simulation: runs schedules and prints which faults they met. A failed schedule
// prints its seed.
import { parseNumber, readOptions } from '../../../scripts/options.ts'
import { runSchedule } from './schedule.ts'

const texts = readOptions({
  schedules: { type: 'string', default: '100000' },
  /** The seed of the first schedule; each further one has the next number. */
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  /** Prints the events of every schedule, not only of failed ones. */
  log: { type: 'boolean', default: false }
})
const schedules = parseNumber('schedules', texts.schedules)
const firstSeed = parseNumber('seed', texts.seed, 0)
const counts = new Map<string, number>()
const violated = { safety: 0, liveness: 0 }
let failures = 0
// The stacks of all the simulated errors would take half of the time.
Error.stackTraceLimit = 0

console.log(`seeds ${firstSeed} to ${firstSeed + schedules - 1}`)
const began = performance.now()
for (let seed = firstSeed; seed < firstSeed + schedules; seed++) {
  const violations = await runSchedule(seed, { counts, log: undefined })
  if (violations.length > 0) failures++
  for (const property of new Set(violations.map(({ property }) => property))) violated[property]++
  // A few failed schedules say as much as all.
  if (texts.log || (violations.length > 0 && failures <= 3)) await printSchedule(seed)
}
const seconds = (performance.now() - began) / 1000

console.log(`${schedules} schedules in ${seconds.toFixed(1)} s, ${Math.round(schedules / seconds)} per second`)
for (const [name, count] of [...counts].sort(([a], [b]) => a < b ? -1 : 1)) {
  console.log(`${String(count).padStart(9)}  ${name}`)
}
console.log(`${violated.safety} schedules violated safety, ${violated.liveness} violated liveness`)
process.exitCode = failures > 0 ? 1 : 0

/** Runs a schedule again, with its log. */
async function printSchedule (seed: number): Promise<void> {
  const log: string[] = []
  const violations = await runSchedule(seed, { counts: new Map(), log })
  console.log(log.join('\n'))
  for (const { property, message } of violations) console.log(`${property}: ${message}`)
  console.log(`Replay: node test/proofs/simulation/run.ts --seed ${seed} --schedules 1`)
}
