// npm run prove -- NAME: proves a promise, longer than npm test does. After a failure the exit code
// is not 0.
import { globSync } from 'node:fs'
import { type Menu, runEntry } from './menu.ts'

const shows: Array<[name: string, file: string, text: string]> = [
  ['power-cut', 'faults/power-cut', '200 power cuts lose no acknowledged plant; 10 minutes, root'],
  ['crash-states', 'faults/crash-states', 'nor do 5,000 states of files; 5 minutes, strace'],
  ['disk-hang', 'faults/disk-hang', 'the service survives a disk that hangs; half a minute, root'],
  ['thin-disk', 'faults/thin-disk', 'syncs that fail on a thin disk lose nothing; 3 minutes, root'],
  ['cluster', 'faults/cluster', 'failovers of three nodes; 20 minutes, root, packages of Debian'],
  ['citus', 'faults/citus', 'kills and failovers in a cluster of Citus; 5 minutes, root, Citus'],
  ['citus-growth', 'costs/citus-growth', 'CPU by workers of Citus; 2 minutes, root, Citus, wrk'],
  ['simulation', 'simulation/run', '100,000 simulated schedules of faults; 4 minutes'],
  ['simulation-mutations', 'simulation/run-mutations', 'it finds broken stores; 10 minutes'],
  ['soak', 'soak/run', 'three weeks of windows in half an hour: nothing grows; 30 minutes'],
  ['judge', 'judge/run', 'a second judge of kills, power cuts and failovers; minutes'],
  ['fuzz', 'fuzz/run', 'a million random plants, broken ones and connections; 10 minutes'],
  ['fuzz-contracts', 'fuzz/contracts', '5,000 mutated contracts; at most an hour'],
  ['fuzz-mutations', 'fuzz/run-mutations', 'the fuzzer finds a broken service; 5 minutes'],
  ['costs', 'costs/body-costs', 'CPU that bodies of 64 KiB cost, by their shape; half a minute'],
  ['json-schema', 'json-schema/suite', 'the JSON Schema Test Suite in FOLDER; half a minute'],
  ['clients', 'clients/run', 'clients of three generators store plants; 2 minutes, network'],
  ['contracts', 'contracts/published', 'serves published contracts, FILE... or a corpus; minutes']
]

export const proofs: Menu = {
  faults: {
    file: 'node_modules/tap/dist/esm/run.mjs',
    args: [
      '--disable-coverage', '--timeout=3600', ...globSync('test/proofs/faults/*.{test,trace}.ts')
    ],
    env: { KILL_ROUNDS: '500' },
    shows: '500 kills of each store, restarts, full and failing disks; 15 minutes, strace'
  }
}
for (const [name, file, text] of shows) {
  proofs[name] = { file: `test/proofs/${file}.ts`, shows: text }
}

if (import.meta.main) await runEntry('prove', proofs)
