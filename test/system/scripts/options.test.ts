import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'

const options = pathToFileURL('scripts/options.ts').href
const program = `
  import { parseNumber, parseNumbers, readOptions } from ${JSON.stringify(options)}
  const { rounds, sizes } = readOptions({
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: '0,1' }
  })
  console.log(JSON.stringify([parseNumber('rounds', rounds), parseNumbers('sizes', sizes, 0)]))`

/** Runs a program that prints the numbers of its command line. */
function run (...args: string[]) {
  const node = ['--input-type=module', '--eval', program, '--', ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

t.test('readOptions() returns numbers, and the defaults of the script where an option is missing', async t => {
  t.match(run(), { status: 0, stdout: '[5,[0,1]]\n', stderr: '' })
  t.match(run('--rounds', '2', '--sizes=0,10'), { status: 0, stdout: '[2,[0,10]]\n', stderr: '' })
})

t.test('values that are not whole numbers and unknown options are refused with one line', async t => {
  const refused = (...args: string[]) => run(...args).stderr
  t.match(run('--rounds', '0'), { status: 2, stdout: '' })
  t.equal(refused('--rounds', '0'), '--rounds: 0 is not a whole number of at least 1.\n')
  t.equal(refused('--rounds', '1.5'), '--rounds: 1.5 is not a whole number of at least 1.\n')
  t.equal(refused('--sizes', '1,many'), '--sizes: many is not a whole number of at least 0.\n')
  t.match(run('--foo'), { status: 2, stdout: '', stderr: 'There is no option --foo. --help lists the options.\n' })
  t.equal(refused('--round', '2'), 'There is no option --round. Did you mean --rounds?\n')
  t.equal(refused('--rounds'), '--rounds needs a value: --rounds=VALUE.\n')
  t.equal(refused('x'), "Unexpected argument 'x'. This command takes only options; see --help.\n")
})

t.test('a list is refused where one number is needed', async t => {
  const { status, stderr } = run('--rounds', '5,9')
  t.strictSame({ status, stderr }, { status: 2, stderr: '--rounds: 5,9 is not a whole number of at least 1.\n' })
})

t.test('--help of a script says what it does, and lists its options', async t => {
  const scripts: Record<string, RegExp> = {
    generate: /^npm run generate: .*\n[^]*\n {2}--contract TEXT\n/,
    breaking: /^npm run breaking -- \[OLD \[NEW\]\]: [^]*\n {2}--contract TEXT/,
    dev: /^npm run dev: [^]*\n {2}--overlay TEXT\n {2}--skip-unsupported\n {2}--allow-open\n$/
  }
  for (const [name, help] of Object.entries(scripts)) {
    const args = [`scripts/${name}.ts`, name === 'dev' ? '-h' : '--help']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    t.match({ status, stdout, stderr }, { status: 0, stdout: help, stderr: '' }, name)
  }
})

t.test('generate without a contract names the way out', async t => {
  for (const file of ['/nope', 'src']) {
    const args = ['scripts/generate.ts', '--contract', file]
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    t.equal(status, 2)
    const wayOut = 'Name the contract: --contract FILE'
    t.equal(stderr, `There is no file ${file}. ${wayOut}\n`)
  }
})

t.test('package-engine says in one sentence that a folder cannot be written', async t => {
  const args = ['scripts/package-engine.ts', '--out', 'package.json/engine']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  t.match({ status, stderr }, { status: 2, stderr: /^package\.json\/engine cannot be written: E[A-Z]+: .*\. Name another folder: --out DIR\n$/ })
})

t.test('package-engine deletes no folder with files that it did not write', async t => {
  const folder = t.testdir({
    notes: { 'notes.txt': '' },
    src: { contract: { 'package.json': '{"name":"engine","devDependencies":{}}' } },
    project: { 'package.json': '{"name":"project"}' },
    // Its compiler writes nothing, and there is no document to copy.
    built: { 'package.json': '{"name":"engine"}', 'old.js': '' },
    empty: {}
  })
  const build = (out: string) => {
    const args = [resolve('scripts/package-engine.ts'), '--out', out]
    return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  }
  for (const out of ['notes', 'project', 'src/contract', '.']) {
    const stderr = `${out} has files, but not this package. Delete it, or name another folder: --out DIR\n`
    t.match(build(out), { status: 2, stdout: '', stderr })
    t.ok(existsSync(join(folder, out)))
  }
  t.match(build('built').stderr, /The package is not complete: correct the errors of the compiler\.\n$/)
  t.notOk(existsSync(join(folder, 'built')))
  t.notMatch(build('empty').stderr, 'has files')
})
