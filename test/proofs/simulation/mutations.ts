// Ways to break the stores, and the simulation of a copy that is broken in one of them.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { holdProcess } from '../../fixtures/leash.ts'
import { withMutation } from '../../fixtures/mutation.ts'

export interface Mutation {
  name: string
  /** The property that it violates. */
  violates: 'safety' | 'liveness'
  /** A file in src/stores. */
  file: string
  /** Occurs exactly once in the file. */
  text: string
  by: string
}

/** A control: the simulation finds nothing in code that is not broken. */
export const control: Mutation = {
  name: 'no mutation',
  violates: 'safety',
  file: 'clock.ts',
  text: 'Time as',
  by: 'Time as'
}

export const mutations: readonly Mutation[] = [
  {
    name: 'unchanged and conflict do not wait for the standby',
    violates: 'safety',
    file: 'postgres/dialects.ts',
    // eslint-disable-next-line no-template-curly-in-string
    text: ' AND ${emitMessage} IS NOT NULL',
    by: ''
  },
  {
    name: 'an insert keeps a weak synchronous_commit',
    violates: 'safety',
    file: 'postgres/dialects.ts',
    text: '{setForCommit}) AS settings,\n',
    by: '{"set_config(\'a.b\', \'\', true)"}) AS settings,\n'
  },
  {
    name: 'a read of existing plants keeps a weak synchronous_commit',
    violates: 'safety',
    file: 'postgres/dialects.ts',
    text: "{setForCommit} <> ''",
    by: "{'true'}"
  },
  {
    name: 'a plant that a failover lost counts as unchanged',
    violates: 'safety',
    file: 'postgres/plants.ts',
    text: 'missing = missing.filter(({ id }) => !added.has(id) && !found.has(id))',
    by: 'missing = []'
  },
  {
    name: 'a repetition in a batch replaces the plant',
    violates: 'safety',
    file: 'postgres/plants.ts',
    text: 'if (!plantById.has(plant.id)) plantById',
    by: 'plantById'
  },
  {
    name: 'a repetition in a batch counts as added',
    violates: 'safety',
    file: 'postgres/plants.ts',
    text: 'added.delete(plant.id)',
    by: 'added.has(plant.id)'
  },
  {
    name: 'ids are not sorted',
    violates: 'liveness',
    file: 'postgres/plants.ts',
    text: '.sort((a, b) => a.id < b.id ? -1 : 1)',
    by: ''
  },
  {
    name: 'check() does not wait for the standby',
    violates: 'safety',
    file: 'postgres/engine.ts',
    text: 'await confirmCommits(query, dialect)',
    by: ''
  },
  {
    name: 'a cancelled wait counts as success',
    violates: 'safety',
    file: 'postgres/statements.ts',
    text: 'if (isWarning(notice))',
    by: 'if (!isWarning(notice))'
  },
  {
    name: 'a statement waits until the standby has received, but not synced',
    violates: 'safety',
    file: 'postgres/dialects.ts',
    text: "ELSE 'on' END",
    by: "ELSE 'remote_write' END"
  },
  {
    name: 'the warning of a cancelled wait is harmless',
    violates: 'safety',
    file: 'postgres/statements.ts',
    text: "['exec_stmt_raise',",
    by: "['SyncRepWaitForLSN', 'exec_stmt_raise',"
  },
  {
    name: 'a harmless warning fails its statement',
    violates: 'liveness',
    file: 'postgres/statements.ts',
    text: ' && !harmlessRoutines.includes(routine)',
    by: ''
  },
  {
    name: 'a failed statement keeps its connection',
    violates: 'liveness',
    file: 'postgres/statements.ts',
    text: 'client.release(true)',
    by: ''
  },
  {
    name: 'a host that fails is tried for ever',
    violates: 'liveness',
    file: 'postgres/statements.ts',
    text: 'if (current === host) current =',
    by: 'if (current !== host) current ='
  },
  {
    name: 'a serialization failure is permanent',
    violates: 'liveness',
    file: 'postgres/errors.ts',
    text: '(?:08|40|57P)',
    by: '(?:08|57P)'
  },
  {
    name: 'a shutdown of the server is permanent',
    violates: 'liveness',
    file: 'postgres/errors.ts',
    text: '(?:08|40|57P)',
    by: '(?:08|40)'
  },
  {
    name: 'a read-only server is permanent',
    violates: 'liveness',
    file: 'postgres/errors.ts',
    text: "const readOnly = '25006'",
    by: "const readOnly = ''"
  },
  {
    name: 'a message on the standby is permanent',
    violates: 'liveness',
    file: 'postgres/errors.ts',
    text: "'cannot assign",
    by: "'-cannot assign"
  },
  {
    name: 'a permanent error is tried again',
    violates: 'liveness',
    file: 'retry.ts',
    text: '!isTransient(error) ||',
    by: ''
  },
  {
    name: 'a transient error is not tried again',
    violates: 'liveness',
    file: 'retry.ts',
    text: '!isTransient(error) ||',
    by: 'isTransient(error) ||'
  },
  {
    name: 'a call has no deadline',
    violates: 'liveness',
    file: 'retry.ts',
    text: 'clock.now() + timeoutMs',
    by: 'clock.now() + 100 * timeoutMs'
  },
  {
    name: 'a try may hang',
    violates: 'liveness',
    file: 'retry.ts',
    text: 'await Promise.race([work, late.promise])',
    by: 'await work'
  },
  {
    name: 'the death of a thread answers its calls',
    violates: 'safety',
    file: 'remote-engine.ts',
    text: 'settle({ id, error })',
    by: 'settle({ id, result: [] })'
  },
  {
    name: 'the calls of a dead thread never end',
    violates: 'liveness',
    file: 'remote-engine.ts',
    text: 'for (const id of pending.keys()) settle({ id, error })',
    by: ''
  },
  {
    name: 'a dead thread is not replaced',
    violates: 'liveness',
    file: 'remote-engine.ts',
    text: 'connection = undefined',
    by: ''
  },
  {
    name: 'outcomes go to the next plant of the batch',
    violates: 'safety',
    file: 'group-commit.ts',
    text: 'outcomes[index]',
    by: 'outcomes[(index + 1) % outcomes.length]'
  },
  {
    name: 'a failed batch resolves',
    violates: 'safety',
    file: 'group-commit.ts',
    text: '{ reject } of batch) reject(error)',
    by: "{ resolve } of batch) resolve('added')"
  },
  {
    name: 'a failed batch never settles',
    violates: 'liveness',
    file: 'group-commit.ts',
    text: 'for (const { reject } of batch) reject(error)',
    by: ''
  },
  {
    name: 'two batches are in flight at once',
    violates: 'safety',
    file: 'group-commit.ts',
    text: 'await commit(',
    by: 'commit('
  },
  {
    name: 'a queue that was empty once is not emptied again',
    violates: 'liveness',
    file: 'group-commit.ts',
    text: 'running = undefined',
    by: ''
  },
  {
    name: 'a full queue takes more plants',
    violates: 'liveness',
    file: 'group-commit.ts',
    text: 'queue.length >= maxQueue || queueBytes',
    by: 'queue.length >= 2 * maxQueue || queueBytes'
  },
  {
    name: 'add() after close() stores plants',
    violates: 'safety',
    file: 'group-commit.ts',
    text: 'if (closed !== undefined) {',
    by: 'if (maxQueue < 0) {'
  },
  {
    name: 'close() does not wait for the queue',
    violates: 'liveness',
    file: 'group-commit.ts',
    text: '[running, ...direct]',
    by: '[...direct]'
  },
  {
    name: 'close() does not wait for reads',
    violates: 'liveness',
    file: 'group-commit.ts',
    text: '[running, ...direct]',
    by: '[running]'
  },
  {
    name: 'a second close() closes the engine again',
    violates: 'liveness',
    file: 'group-commit.ts',
    text: 'closed ??= finish()',
    by: 'closed = finish()'
  }
]

/** What the schedules of a copy printed, and how many of them violated each property. */
export interface Found { output: string, safety: number, liveness: number }

/** Runs schedules on a copy of the code with one mutation. */
export function runMutation (
  { file, text, by }: Mutation,
  schedules: number,
  seed: number
): Promise<Found> {
  const replacement = { file: join('src/stores', file), text, by }
  return withMutation(replacement, ['test/proofs/simulation'], folder => {
    return runSchedules(folder, schedules, seed)
  })
}

const verdict = /^(\d+) schedules violated safety, (\d+) violated liveness$/m

/** Runs the schedules of the code in a folder. */
export function runSchedules (folder: string, schedules: number, seed: number): Promise<Found> {
  const options = ['--schedules', String(schedules), '--seed', String(seed)]
  const args = ['test/proofs/simulation/run.ts', ...options]
  const limits = { cwd: folder, maxBuffer: 2 ** 28 }
  return new Promise((resolve, reject) => {
    holdProcess(execFile(process.execPath, args, limits, (_error, output, errors) => {
      const [, safety, liveness] = verdict.exec(output) ?? []
      if (safety === undefined) return reject(new Error(`The simulation did not end: ${errors}`))
      resolve({ output, safety: Number(safety), liveness: Number(liveness) })
    }))
  })
}
