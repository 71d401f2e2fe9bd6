// docs/build/add-a-member.md, followed step by step in a copy of the project.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { openGuide } from '../../fixtures/guide.ts'
import { sqlite as version1 } from '../../fixtures/version-1.ts'

/** Stores plants in a database that was made before the member, and opens one without its table. */
const program = `import { openStore } from './src/stores/open.ts'
const store = await openStore('sqlite:plants.db', { maxQueue: 9 })
const fern = { id: 2n, name: 'fern', heightCm: 2 ** 31 - 1 }
const plants = [fern, fern, { ...fern, heightCm: 1 }, { id: 2n, name: 'fern' }]
for (const plant of plants) console.log(await store.add(plant))
console.log(await store.page(1n, 3))
await store.close()
await openStore('sqlite:removed.db', { maxQueue: 9 }).catch(({ message }) => console.log(message))
`

const printed = `added
unchanged
conflict
conflict
[
  { id: 1n, name: 'oak' },
  { id: 2n, name: 'fern', heightCm: 2147483647 }
]
The database removed.db cannot be used: its table plants is gone; restore the file from a backup.
`

/** Migrates a database by a migration that forgets the column, and again after its correction. */
const correctedProgram = `import { readFileSync, writeFileSync } from 'node:fs'
import { openStore } from './src/stores/open.ts'
import { version } from './src/stores/sqlite/schema.ts'
const file = 'src/stores/sqlite/schema.ts'
const right = readFileSync(file, 'utf8')
const other = { [version]: 'ALTER TABLE plants ADD COLUMN other INTEGER' }
const line = 'Object.assign(migrations, ' + JSON.stringify(other) + ')\\n'
writeFileSync(file, right.replace('export const version', line + '$&'))
await openStore('sqlite:old.db', { maxQueue: 9 }).catch(({ message }) => {
  console.log(message.replace('migration ' + version, 'the newest migration'))
})
writeFileSync(file, right)
const store = await openStore('sqlite:old.db', { maxQueue: 9 })
console.log(await store.add({ id: 1n, name: 'oak', heightCm: 1 }))
await store.close()
`

const corrected = `The database old.db cannot be used: the newest migration of \
src/stores/sqlite/schema.ts failed (no such column: "heightCm" - should this be a string literal in \
single-quotes?); correct it, or name another file.
added
`

/** Of these files only the tests that depend on members, columns and versions: others take long. */
const filter = 'TAP_TIMEOUT=300\nTAP_GREP=/1,500 words|version 1|newer|application id|table that|conflict/'
const filtered = ['test/unit/docs.test.ts', 'test/unit/stores/sqlite/engine.test.ts']

/** What else depends on them. A few random cases meet the member. */
const dependents = [
  ['test/proofs/simulation/run.ts', '--schedules', '20'],
  ['test/proofs/fuzz/run.ts', '--cases', '300'],
  ['test/unit/stores/postgres/plants.test.ts'],
  ['test/system/stores/citus.test.ts'],
  ...filtered.map(file => ['--env-file=filter.env', file])
]

t.setTimeout(400_000)
t.test('the guide changes what the compiler reports, and the store keeps the member', async t => {
  const parts = ['src', 'scripts', 'generated', 'test', 'docs', 'openapi.yaml', 'package.json']
  const guide = openGuide(t, 'docs/build/add-a-member.md', parts)
  const [contract, ...others] = guide.blocks('diff')
  if (contract !== undefined) guide.apply(contract)
  t.match(await guide.run('scripts/generate.ts'), { code: 0 })
  const sources = { include: ['src'], exclude: ['src/contract'] }
  const errors = await guide.compile(sources)
  const files = others.map(({ file }) => file)
  const reported = new Set(errors.map(error => error.split('(', 1)[0]))
  t.strictSame([...reported].sort(), files.filter(file => file.startsWith('src/')).sort(), { errors })
  t.strictSame(errors.filter(error => !error.includes('heightCm')), [], 'each names the member')

  others.forEach(guide.apply)
  t.strictSame(await guide.compile(sources), [])
  const database = new DatabaseSync(join(guide.folder, 'plants.db'))
  database.exec(version1.create)
  database.prepare(version1.insert).run(1, 'oak', null)
  database.close()
  const old = new DatabaseSync(join(guide.folder, 'old.db'))
  old.exec(version1.create)
  old.close()
  const removed = new DatabaseSync(join(guide.folder, 'removed.db'))
  removed.exec(`${version1.create}; DROP TABLE plants`)
  removed.close()
  writeFileSync(join(guide.folder, 'program.ts'), program)
  writeFileSync(join(guide.folder, 'corrected.ts'), correctedProgram)
  t.strictSame(await guide.run('program.ts'), { code: 0, output: printed })
  t.strictSame(await guide.run('corrected.ts'), { code: 0, output: corrected })
  writeFileSync(join(guide.folder, 'filter.env'), filter)
  for (const command of dependents) {
    const { code, output } = await guide.run(...command)
    t.equal(code, 0, command.join(' '), { output })
  }
})
