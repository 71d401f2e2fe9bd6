// Ways to break the service, and the fuzzer on a copy that is broken in one of them.
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { holdProcess } from '../../fixtures/leash.ts'
import { type Replacement, withMutation } from '../../fixtures/mutation.ts'
import { withoutCoverage } from '../../fixtures/service.ts'

export interface Mutation extends Replacement {
  name: string
  /** The property that it breaks. */
  property: 'plants' | 'broken-plants' | 'connections'
}

export const mutations: readonly Mutation[] = [
  {
    name: 'ids are rounded as doubles',
    property: 'plants',
    file: 'src/contract/schema/int64.ts',
    text: 'isExact(value, written) ? BigInt(value) : exactInteger(written)',
    by: 'Number.isInteger(value) ? BigInt(value) : undefined'
  },
  {
    name: 'a duplicate member leaves its digits behind',
    property: 'plants',
    file: 'src/contract/schema/json.ts',
    text: 'ofHolder?.delete(key)',
    by: 'ofHolder?.has(key)'
  },
  {
    name: 'white space around a name is dropped',
    property: 'plants',
    file: 'src/plants/create-plant.ts',
    text: 'store.add(newPlant)',
    by: 'store.add({ ...newPlant, name: name.trim() })'
  },
  {
    name: 'another plant with the same id gets 200',
    property: 'plants',
    file: 'src/plants/create-plant.ts',
    text: "outcome === 'conflict'",
    by: 'outcome === undefined'
  },
  {
    name: 'an empty tag is stored as none',
    property: 'plants',
    file: 'src/plants/plant.ts',
    text: 'if (tag !== undefined)',
    by: 'if (tag)'
  },
  {
    name: 'the range of int64 is not checked',
    property: 'broken-plants',
    file: 'src/contract/schema/int64.ts',
    text: 'integer === undefined || BigInt.asIntN(64, integer) !== integer',
    by: 'integer === undefined'
  },
  {
    name: 'fractions are rounded',
    property: 'broken-plants',
    file: 'src/contract/schema/int64.ts',
    text: 'Number.isSafeInteger(value) ? BigInt(value) : undefined)',
    by: 'BigInt(Math.round(value)))'
  },
  {
    name: 'fractions that a double holds as an integer pass',
    property: 'broken-plants',
    file: 'src/contract/schema/int64.ts',
    text: 'if (zeros < 0 || length + zeros > 19)',
    by: 'if (zeros < 0) return BigInt(Math.round(Number(source)))\n  if (length + zeros > 19)'
  },
  {
    name: 'invalid UTF-8 is replaced',
    property: 'broken-plants',
    file: 'src/contract/schema/json.ts',
    text: 'if (!isText && !isUtf8(json))',
    by: 'if (json.length < 0)'
  },
  {
    name: 'half of a surrogate pair is accepted',
    property: 'broken-plants',
    file: 'src/contract/schema/json.ts',
    text: 'escapedSurrogate.test(text) &&',
    by: 'text.length < 0 &&'
  },
  {
    name: 'a value of another type is converted',
    property: 'broken-plants',
    file: 'src/contract/schema/validator.ts',
    text: 'strict: true,',
    by: 'strict: true, coerceTypes: true,'
  },
  {
    name: 'a reset after CONNECT ends the process',
    property: 'connections',
    file: 'src/contract/server/socket-errors.ts',
    text: "for (const event of ['error', 'timeout']) socket.on(event, () => socket.destroy())",
    by: ''
  },
  {
    name: 'a client that closes its side gets no response',
    property: 'connections',
    file: 'src/contract/server/socket-errors.ts',
    text: 'Object.assign(server, { httpAllowHalfOpen: true })',
    by: ''
  },
  {
    name: 'malformed bytes hide the response to the request before them',
    property: 'connections',
    file: 'src/contract/server/socket-errors.ts',
    text: 'if (pending?.req.complete === true)',
    by: 'if (pending?.req === true)'
  },
  {
    name: 'invalid percent-encoding is a failure of the service',
    property: 'connections',
    file: 'src/contract/message/fastify-errors.ts',
    text: "case 'FST_ERR_BAD_URL':",
    by: "case 'FST_ERR_OTHER':"
  },
  {
    name: 'a method that Fastify does not know is a failure of the service',
    property: 'connections',
    file: 'src/contract/message/fastify-errors.ts',
    text: "case 'FST_ERR_NOT_FOUND':",
    by: "case 'FST_ERR_OTHER':"
  },
  {
    name: 'malformed HTTP is answered in another shape',
    property: 'connections',
    file: 'src/contract/server/socket-errors.ts',
    text: "'Content-Length': length, ",
    by: "'Content-Length': 0, "
  },
  {
    name: 'an incomplete request may stay for ever',
    property: 'connections',
    file: 'src/contract/server/http-server.ts',
    text: 'requestTimeout: whole,',
    by: 'requestTimeout: 0,'
  }
]

/** What a run printed. */
export interface Found { output: string, hasFailed: boolean }

/** Runs the fuzzer of the code in a folder; `temporary` gets its database. */
export function runFuzzer (folder: string, args: string[], temporary = tmpdir()): Promise<Found> {
  return new Promise(resolve => {
    const options = { cwd: folder, maxBuffer: 2 ** 28, env: { ...process.env, TMPDIR: temporary } }
    const command = [...withoutCoverage, process.execPath, 'test/proofs/fuzz/run.ts', ...args]
    const [program = '', ...others] = command
    holdProcess(execFile(program, others, options, (error, ...texts) => {
      resolve({ output: texts.join(''), hasFailed: error !== null })
    }))
  })
}

/** Runs the fuzzer on a copy of the code with one mutation. */
export function runMutation (mutation: Mutation, cases: number, seed: number): Promise<Found> {
  const args = ['--property', mutation.property, '--cases', String(cases), '--seed', String(seed)]
  const folders = ['test/fixtures', 'test/proofs/fuzz']
  // A mutation may end the process, which then leaves its database behind: it goes with the copy.
  return withMutation(mutation, folders, folder => runFuzzer(folder, args, folder))
}
