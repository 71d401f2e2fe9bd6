import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { requestText } from '../../fixtures/raw.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService } from '../../fixtures/service.ts'

t.test('unread responses leave a file descriptor to read the emptied file of tokens', async t => {
  const command = ['env', '-u', 'NODE_OPTIONS', 'prlimit', '--nofile=256', process.execPath]
  const folder = t.testdir({ tokens: `${testToken}\n` })
  const file = join(folder, 'tokens')
  const env = { ACCESS_TOKENS_FILE: file, MAX_CONNECTIONS: '300', THREADS: '2' }
  const { origin, output } = await startService(t, folder, env, [], { command })
  t.match(output(), 'MAX_CONNECTIONS is lowered to 88: the process may open 256 files (ulimit -n)')
  const post = async () => (await postPlant(origin, testToken, '{"id":1,"name":"x"}')).status
  t.equal(await post(), 200)
  for (let count = 0; count < 190; count++) {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {}).pause()
    t.teardown(() => socket.destroy())
    socket.write(
      requestText('GET /docs/static/swagger-ui-bundle.js', ['Host: x', '', '']).repeat(4)
    )
  }
  await sleep(1000)
  t.equal(await post(), 200, 'the first connection goes on')
  writeFileSync(file, '')
  await sleep(2500)
  t.equal(await post(), 401)
})

t.test('more connections than open files: the log counts them, and plants are stored', async t => {
  const command = ['env', '-u', 'NODE_OPTIONS', 'prlimit', '--nofile=128', process.execPath]
  const env = { ACCESS_TOKENS: testToken }
  const { origin, child, ended, output } = await startService(t, t.testdir(), env, [], { command })
  const post = async (id: number) => {
    return (await postPlant(origin, testToken, `{"id":${id},"name":"x"}`)).status
  }
  t.equal(await post(1), 200)
  const sockets = Array.from(
    { length: 300 }, () => connect(Number(new URL(origin).port), '127.0.0.1')
  )
  const closed = sockets.map(socket => once(socket.on('error', () => {}), 'close'))
  await Promise.race(closed)
  await sleep(200)
  t.equal(await post(2), 200, 'an open connection goes on')
  for (const socket of sockets) socket.destroy()
  await sleep(200)
  t.equal(await post(3), 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const refusals = output().matchAll(
    /Connections refused: (\d+)\. 32 are open already; the process may open 128 files/g
  )
  const [first, rest, ...more] = Array.from(refusals, ([, count]) => Number(count))
  t.equal(first, 1)
  t.ok(Number(rest) >= 300 - 32 && Number(rest) < 300, `the end has the count of the rest: ${rest}`)
  t.strictSame(more, [])
})
