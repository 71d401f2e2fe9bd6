import t from 'tap'
import { openStore } from '../../src/stores/open.ts'

t.test('a URL of an unknown scheme opens nothing', async t => {
  await t.rejects(openStore('mysql://localhost/plants', { maxQueue: 1 }), { message: 'There is no store for mysql:' })
  await t.rejects(openStore('plants.db', { maxQueue: 1 }), { message: 'There is no store for :' })
})
