import { existsSync, globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { benches } from '../../../scripts/bench.ts'
import { proofs } from '../../../scripts/prove.ts'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const files = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*/*.md')]
const texts = files.map(file => readFileSync(file, 'utf8')).join('\n')

/** The names that follow a command in the texts. */
function namesAfter (command: string): Set<string> {
  const names = new Set<string>()
  for (const [, name = ''] of texts.matchAll(new RegExp(`${command} ([a-z][a-z:-]*)`, 'g'))) {
    names.add(name)
  }
  return names
}

t.test('README, CONTRIBUTING and docs/ name every npm script, and no other', async t => {
  const named = namesAfter('npm run(?: --silent)?')
  for (const short of ['start', 'test']) if (texts.includes(`npm ${short}`)) named.add(short)
  // The texts need not name prepack, because npm pack runs it.
  named.add('prepack')
  t.strictSame(named, new Set(Object.keys(scripts)))
  t.ok(Object.keys(scripts).length <= 15)
})

for (const [command, menu] of [['bench', benches], ['prove', proofs]] as const) {
  t.test(`the texts name every entry of npm run ${command}, and no other`, async t => {
    t.strictSame(namesAfter(`npm run ${command} --`), new Set(Object.keys(menu)))
  })

  t.test(`each entry of npm run ${command} has a file and a line with its time`, async t => {
    for (const [name, { file, shows }] of Object.entries(menu)) {
      t.ok(existsSync(file), `${name}: ${file}`)
      t.match(shows, /^[^\n]{10,80}; [^\n]*(?:seconds|minutes?|hour)/, name)
    }
  })
}

t.test('each bench is in the list', async t => {
  const opening = /^\/\/ npm run bench -- ([a-z-]+):/
  const written: string[] = []
  for (const file of globSync('scripts/bench/*.ts')) {
    const [, name] = opening.exec(readFileSync(file, 'utf8')) ?? []
    if (name !== undefined) written.push(name)
  }
  t.strictSame(new Set(written), new Set(Object.keys(benches)))
})
