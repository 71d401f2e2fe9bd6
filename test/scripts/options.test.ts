import { spawnSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import t from 'tap'

/** Runs a program that prints what it made of its command line. */
function run (...args: string[]) {
  const program = `
    import { readOptions, toNumbers } from ${JSON.stringify(pathToFileURL('scripts/options.ts').href)}
    const { rounds, sizes } = readOptions({ rounds: { type: 'string', default: '5' }, sizes: { type: 'string', default: '0,1' } })
    console.log(JSON.stringify([toNumbers('rounds', rounds), toNumbers('sizes', sizes, 0)]))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program, '--', ...args], { encoding: 'utf8' })
  return { status, stdout, stderr }
}

t.test('options are numbers, by default those of the script', async t => {
  t.match(run(), { status: 0, stdout: '[[5],[0,1]]\n', stderr: '' })
  t.match(run('--rounds', '2', '--sizes=0,10'), { status: 0, stdout: '[[2],[0,10]]\n', stderr: '' })
})

t.test('anything else is told in a sentence', async t => {
  t.match(run('--rounds', '0'), { status: 2, stdout: '', stderr: '--rounds takes whole numbers from 1 on, not 0\n' })
  t.match(run('--rounds', '1.5'), { status: 2, stdout: '', stderr: '--rounds takes whole numbers from 1 on, not 1.5\n' })
  t.match(run('--sizes', '1,many'), { status: 2, stdout: '', stderr: '--sizes takes whole numbers from 0 on, not 1,many\n' })
  t.match(run('--foo'), { status: 2, stdout: '', stderr: /^Unknown option '--foo'.*\n$/ })
})
