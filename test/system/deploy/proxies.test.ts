// nginx, HAProxy and Caddy with the configurations of deploy/, TLS, and the real service behind
// them.
import { once } from 'node:events'
import { join } from 'node:path'
import { connect, type ConnectionOptions } from 'node:tls'
import t, { type Test } from 'tap'
import { missing } from '../../fixtures/packages.ts'
import {
  type Network, proxies, type Proxy, type Running, startNetwork, startProxy
} from '../../fixtures/proxies.ts'
import { requestText } from '../../fixtures/raw.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { freePort } from '../../fixtures/temporary-postgres.ts'
import { type Service, startService } from '../../fixtures/service.ts'

interface Behind extends Running { service: Service, network: Network }

/** The service behind the proxy, and the connections between them. */
async function startBehind (
  t: Test, proxy: Proxy, env: Record<string, string> = {}, idleSeconds?: number
): Promise<Behind> {
  const settings = { ACCESS_TOKENS: testToken, TRUST_PROXY: '127.0.0.1', ...env }
  const folder = t.testdir({ service: {}, proxy: {} })
  const service = await startService(t, join(folder, 'service'), settings)
  const network = await startNetwork(t, service.origin)
  return { service, network, ...await startProxy(t, join(folder, 'proxy'), proxy, network.address, idleSeconds) }
}

const headers = { authorization: `Bearer ${testToken}`, 'content-type': 'application/json' }
const plant = (id: number) => JSON.stringify({ id, name: `plant ${id}` })

for (const proxy of proxies) {
  const reason = missing(proxy.program) || missing('openssl')
  t.test(`${proxy.program} is installed, or is not tested`, async t => {
    if (reason !== false) t.comment(`not tested: ${reason}`)
  })
  if (reason !== false) continue

  t.test(`${proxy.program} passes plants on over TLS`, async t => {
    const { send, network } = await startBehind(t, proxy)
    const responses = []
    for (let id = 0; id < 100; id++) responses.push(await send({ headers, body: plant(id) }))
    t.strictSame(responses, responses.map((_, id) => answer(id)))
    t.equal(network.connections.length, proxy.keepsConnections ? 1 : 100)
  })

  if (proxy.keepsConnections) {
    t.test(`${proxy.program} closes an idle connection before the service does`, async t => {
      // In the order of the real 60 and 72 seconds. A request that met the end of its connection
      // could be lost.
      const { send, network } = await startBehind(t, proxy, { KEEP_ALIVE_TIMEOUT: '4' }, 1)
      t.strictSame(await send({ headers, body: plant(1) }), answer(1))
      t.equal(await network.connections[0]?.closedBy, 'proxy')
    })
  }

  t.test(`errors of the service reach a caller of ${proxy.program} unchanged`, async t => {
    const { send } = await startBehind(t, proxy)
    const large = JSON.stringify({ id: 1, name: 'x'.repeat(100_000) })
    for (const [body, status] of [[large, 413], ['{"id":"1"}', 400]] as const) {
      const response = await send({ headers, body })
      t.match([response.status, JSON.parse(response.body)], [status, { error: status, message: String }])
    }
  })

  t.test(`the caller's address behind ${proxy.program} counts, and not one that it claims`, async t => {
    const { send, newAgent } = await startBehind(t, proxy, { FAILED_AUTH_LIMIT: '3' })
    const callers = ['127.0.0.2', '127.0.0.3'].map(newAgent)
    t.teardown(() => callers.forEach(agent => agent.destroy()))
    for (const agent of callers) {
      const statuses = []
      for (let nth = 0; nth < 5; nth++) {
        const { status } = await send({ agent, headers: { 'x-forwarded-for': `10.0.0.${nth}` }, body: plant(1) })
        statuses.push(status)
      }
      t.strictSame(statuses, [401, 401, 401, 429, 429])
    }
    const [stranger] = callers
    t.equal((await send({ agent: stranger as (typeof callers)[0], headers, body: plant(1) })).status, 200)
  })

  t.test(`${proxy.program} needs no rule for the prefix of BASE_URL`, async t => {
    const { send } = await startBehind(t, proxy, { BASE_URL: 'https://plants.example.com/api/v1' })
    t.strictSame(await send({ path: '/api/v1/plants', headers, body: plant(1) }), answer(1))
    t.equal((await send({ headers, body: plant(1) })).status, 404)
  })

  t.test(`without the service ${proxy.program} answers 503 in the form of the service's errors`, async t => {
    const { send, service, network } = await startBehind(t, proxy)
    network.refuse()
    service.child.kill('SIGTERM')
    t.equal(await service.ended, 0)
    const { status, body } = await send({ headers, body: plant(1) })
    t.match([status, JSON.parse(body)], [503, { error: 503, message: /retry is safe/ }])
  })

  if (proxy.program === 'haproxy') {
    t.test('a request for a service that has crashed goes to the other one', async t => {
      const crashed = `server crashed 127.0.0.1:${await freePort()} check inter 1h fall 2`
      const configure: Proxy['configure'] = (config, setting) => {
        return proxy.configure(config.replace(/^ *server one .*$/m, `$&\n  ${crashed}`), setting)
      }
      const { send } = await startBehind(t, { ...proxy, configure })
      for (const id of [1, 2, 3, 4]) t.strictSame(await send({ headers, body: plant(id) }), answer(id))
    })
  }

  if (proxy.program === 'caddy') {
    t.test('a fault of the request that Caddy itself finds keeps its status', async t => {
      const configure: Proxy['configure'] = (config, setting) => {
        return proxy.configure(config.replace('reverse_proxy', 'error /large 413\n reverse_proxy'), setting)
      }
      const { send } = await startBehind(t, { ...proxy, configure })
      const { status, body } = await send({ path: '/large' })
      t.match([status, JSON.parse(body)], [413, { error: 413, message: String }])
    })

    t.test('a malformed chunk is 400, and Caddy does not send its request again', async t => {
      const { newAgent, network } = await startBehind(t, proxy)
      const opened = network.opened()
      for (const target of ['GET /livez', 'POST /plants']) {
        const socket = connect(newAgent().options as ConnectionOptions).setEncoding('latin1')
        const fields = ['Host: plants.example.com', 'Transfer-Encoding: chunked']
        socket.write(requestText(target, fields, 'zz\r\n'))
        const [answer] = await once(socket, 'data')
        t.match(answer, /^HTTP\/1\.1 400 [^]*\{"error":400,"message":"A chunk [^"]+"\}$/, target)
        socket.destroy()
      }
      t.ok(network.opened() <= opened + 2, `${network.opened() - opened} connections`)
    })
  }
}

function answer (id: number): { status: number, body: string } {
  return { status: 200, body: JSON.stringify({ name: `plant ${id}` }) }
}
