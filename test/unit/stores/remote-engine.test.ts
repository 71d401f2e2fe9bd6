import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { systemClock } from '../../../src/stores/clock.ts'
import { openEngine } from '../../../src/stores/open.ts'
import { createConnector, remoteEngine } from '../../../src/stores/remote-engine.ts'

t.test('an engine that cannot share itself is shared by messages', async t => {
  const engine = await openEngine('memory:', () => {})
  const share = createConnector(engine)
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
  const remote = remoteEngine(createConnector(failing))
  await t.rejects(remote.addMany([{ id: 1n, name: 'fern' }]), { message: 'the disk is full' })
  t.equal(await remote.count(), 0)
  await remote.close()
})

t.test('plants that wait for a batch that fails get its error before their thread refuses them', async t => {
  const timers: Array<() => void> = []
  const setTimer = (run: () => void) => {
    timers.push(run)
    return () => { timers.splice(0) }
  }
  let now = 0
  const engine = await openEngine('memory:', () => {})
  const batches: Array<(error: Error) => void> = []
  const addMany = () => new Promise<never>((_resolve, reject) => { batches.push(reject) })
  const clock = { ...systemClock, now: () => now, setTimer }
  const connect = createConnector({ ...engine, addMany }, clock)
  const [first, second] = [remoteEngine(connect), remoteEngine(connect)]
  const waitForBatch = async (count: number) => { while (batches.length < count) await sleep(1) }
  const failed = t.rejects(first.addMany([{ id: 1n, name: 'fern' }]), { message: 'no disk' })
  await waitForBatch(1)
  const late = t.rejects(second.addMany([{ id: 2n, name: 'ivy' }]), { message: 'no disk' })
  // The call of the second thread has arrived when a later one of it has its reply.
  await second.count()
  batches[0]?.(new Error('no disk'))
  await failed
  await waitForBatch(2)
  now = 8300
  for (const look of timers.splice(0)) look()
  await late
  const third = remoteEngine(createConnector({ ...engine, addMany }, clock))
  const silent = t.rejects(third.addMany([{ id: 3n, name: 'oak' }]), {
    message: 'the store did not confirm the plant within 8300 ms; see whether its disk or its server responds, or a process locks its file'
  }, 'without a batch that has failed')
  await waitForBatch(3)
  now = 16_600
  for (const look of timers.splice(0)) look()
  await silent
  for (const fail of batches) fail(new Error('no disk'))
  for (const remote of [first, second, third]) await remote.close()
})

t.test('a call of an unknown method gets an error, and the engine stays open', async t => {
  for (const url of ['memory:', `sqlite:${join(t.testdir(), 'plants.db')}`]) {
    const connect = createConnector(await openEngine(url, () => {}))
    const { port1: port, port2: theirs } = new MessageChannel()
    connect(theirs)
    port.postMessage({ id: 1, method: 'no such method', args: [1n] })
    const [{ id, error }] = await once(port, 'message')
    t.strictSame([id, error.message], [1, 'The engine has no method "no such method".'], url)
    port.close()
    const remote = remoteEngine(connect)
    t.strictSame(await remote.addMany([{ id: 1n, name: 'fern' }]), ['added'], url)
    await remote.close()
  }
})
