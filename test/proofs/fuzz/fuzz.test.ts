// Random plants and connections. `npm run prove -- fuzz` sends many more, and replays what a
// failure prints.
import t from 'tap'
import { comment } from '../../fixtures/comment.ts'
import { mutations, runFuzzer, runMutation } from './mutations.ts'

/** For each property: as many as find the mutations below. */
const fewest = 1000
/** Their number varies from run to run. */
const cases = 4 * fewest
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)

t.test(`${cases} random plants, broken plants and connections keep all properties`, async t => {
  t.comment(`FUZZ_SEED=${seed}`)
  const { output, hasFailed } = await runFuzzer('.', ['--cases', String(cases), '--seed', String(seed)])
  if (!t.equal(hasFailed, false)) return comment(t, output)
  // A run that met none of these would prove little.
  const met = [
    'the same plant again', 'plant hidden in a connection and stored', 'group whose responses all arrived',
    'ending: halfClose', 'ending: stay', 'ending: reset',
    ...[200, 204, 400, 404, 405, 409, 415, 431].map(status => `status: ${status}`)
  ]
  t.strictSame(met.filter(name => !output.includes(`  ${name}\n`)), [])
  const counted = [...output.matchAll(/: (\d+) cases in/g)].map(([, count]) => Number(count))
  t.ok(counted.length === 3 && counted.every(count => count >= fewest), `cases: ${counted}`)
})

/** Mutations that some of a thousand cases find. */
const frequent = [
  'ids are rounded as doubles',
  'another plant with the same id gets 200',
  'the range of int64 is not checked',
  'invalid UTF-8 is replaced',
  'malformed bytes hide the response to the request before them'
]

for (const name of frequent) {
  t.test(`the fuzzer finds a mutation: ${name}`, async t => {
    const mutation = mutations.find(mutation => mutation.name === name)
    if (mutation === undefined) throw new Error('There is no such mutation.')
    const { output, hasFailed } = await runMutation(mutation, fewest, seed)
    t.equal(hasFailed, true, `FUZZ_SEED=${seed}`)
    t.match(output, `Replay: node test/proofs/fuzz/run.ts --property ${mutation.property} --seed ${seed} --path`)
  })
}
