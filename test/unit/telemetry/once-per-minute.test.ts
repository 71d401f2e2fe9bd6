import { mock } from 'node:test'
import t from 'tap'
import { oncePerMinute } from '../../../src/telemetry/once-per-minute.ts'

t.test('the first event is reported at once, the others when the minute ends', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const reports: Array<[count: number, last: string]> = []
  const { add, close } = oncePerMinute<string>((...report) => reports.push(report))
  for (const event of ['a', 'b', 'c']) add(event)
  t.strictSame(reports.splice(0), [[1, 'a']])
  mock.timers.tick(59_999)
  t.strictSame(reports, [])
  mock.timers.tick(1)
  t.strictSame(reports.splice(0), [[2, 'c']])
  add('d')
  t.strictSame(reports, [], 'a minute has one report')
  mock.timers.tick(60_000)
  t.strictSame(reports.splice(0), [[1, 'd']])
  mock.timers.tick(120_000)
  add('e')
  add('f')
  t.strictSame(reports.splice(0), [[1, 'e']], 'after a quiet minute the first one is reported at once')
  close()
  t.strictSame(reports.splice(0), [[1, 'f']])
  close()
  t.strictSame(reports, [])
})
