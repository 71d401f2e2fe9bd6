import t from 'tap'
import { oncePerMinute } from '../../../src/telemetry/once-per-minute.ts'

t.test('the first event is reported at once, the others at most once a minute', async t => {
  const clock = { now: 0 }
  t.intercept(performance, 'now', { value: () => clock.now })
  const reports: number[] = []
  const countEvent = oncePerMinute(count => reports.push(count))
  for (let event = 0; event < 3; event++) countEvent()
  t.strictSame(reports, [1])
  clock.now = 59_999
  countEvent()
  t.strictSame(reports, [1])
  clock.now = 60_000
  countEvent()
  t.strictSame(reports, [1, 4])
})
