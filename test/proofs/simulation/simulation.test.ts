// Random schedules of the simulation. `npm run prove -- simulation` runs many more, and replays one.
import t from 'tap'
import { mutations, runMutation, runSchedules } from './mutations.ts'
import { runSchedule } from './schedule.ts'

const schedules = 1000
const firstSeed = Date.now() % 2 ** 31

t.test(`${schedules} random schedules keep all promises, and meet every fault`, async t => {
  t.comment(`seeds ${firstSeed} to ${firstSeed + schedules - 1}`)
  const { output, safety, liveness } = await runSchedules('.', schedules, firstSeed)
  if (!t.strictSame({ safety, liveness }, { safety: 0, liveness: 0 })) t.comment(output)
  const faults = [
    'crash', 'failover', 'standbyAway', 'terminate', 'cancelWaits', 'lostBefore', 'lostAfter', 'slow', 'hung',
    'noConnection', 'pause', 'batch failsBefore', 'batch failsAfter', 'batch hangs',
    'batch dies', 'batch diesAfter'
  ]
  t.strictSame(faults.filter(fault => !output.includes(`  fault: ${fault}\n`)), [])
  const errors = ['25006', '40001']
  t.strictSame(errors.filter(error => !output.includes(`  error: ${error}\n`)), [])
})

t.test('the same seed gives the same events', async t => {
  const logOf = async (seed: number) => {
    const log: string[] = []
    await runSchedule(seed, { counts: new Map(), log })
    return log
  }
  for (let seed = firstSeed; seed < firstSeed + 20; seed++) {
    t.strictSame(
      await logOf(seed), await logOf(seed)
    )
  }
  t.not((await logOf(firstSeed)).join('\n'), (await logOf(firstSeed + 1)).join('\n'))
})

/** Mutations that some schedules of a hundred find. */
const frequent = [
  'unchanged and conflict do not wait for the standby',
  'a failed batch resolves',
  'close() does not wait for the queue',
  'a serialization failure is permanent'
]

for (const name of frequent) {
  t.test(`the simulation finds a mutation: ${name}`, async t => {
    const mutation = mutations.find(mutation => mutation.name === name)
    if (mutation === undefined) throw new Error('There is no such mutation.')
    const found = await runMutation(mutation, 300, firstSeed)
    t.ok(
      found[mutation.violates] > 0,
      `${found[mutation.violates]} of 300 schedules from seed ${firstSeed}`
    )
  })
}
