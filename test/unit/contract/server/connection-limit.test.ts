import v8 from 'node:v8'
import t, { type Test } from 'tap'
import { connectionLimit } from '../../../../src/contract/server/connection-limit.ts'

/** Sets the limit of open files that the process sees, and a heap limit in MiB. */
function setLimits (t: Test, openFiles: number | 'unlimited', heapMiB: number): void {
  t.intercept(process.report, 'getReport', {
    value: () => ({ userLimits: { open_files: { soft: openFiles } } })
  })
  t.intercept(v8, 'getHeapStatistics', { value: () => ({ heap_size_limit: heapMiB * 2 ** 20 }) })
  t.intercept(process, 'constrainedMemory', { value: () => 0 })
}

const noWarning = (sentence: string) => t.fail(sentence)
const byDefault = { maxConnections: undefined, bodyLimit: 65536 }

t.test('by default bodies and unread responses take at most half of the memory', async t => {
  setLimits(t, 'unlimited', 512 + 192)
  const reason = 'half of the memory holds no more, and maxConnections is not set'
  t.strictSame(connectionLimit(byDefault, 1, noWarning), { limit: 1024, reason })
  t.equal(connectionLimit({ ...byDefault, bodyLimit: 2 ** 20 }, 1, noWarning).limit, 256)
  const { limit: least } = connectionLimit({ ...byDefault, bodyLimit: 2 ** 24 }, 1, noWarning)
  t.equal(least, 100, 'but 100 are always allowed')
  setLimits(t, 'unlimited', 8192)
  const most = connectionLimit({ ...byDefault, bodyLimit: 1 }, 1, noWarning)
  t.strictSame(most, { limit: 10_000, reason: 'maxConnections is not set' }, 'and never more than 10,000')
})

t.test('the limit of a container counts when it is lower than that of the heap', async t => {
  setLimits(t, 'unlimited', 4096)
  t.intercept(process, 'constrainedMemory', { value: () => 256 * 2 ** 20 })
  t.equal(connectionLimit(byDefault, 1, noWarning).limit, 256)
})

t.test('maxConnections replaces the default', async t => {
  setLimits(t, 100_000, 512)
  const reason = 'that is maxConnections'
  const found = connectionLimit({ ...byDefault, maxConnections: 20_000 }, 1, noWarning)
  t.strictSame(found, { limit: 20_000, reason })
})

t.test('the limit leaves file descriptors for responses, the database, log and tokens', async t => {
  setLimits(t, 1024, 512)
  const reason = 'the process may open 1024 files (ulimit -n), and a connection needs two'
  t.strictSame(connectionLimit(byDefault, 1, noWarning), { limit: 480, reason })
  const warnings: string[] = []
  const lowered = connectionLimit(
    { ...byDefault, maxConnections: 2000 }, 1, sentence => warnings.push(sentence), 'MOST'
  )
  t.strictSame(lowered, { limit: 480, reason })
  t.strictSame(warnings, [`MOST is lowered to 480: ${reason}.`])
  t.equal(connectionLimit(byDefault, 3, noWarning).limit, 464, 'each further thread needs some')
  setLimits(t, 65, 512)
  t.equal(connectionLimit(byDefault, 1, noWarning).limit, 16)
  setLimits(t, 20, 512)
  const found = connectionLimit(byDefault, 1, sentence => warnings.push(sentence))
  t.equal(found.limit, 5, 'half of very few')
  const tooFew = 'The process may open only 20 files (ulimit -n), and may need more to start.'
  t.strictSame(warnings.slice(1), [tooFew])
})
