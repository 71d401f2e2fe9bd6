import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { requestText } from '../../fixtures/raw.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { type Service, startService } from '../../fixtures/service.ts'

async function open (t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Without the coverage of tap, which takes a part of the heap. */
function startSmall (t: Test, env: Record<string, string>): Promise<Service> {
  const command = ['env', '-u', 'NODE_OPTIONS', process.execPath]
  return startService(
    t, t.testdir(), { ...env, ACCESS_TOKENS: testToken }, ['--max-old-space-size=64'], { command }
  )
}

t.test('a small heap survives bodies in pieces of one byte behind unread responses', async t => {
  const { origin, child, ended } = await startSmall(t, { DATABASE_URL: 'memory:' })
  const clients = await Promise.all(
    Array.from({ length: 90 }, () => open(t, Number(new URL(origin).port)))
  )
  const page = requestText('GET /docs/static/swagger-ui-bundle.js', ['Host: x'], '')
  const pieces = '1\r\n \r\n'.repeat(10_000)
  const body = requestText('POST /plants', ['Host: x', 'Transfer-Encoding: chunked'], pieces)
  for (const client of clients) client.pause().write(page + body)
  t.equal((await fetch(`${origin}/livez`)).status, 200)
  for (const client of clients) client.destroy()
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('a small heap survives bodies whose values take twenty times their bytes', async t => {
  const { origin, child, ended } = await startSmall(t, {})
  const clients = await Promise.all(
    Array.from({ length: 100 }, () => open(t, Number(new URL(origin).port)))
  )
  const fields = ['Host: x', `Authorization: Bearer ${testToken}`, 'Content-Type: application/json']
  const bodies = clients.map(
    (_client, id) => `{"id":${id},"name":"x","more":[${'{},'.repeat(21_800)}0]}`
  )
  const statuses = Promise.all(clients.map(async client => {
    const [answer]: Buffer[] = await once(client, 'data') as [Buffer]
    return answer?.toString('latin1', 9, 12)
  }))
  for (const [index, client] of clients.entries()) {
    const body = bodies[index] as string
    client.write(
      requestText('POST /plants', [...fields, `Content-Length: ${body.length}`], body.slice(0, -1))
    )
  }
  await sleep(500)
  for (const client of clients) client.write('}')
  t.strictSame([...new Set(await statuses)].filter(status => status !== '503'), ['200'])
  for (const client of clients) client.destroy()
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

for (const fields of [[], ['Expect: x'], ['Expect: 100-continue, x']]) {
  t.test(`a burst of pipelined requests does not use up a small heap ${fields}`, async t => {
    const { origin, child, ended } = await startSmall(t, { DATABASE_URL: 'memory:' })
    const port = Number(new URL(origin).port)
    const clients = await Promise.all(
      Array.from({ length: fields.length === 0 ? 120 : 40 }, () => open(t, port))
    )
    const text = requestText('GET /x', ['Host: a', ...fields, '', ''])
    const burst = text.repeat(2200).slice(0, 65_000)
    for (const client of clients) client.write(burst)
    t.equal((await fetch(`${origin}/livez`)).status, 200)
    for (const client of clients) client.destroy()
    child.kill('SIGTERM')
    t.equal(await ended, 0)
  })
}
