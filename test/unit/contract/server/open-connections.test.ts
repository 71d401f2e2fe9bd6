import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { limitConnections } from '../../../../src/contract/server/open-connections.ts'

t.test('connections beyond the limit of all threads are closed, and each is reported', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const counts = { connections: Int32Array.of(0, 3), thread: 0 }
  let refused = 0
  limitConnections(server, 4, counts, () => { refused++ })
  const { port } = server.address() as AddressInfo
  const open = () => connect(port, '127.0.0.1').on('error', () => {})
  const first = open()
  t.teardown(() => first.destroy())
  await once(first, 'connect')
  for (let count = 0; count < 3; count++) await once(open(), 'close')
  t.equal(refused, 3)
  t.strictSame([...counts.connections], [1, 3])
  counts.connections[1] = 2
  const second = open()
  t.teardown(() => second.destroy())
  await once(second, 'connect')
  await once(open(), 'close')
  t.equal(refused, 4, 'another thread has one connection less')
  first.destroy()
  while (counts.connections[0] === 2) await setImmediate()
  // After this thread has found a place, another one takes it.
  server.prependOnceListener('connection', () => { counts.connections[1] = 3 })
  await once(open(), 'close')
  t.equal(refused, 5)
  t.strictSame([...counts.connections], [1, 3])
})
