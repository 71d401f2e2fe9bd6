import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'
import type { Menu } from '../../../scripts/menu.ts'

/** Runs a program with a menu of one entry, which prints what it gets; returns how it ended. */
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
    }
  }
  const program = join(folder, 'program.ts')
  writeFileSync(program, `
    import { runEntry } from ${JSON.stringify(pathToFileURL('scripts/menu.ts').href)}
    await runEntry('prove', ${JSON.stringify(menu)})`)
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  return { entry, status, stdout, stderr }
}

t.test('the entry gets its arguments, the options and its environment, and its exit code counts', async t => {
  const { entry, status, stdout, stderr } = run(t, 'long', '--seed', '7')
  t.match({ status, stderr }, { status: 5, stderr: '' })
  t.strictSame(JSON.parse(stdout), [[entry, '--first', '--seed', '7'], '500'])
})

t.test('without a name the list is printed, with exit code 2', async t => {
  const { status, stdout, stderr } = run(t)
  t.strictSame({ status, stdout }, { status: 2, stdout: '' })
  t.equal(stderr, 'Usage: npm run prove -- NAME [OPTION]...\n\nlong  takes long; 1 hour\n')
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
    t.equal(scripts[name], `node scripts/${name}.ts`)
    const { status, stderr } = spawnSync(process.execPath, [`scripts/${name}.ts`], { encoding: 'utf8' })
    t.equal(status, 2)
    t.match(stderr, `Usage: npm run ${name} -- NAME`)
  })
}
