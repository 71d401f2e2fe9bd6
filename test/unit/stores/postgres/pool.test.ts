import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openPool } from '../../../../src/stores/postgres/pool.ts'

t.test('a connection that fails ends no other one', async t => {
  const open = new Set<Socket>()
  const silent = createServer(socket => open.add(socket)).listen(0, '127.0.0.1')
  t.teardown(() => {
    silent.close()
    for (const socket of open) socket.destroy()
  })
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const pool = openPool([`postgres://test@127.0.0.1:${port}/test`], () => 0)
  const first = t.rejects(pool.connect(), { message: /connection timeout/ })
  await sleep(300)
  await Promise.all([first, t.rejects(pool.connect(), { message: /connection timeout/ })])
  await pool.end()
})
