import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { limitConnections } from '../src/connections.ts'
import { postPlant, startService } from './fixtures/service.ts'

t.test('connections beyond the limit are refused, and the log says so once a minute', async t => {
  t.intercept(process.report, 'getReport', { value: () => ({ userLimits: { open_files: { soft: 2, hard: 2 } } }) })
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const sentences: string[] = []
  limitConnections(server, sentence => sentences.push(sentence))
  const { port } = server.address() as AddressInfo
  const open = () => connect(port, '127.0.0.1').on('error', () => {})
  const first = open()
  t.teardown(() => first.destroy())
  await once(first, 'connect')
  for (let count = 0; count < 3; count++) await once(open(), 'close')
  const rule = '1 are open already, and the process may open 2 files. Raise that limit (ulimit -n) to allow more.'
  t.strictSame(sentences, [`1 connections were refused: ${rule}`])
  const later = performance.now() + 60_000
  t.intercept(performance, 'now', { value: () => later })
  await once(open(), 'close')
  t.equal(sentences[1], `3 connections were refused: ${rule}`)
})

t.test('without a limit of open files there is no limit of connections', t => {
  const report = { userLimits: { open_files: { soft: 'unlimited', hard: 'unlimited' } } }
  t.intercept(process.report, 'getReport', { value: () => report })
  const server = createServer()
  limitConnections(server, t.fail)
  t.equal(server.maxConnections, undefined)
  t.end()
})

t.test('more connections than the process may open files: one line in the log, and plants are stored', async t => {
  const command = ['env', '-u', 'NODE_OPTIONS', 'prlimit', '--nofile=128', process.execPath]
  const env = { ACCESS_TOKENS: 'token' }
  const { origin, child, ended, output } = await startService(t, t.testdir(), env, [], { command })
  const post = async (id: number) => (await postPlant(origin, 'token', `{"id":${id},"name":"x"}`)).status
  t.equal(await post(1), 200)
  const sockets = Array.from({ length: 300 }, () => connect(Number(new URL(origin).port), '127.0.0.1'))
  const closed = sockets.map(socket => once(socket.on('error', () => {}), 'close'))
  await Promise.race(closed)
  await sleep(200)
  t.equal(await post(2), 200, 'an open connection goes on')
  for (const socket of sockets) socket.destroy()
  await sleep(200)
  t.equal(await post(3), 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const refusals = output().match(/\d+ connections were refused: 64 are open already/g)
  t.equal(refusals?.length, 1)
})
