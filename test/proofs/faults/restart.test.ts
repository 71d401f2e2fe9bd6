// SIGTERM under keep-alive load, with one thread and with two: no request is lost that was sent on
// a connection in use. `npm run prove -- faults` restarts the service 100 times.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openStore } from '../../../src/stores/open.ts'
import { newAccount, settle, smallPlant } from '../../fixtures/load.ts'
import { seededRandom } from '../../fixtures/random.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { startService } from '../../fixtures/service.ts'

const rounds = Math.ceil(Number(process.env.KILL_ROUNDS ?? 25) / 5)
const clients = 32
/**
 * Each client pauses up to this time, so that many connections are idle when the signal arrives.
 */
const longestPauseMs = 20

t.setTimeout(60_000 + rounds * 20_000)

t.test(`${rounds} restarts under keep-alive load lose no request on an open connection`, async t => {
  const folder = t.testdir()
  const url = `sqlite:${join(folder, 'plants.db')}`
  const seed = process.env.SEED ?? String(Date.now() % 1e6)
  t.comment(`SEED=${seed}`)
  const random = seededRandom(seed)
  const account = newAccount()
  const count = { answered: 0, last: 0, lost: 0, refused: 0 }

  async function send (agent: Agent, origin: string): Promise<void> {
    const plant = smallPlant(account.made++)
    account.sent.set(plant.id, plant)
    const headers = { authorization: `Bearer ${testToken}`, 'content-type': 'application/json' }
    const sending = request(`${origin}/plants`, { agent, method: 'POST', headers })
    sending.end(`{"id":${plant.id},"name":"${plant.name}","tag":"${plant.tag}"}`)
    try {
      const [response] = await once(sending, 'response') as [IncomingMessage]
      count.answered++
      if (response.headers.connection === 'close') count.last++
      if (response.statusCode === 200) account.acknowledged.add(plant.id)
      await once(response.resume(), 'end')
    } catch {
      // The service has never answered on a new connection: it may not have accepted it.
      if (sending.reusedSocket) count.lost++
      else count.refused++
    }
  }

  for (let round = 0; round < rounds; round++) {
    const env = { ACCESS_TOKENS: testToken, DATABASE_URL: url, THREADS: String(1 + round % 2) }
    const { child, origin, ended } = await startService(t, folder, env)
    const agent = new Agent({ keepAlive: true })
    const stopped = new AbortController()
    const load = Array.from({ length: clients }, async () => {
      while (!stopped.signal.aborted) {
        await send(agent, origin)
        await sleep(random.below(longestPauseMs))
      }
    })
    await sleep(100 + random.below(200))
    child.kill('SIGTERM')
    t.equal(await ended, 0, `round ${round}: exit code`)
    stopped.abort()
    await Promise.all(load)
    agent.destroy()
  }
  t.comment(JSON.stringify(count))
  t.ok(account.acknowledged.size > 0, 'plants were stored')
  t.equal(count.lost, 0, `none of ${count.answered} requests on open connections is lost`)
  t.ok(count.last >= rounds, 'the last responses say Connection: close')
  const store = await openStore(url, { maxQueue: 1 })
  t.teardown(() => store.close())
  await settle(t, account, store)
})

t.test('requests on connections that the service has not accepted yet at SIGTERM are answered', async t => {
  const env = { ACCESS_TOKENS: testToken, DATABASE_URL: 'memory:' }
  // The service accepts for a second of CPU time.
  const connections = 50
  const { child, origin, ended } = await startService(t, t.testdir(), env)
  // The system accepts connections for a process that is stopped.
  child.kill('SIGSTOP')
  const headers = { authorization: `Bearer ${testToken}`, 'content-type': 'application/json' }
  const sent = Array.from({ length: connections }, async (_, id) => {
    const sending = request(`${origin}/plants`, { method: 'POST', headers, agent: new Agent() })
    const response = once(sending, 'response') as Promise<[IncomingMessage]>
    sending.end(`{"id":${id},"name":"x"}`)
    const [socket] = await once(sending, 'socket') as [Socket]
    await once(socket, 'connect')
    return { status: response.then(([{ statusCode }]) => statusCode, error => error.code) }
  })
  const responses = await Promise.all(sent)
  await sleep(100)
  child.kill('SIGTERM')
  child.kill('SIGCONT')
  const statuses = await Promise.all(responses.map(({ status }) => status))
  const counts = Object.entries(Object.groupBy(statuses, String)).map(([status, all]) => [status, all?.length])
  t.strictSame(counts, [['200', connections]])
  t.equal(await ended, 0)
})
