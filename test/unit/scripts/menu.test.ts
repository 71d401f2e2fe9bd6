import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import type { Menu } from '../../../scripts/menu.ts'

function runNode (...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Runs a program with a menu, whose entries print what they get. */
function run (t: Test, ...args: string[]) {
  const folder = t.testdir()
  const entry = join(folder, 'entry.ts')
  writeFileSync(entry, `console.log(JSON.stringify([process.argv.slice(1), process.env.ROUNDS]))
    process.exitCode = 5`)
  const menu: Menu = {
    long: {
      file: relative('.', entry),
      shows: 'takes long; 1 hour',
      args: ['--first'],
      env: { ROUNDS: '500' }
    },
    brief: { file: relative('.', entry), shows: 'takes 1 second' }
  }
  const program = join(folder, 'program.ts')
  writeFileSync(program, `
    import { runEntry } from ${JSON.stringify(pathToFileURL('scripts/menu.ts').href)}
    await runEntry('prove', ${JSON.stringify(menu)})`)
  return { entry, ...runNode(program, ...args) }
}

t.test('the entry gets its arguments, the options and its environment', async t => {
  const { entry, status, stdout, stderr } = run(t, 'long', '--seed', '7')
  t.match({ status, stderr }, { status: 5, stderr: '' })
  t.strictSame(JSON.parse(stdout), [[entry, '--first', '--seed', '7'], '500'])
  t.strictSame(JSON.parse(run(t, 'brief').stdout), [[entry], null])
})

t.test('without a name the list is printed, with exit code 2', async t => {
  const { status, stdout, stderr } = run(t)
  t.strictSame({ status, stdout }, { status: 2, stdout: '' })
  const list = 'long   takes long; 1 hour\nbrief  takes 1 second\n'
  t.equal(stderr, `Usage: npm run prove -- NAME [OPTION]...\n\n${list}`)
})

t.test('an unknown name is named before the list, with exit code 2', async t => {
  for (const name of ['short', '--help', 'toString']) {
    const { status, stderr } = run(t, name)
    t.equal(status, 2)
    t.match(stderr, `npm run prove has no '${name}'.\nUsage: npm run prove -- NAME`)
  }
})

for (const name of ['bench', 'prove']) {
  t.test(`npm run ${name} prints its list`, async t => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
    t.equal(scripts[name], `scripts/packages.sh && node scripts/${name}.ts`)
    const { status, stderr } = runNode(`scripts/${name}.ts`)
    t.equal(status, 2)
    t.match(stderr, `Usage: npm run ${name} -- NAME`)
  })
}
