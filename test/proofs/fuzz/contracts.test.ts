// Mutated contracts. `npm run prove -- fuzz-contracts` makes many more, and replays what a failure prints.
import { execFile } from 'node:child_process'
import t from 'tap'
import { comment } from '../../fixtures/comment.ts'
import { holdProcess } from '../../fixtures/leash.ts'
import { type Replacement, withMutation } from '../../fixtures/mutation.ts'
import { withoutCoverage } from '../../fixtures/service.ts'

// `npm run prove -- fuzz-contracts` takes new seeds.
const seed = Number(process.env.FUZZ_SEED ?? 1)

function fuzz (folder: string, ...args: string[]): Promise<{ output: string, hasFailed: boolean }> {
  return new Promise(resolve => {
    // What the fuzzer finds in a broken copy goes with the copy.
    const env = folder === '.' ? process.env : { ...process.env, TMPDIR: folder }
    const options = { cwd: folder, env, maxBuffer: 2 ** 28 }
    const script = ['test/proofs/fuzz/contracts.ts', '--seconds', '120', '--first']
    const [program = '', ...command] = [...withoutCoverage, process.execPath, ...script, ...args]
    holdProcess(execFile(program, command, options, (error, ...texts) => {
      resolve({ output: texts.join(''), hasFailed: error !== null })
    }))
  })
}

t.test('mutated contracts are refused by name, or start and answer', async t => {
  t.comment(`FUZZ_SEED=${seed}`)
  const { output, hasFailed } = await fuzz('.', '--cases', '30', '--seed', String(seed))
  if (!t.equal(hasFailed, false)) return comment(t, output)
  // A run that met none of these would prove little.
  const met = ['refused', 'served', 'refused with --skip-unsupported', 'served with --skip-unsupported']
  t.strictSame(met.filter(outcome => !output.includes(`  ${outcome}\n`)), [])
})

/** Each breaks the generator for some of the first contracts of seed 7. */
const mutations: Array<Replacement & { name: string, finds: RegExp }> = [
  {
    name: 'a place is missing',
    file: 'src/contract/generate/files/findings.ts',
    text: 'const { line, col } = startOf(place)',
    by: "const [line, col] = ['', '']",
    finds: /=> (?:finding|warning): /
  },
  {
    name: 'paths that no request reaches are served',
    file: 'src/contract/generate/lint/unsupported-features.ts',
    text: "hasDelimiter || isRepeated || hasDots || !isDecodable(rest)) return 'path'",
    by: 'rest.includes("\\0")) return undefined',
    finds: /=> .*(?:: 40[45] |does not start)/
  },
  {
    name: 'types name one that does not exist',
    file: 'src/contract/generate/emit/emit-types.ts',
    text: 'const type = isInt64(schema) ? bigint : blob',
    by: "const type = ts.factory.createTypeReferenceNode('Missing')",
    finds: /=> does not compile: types-\d+\.ts\(.*'Missing'/
  }
]

for (const { name, finds, ...replacement } of mutations) {
  t.test(`the fuzzer finds a mutation: ${name}`, async t => {
    const folders = ['test/fixtures', 'test/proofs/contracts', 'test/proofs/fuzz', 'openapi.yaml']
    const { output, hasFailed } = await withMutation(replacement, folders, folder => {
      return fuzz(folder, '--cases', '60', '--seed', '7')
    })
    t.equal(hasFailed, true)
    t.match(output, finds)
    t.match(output, /Replay: node test\/proofs\/fuzz\/contracts\.ts --seed 7 --case \d+/)
  })
}
