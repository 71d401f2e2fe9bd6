import t from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { plantStoreSuite } from '../../fixtures/plant-store-suite.ts'

plantStoreSuite(t, async t => {
  const store = await openStore('memory:', { maxQueue: 10_000 })
  t.teardown(() => store.close())
  return store
})
