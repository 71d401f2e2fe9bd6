import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import type { Cost } from './body-costs.ts'

/** How often JSON.parse reads an ordinary body of the same size in 5 ms: it takes 0.25 ms where this was measured. */
const limit = 20

t.test('no body of 64 KiB costs more than JSON.parse of twenty ordinary ones', async t => {
  // tap starts coverage by NODE_OPTIONS, which it adds to every node that a test starts.
  const args = ['test/contract/schema/body-costs.ts', '10', String(limit)]
  const { stdout } = await promisify(execFile)('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args])
  const costs: Cost[] = stdout.trimEnd().split('\n').map(line => JSON.parse(line))
  t.ok(costs.length >= 40)
  for (const { shape, milliseconds, ratio } of costs) {
    t.ok(ratio <= limit, `${shape}: ${milliseconds.toFixed(2)} ms, ratio ${ratio.toFixed(1)}`)
  }
})
