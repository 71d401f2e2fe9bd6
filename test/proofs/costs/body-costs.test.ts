import { execFile, spawnSync } from 'node:child_process'
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
  const args = ['test/proofs/costs/body-costs.ts', '--limit', String(limit)]
  const measure = async (): Promise<Cost[]> => {
    const { stdout } = await promisify(execFile)('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args])
    return stdout.trimEnd().split('\n').map(line => JSON.parse(line))
  }
  let costs = await measure()
  t.ok(costs.length >= 40)
  // V8 compiles a function better in one process than in another: the least of three processes counts.
  for (let more = 0; more < 2 && costs.some(({ own }) => own > limit); more++) {
    const others = await measure()
    costs = costs.map((cost, nth) => [cost, others[nth] as Cost].reduce((a, b) => a.own <= b.own ? a : b))
  }
  for (const { shape, milliseconds, own } of costs) {
    t.ok(own <= limit, `${shape}: ${milliseconds.toFixed(2)} ms, own part ${own.toFixed(1)}`)
  }
})

t.test('an unknown option and a wrong number are one sentence', async t => {
  const refused = (...args: string[]) => {
    const { status, stderr } = spawnSync(process.execPath, ['test/proofs/costs/body-costs.ts', ...args], { encoding: 'utf8' })
    return [status, stderr]
  }
  t.strictSame(refused('--foo'), [2, 'There is no option --foo. --help lists the options.\n'])
  t.strictSame(refused('--rounds', 'x'), [2, '--rounds: x is not a whole number of at least 1.\n'])
})
