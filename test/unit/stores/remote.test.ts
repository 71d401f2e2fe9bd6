import t from 'tap'
import { openEngine } from '../../../src/stores/open.ts'
import { remoteEngine, sharing } from '../../../src/stores/remote.ts'

t.test('an engine that cannot share itself is shared by messages', async t => {
  const engine = await openEngine('memory:', () => {})
  const share = sharing(engine)
  const [first, second] = [remoteEngine(share), remoteEngine(share)]
  const fern = { id: 1n, name: 'fern' }
  t.strictSame(await first.addMany([fern]), ['added'])
  t.strictSame(await second.addMany([fern, { id: 1n, name: 'ivy' }]), ['unchanged', 'conflict'])
  t.strictSame(await second.page(0n, 10), [fern])
  t.equal(await first.count(), 1)
  await first.check()
  await first.close()
  await second.close()
})

t.test('the error of a shared engine reaches its callers', async t => {
  const engine = await openEngine('memory:', () => {})
  const failing = { ...engine, addMany: () => Promise.reject(new Error('the disk is full')) }
  const remote = remoteEngine(sharing(failing))
  await t.rejects(remote.addMany([{ id: 1n, name: 'fern' }]), { message: 'the disk is full' })
  t.equal(await remote.count(), 0)
  await remote.close()
})
