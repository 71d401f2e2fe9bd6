import t from 'tap'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../../src/stores/clock.ts'

t.test('a timer of a time that is over runs at once, without a warning of Node', async t => {
  const warnings: Error[] = []
  const note = (warning: Error) => { warnings.push(warning) }
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  await new Promise<void>(resolve => systemClock.setTimer(resolve, -5))
  await nextTurn()
  t.strictSame(warnings, [])
})
