import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { type Detail, limitLines } from '../../../src/limits/log-lines.ts'
import { WindowCounter } from '../../../src/limits/window-counter.ts'
import type { FailedRequest } from '../../../src/contract/server/error-reporter.ts'

const memory = () => ({ lines: WindowCounter.memory(), totals: WindowCounter.memoryOfFewKeys() })

function startLimit (t: Test, perMinute = 2, shared = memory()) {
  const sentences: string[] = []
  const note = (level: string) => (sentence: string) => { sentences.push(`${level} ${sentence}`) }
  const log = { warn: note('warn'), error: note('error') }
  const limit = limitLines({ perMinute, ...shared, log })
  t.teardown(limit.close)
  return { limit, sentences }
}

function requestFrom (ip: string, name?: string): FailedRequest {
  const principals = name === undefined ? {} : { bearerAuth: { name } }
  const request = { id: '', ip, socket: { remoteAddress: ip }, principals }
  return request
}

function count (details: Detail[]): Record<Detail, number> {
  const counts = { full: 0, short: 0, none: 0 }
  for (const detail of details) counts[detail]++
  return counts
}

const refused = { status: 404, message: 'There is nothing.' }
const broken = { status: 503, message: 'Not stored.', cause: new Error('the disk is full') }

t.test('strangers of all networks together have 1,000 lines in a minute', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { limit, sentences } = startLimit(t)
  const details: Detail[] = []
  for (let nth = 0; nth < 3000; nth++) {
    const ip = `2001:db8:0:${nth.toString(16)}::1`
    details.push(limit.detailOf(refused, requestFrom(ip)))
  }
  t.strictSame(count(details), { full: 1000, short: 0, none: 2000 })
  t.strictSame(sentences, [])
  mock.timers.tick(60_000)
  t.strictSame(sentences, [
    'warn Many networks: 2000 refused requests have no line in this log, which has 1000 lines ' +
      'a minute for all networks without accepted credentials, or with too many requests.'
  ])
})

t.test('all threads share these lines, and a high FAILED_AUTH_LIMIT makes them more', async t => {
  const shared = memory()
  const threads = [startLimit(t, 1500, shared), startLimit(t, 1500, shared)]
  const details: Detail[] = []
  for (let nth = 0; nth < 1000; nth++) {
    for (const { limit } of threads) details.push(limit.detailOf(refused, requestFrom('192.0.2.1')))
  }
  t.strictSame(count(details), { full: 1500, short: 0, none: 500 })
})

t.test('one cause has one stack in a minute, and failures have 1,000 lines', async t => {
  const { limit, sentences } = startLimit(t)
  const caller = requestFrom('192.0.2.1', 'alice')
  const details: Detail[] = []
  for (let nth = 0; nth < 1200; nth++) details.push(limit.detailOf(broken, caller))
  t.strictSame(count(details), { full: 1, short: 999, none: 200 })
  const late = { status: 503, message: 'The service did not respond in time.' }
  t.equal(limit.detailOf(late, caller), 'none')
  t.equal(limit.detailOf({ status: 500, message: 'Failed.' }, requestFrom('192.0.2.2')), 'none')
  t.equal(limit.detailOf(refused, caller), 'full', 'refusals of known callers have no limit')
  limit.close()
  const rest = (what: string, cause: string) => `error ${what} no line in this log, which has ` +
    `1000 lines a minute for such requests: ${cause}`
  t.strictSame(sentences, [
    rest('200 failed requests have', 'Not stored. (the disk is full)'),
    rest('1 failed request has', 'The service did not respond in time.'),
    rest('1 failed request has', 'Failed.')
  ])
})

t.test('strangers that use up their lines do not hide why the service fails', async t => {
  const { limit } = startLimit(t)
  for (let nth = 0; nth < 2000; nth++) {
    limit.detailOf(refused, requestFrom(`2001:db8:0:${nth.toString(16)}::1`))
  }
  const probe = requestFrom('2001:db8::1')
  const other = { ...broken, cause: new Error('the file is gone') }
  const details = [broken, broken, other, other].map(error => limit.detailOf(error, probe))
  t.strictSame(details, ['full', 'none', 'full', 'none'])
  t.equal(limit.detailOf({ status: 503, message: 'Too many wait.' }, probe), 'none')
})

t.test('another cause has its own stack', async t => {
  const { limit } = startLimit(t)
  const caller = requestFrom('192.0.2.1', 'alice')
  const other = { ...broken, cause: new Error('the file is gone') }
  const details = [broken, other, broken, other].map(error => limit.detailOf(error, caller))
  t.strictSame(details, ['full', 'full', 'short', 'short'])
  t.equal(limit.detailOf(broken, requestFrom('192.0.2.1')), 'short', 'a stranger has the same cause')
})
