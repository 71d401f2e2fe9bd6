import t from 'tap'
import { setUpDatabase } from '../../../../src/stores/postgres/schema.ts'
import type { Query } from '../../../../src/stores/postgres/plants.ts'

t.test('a migration that makes another column is refused before its version is written', async t => {
  const settings = {
    encoding: 'UTF8',
    schema: '"public"',
    ambiguous: null,
    elsewhere: null,
    hasCitus: false,
    fsync: 'on',
    commit: 'on',
    readOnly: 'off',
    isStandby: false
  }
  const tables = [[], [{ name: 'id', type: 'int4', kind: 'r', persistence: 'p' }]]
  const sent: string[] = []
  const query = async (text: string) => {
    sent.push(text)
    if (text.startsWith('WITH path')) return [settings]
    return text.startsWith('WITH RECURSIVE tables') ? tables.shift() : []
  }
  await t.rejects(setUpDatabase(query as Query), {
    message: 'migration 1 failed (the column id of its table plants is of the type int4, not int8); ' +
      'drop the columns it made, and correct it in src/stores/postgres/columns.ts'
  })
  t.ok(sent.some(text => text.includes('CREATE TABLE IF NOT EXISTS "public".plants\n')))
  t.notOk(sent.some(text => text.startsWith('UPDATE')))
})
