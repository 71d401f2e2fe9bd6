// npm run prove -- simulation-mutations: breaks a copy of the stores in several ways, and proves
// that the simulation finds each.
import { parseNumber, readOptions } from '../../../scripts/options.ts'
import { control, mutations, runMutation } from './mutations.ts'

const fewSchedules = 500
const texts = readOptions({
  schedules: { type: 'string', default: '20000' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) }
})
const schedules = parseNumber('schedules', texts.schedules)
const seed = parseNumber('seed', texts.seed, 0)
console.log(`up to ${schedules} schedules for each mutation, from seed ${seed}`)
const { safety, liveness } = await runMutation(control, schedules, seed)
if (safety + liveness > 0) throw new Error('The simulation finds a violation in the code as it is.')
for (const mutation of mutations) {
  // Only rare violations need all schedules.
  let tried = Math.min(fewSchedules, schedules)
  let found = await runMutation(mutation, tried, seed)
  if (found[mutation.violates] === 0) {
    tried = schedules
    found = await runMutation(mutation, tried, seed)
  }
  const isFound = found[mutation.violates] > 0
  const [safe, alive, all] = [found.safety, found.liveness, tried].map(count => {
    return String(count).padStart(5)
  })
  const verdict = isFound ? 'found ' : 'MISSED'
  console.log(`${verdict}  safety ${safe}, liveness ${alive} of ${all}  ${mutation.name}`)
  if (!isFound) process.exitCode = 1
}
