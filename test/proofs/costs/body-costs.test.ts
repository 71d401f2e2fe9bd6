import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import type { Cost } from './body-costs.ts'

/**
 * How often JSON.parse reads an ordinary body of the same size in 5 ms: it takes 0.25 ms where this
 * was measured.
 */
const limit = 20

t.test('a body of 64 KiB costs at most twenty ordinary ones more than JSON.parse of it', async t => {
  // tap starts coverage by NODE_OPTIONS, which it adds to every node that a test starts.
  const args = ['test/proofs/costs/body-costs.ts', '10', String(limit)]
  const { stdout } = await promisify(execFile)('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args])
  const costs: Cost[] = stdout.trimEnd().split('\n').map(line => JSON.parse(line))
  t.ok(costs.length >= 40)
  for (const { shape, milliseconds, own } of costs) {
    t.ok(own <= limit, `${shape}: ${milliseconds.toFixed(2)} ms, own part ${own.toFixed(1)}`)
  }
})
