// nginx, HAProxy and Caddy with the configurations of deploy/, TLS, and the real service behind
// them.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type Server } from 'node:http'
import type { Agent } from 'node:https'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
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
    t.match(network.connections[0]?.request, /^x-request-id: [\da-f-]{32,36}\r$/im)
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

  t.test(`${proxy.program} ends a request that stalls, and keeps an idle connection`, async t => {
    const times = /(client_(?:header|body)_timeout|timeout http-request|read_(?:header|body)) 1[02]s/g
    t.ok(times.test(readFileSync(proxy.file, 'utf8')))
    const configure: Proxy['configure'] = (config, setting) => {
      return proxy.configure(config.replace(times, '$1 300ms'), setting)
    }
    const { newAgent } = await startBehind(t, { ...proxy, configure })
    const open = () => connect(newAgent().options as ConnectionOptions).on('error', () => {})
    const stalled = open()
    stalled.write('GET /livez HTTP/1.1\r\n')
    t.notMatch(Buffer.concat(await stalled.toArray()).toString(), '200')
    const idle = open()
    const received = idle.toArray()
    for (const field of ['Connection: keep-alive', 'Connection: close']) {
      idle.write(requestText('GET /livez', ['Host: plants.example.com', field]))
      await setTimeout(1000)
    }
    t.equal(Buffer.concat(await received).toString().match(/HTTP\/1\.1 200 /g)?.length, 2)
    const session = openHttp2(t, newAgent())
    for (let nth = 0; nth < 2; nth++) {
      const [fields] = await once(session.request({ ':path': '/livez' }).resume(), 'response')
      t.equal(fields[':status'], 200)
      await setTimeout(1000)
    }
  })

  t.test(`errors of the service reach a caller of ${proxy.program} unchanged`, async t => {
    const { send, newAgent } = await startBehind(t, proxy)
    const large = JSON.stringify({ id: 1, name: 'x'.repeat(100_000) })
    for (const [body, status] of [[large, 413], ['{"id":"1"}', 400]] as const) {
      const response = await send({ headers, body })
      t.match([response.status, JSON.parse(response.body)], [status, { error: status, message: String }])
    }
    const fields = { 'x-large': 'x'.repeat(20_000) }
    t.match(await send({ headers: fields }), { status: 431, body: /larger than 16384 bytes/ })
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, nth) => [`x-field-${nth}`, '']))
    t.match(await send({ headers: many }), { status: 431, body: /more than 100 header fields/ })
    const session = openHttp2(t, newAgent())
    for (const tooMuch of [fields, many]) {
      const [received] = await once(session.request(tooMuch), 'response')
      t.equal(received[':status'], 431)
    }
  })

  t.test(`${proxy.program} passes a plant on for any host that its request names`, async t => {
    const { send } = await startBehind(t, proxy)
    t.strictSame(await send({ headers: { ...headers, host: '127.0.0.1' }, body: plant(1) }), answer(1))
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
    const { newAgent, service, network } = await startBehind(t, proxy)
    network.refuse()
    service.child.kill('SIGTERM')
    t.equal(await service.ended, 0)
    const ids = ['mine', 'not "well-formed"']
    const [kept, replaced] = await Promise.all(ids.map(id => {
      return exchange(newAgent(), 'GET /livez', [`X-Request-Id: ${id}`])
    }))
    t.match(kept, errorText(503, 'mine'))
    t.match(replaced, errorText(503))
    t.match(kept, /^retry-after: 1\r$/im)
  })

  if (proxy.program === 'nginx') {
    t.test('what nginx refuses itself has the form of the service\'s errors', async t => {
      const { newAgent } = await startBehind(t, proxy)
      const long = 'x'.repeat(70_000)
      for (const [status, target, ...fields] of [
        [400, 'GET /%'],
        [404, 'GET /plant-store-error'],
        [405, 'TRACE /plants'],
        [413, 'POST /plants', 'Content-Length: 2000000'],
        [414, `GET /${long}`],
        [431, 'GET /plants', `X-Large: ${long}`],
        [501, 'POST /plants', 'Transfer-Encoding: gzip, chunked']
      ] as const) {
        t.match(await exchange(newAgent(), target, fields), errorText(status), String(status))
      }
      const session = openHttp2(t, newAgent())
      const length = 2_000_000
      const fields = { ':path': '/plants', ':method': 'POST', 'content-length': length }
      const request = session.request(fields).on('error', () => {})
      const chunks = request.end(Buffer.alloc(length)).toArray()
      const [received] = await once(request, 'response')
      t.equal(received[':status'], 413)
      t.match(JSON.parse(Buffer.concat(await chunks).toString()), { error: 413, message: String })
    })

    t.test('nginx refuses no request of one connection of HTTP/2', async t => {
      const { newAgent } = await startBehind(t, proxy)
      const session = openHttp2(t, newAgent())
      await once(session, 'remoteSettings')
      const fields = { ...headers, ':path': '/plants', ':method': 'POST' }
      const statuses = await Promise.all(Array.from({ length: 300 }, async (_, id) => {
        const request = session.request(fields).end(plant(id))
        const [received] = await once(request, 'response')
        request.resume()
        return received[':status']
      }))
      t.strictSame([...new Set(statuses)], [200])
    })

    t.test('nginx keeps a connection of HTTP/2 beyond 1,000 requests', async t => {
      const { newAgent } = await startBehind(t, proxy)
      const session = openHttp2(t, newAgent())
      // nginx answers these itself.
      for (let nth = 0; nth < 1001 && !session.closed; nth++) {
        await once(session.request({ ':path': '/plant-store-error' }).resume(), 'close')
      }
      t.notOk(session.closed)
    })
  }

  if (proxy.program === 'haproxy') {
    t.test('what HAProxy answers for the service has the form of its errors', async t => {
      const statuses = [500, 502, 504]
      const denials = statuses.map(status => {
        return `http-request deny deny_status ${status} if { path /${status} }\n`
      })
      const configure: Proxy['configure'] = (config, setting) => {
        const text = config.replace('default_backend', `${denials.join('')} $&`)
        return proxy.configure(text.replace('wait-for-body time 10s', 'wait-for-body time 100ms'), setting)
      }
      const { newAgent } = await startBehind(t, { ...proxy, configure })
      const late = await exchange(newAgent(), 'POST /plants', ['X-Request-Id: mine', 'Content-Length: 9'], '{')
      t.match(late, errorText(408, 'mine'))
      for (const status of statuses) {
        t.match(await exchange(newAgent(), `GET /${status}`), errorText(status), String(status))
      }
    })

    t.test('a request for a service that has crashed goes to the other one', async t => {
      const crashed = `server crashed 127.0.0.1:${await freePort()} check inter 1h fall 2`
      const configure: Proxy['configure'] = (config, setting) => {
        return proxy.configure(config.replace(/^ *server one .*$/m, `$&\n  ${crashed}`), setting)
      }
      const { send } = await startBehind(t, { ...proxy, configure })
      for (const id of [1, 2, 3, 4]) t.strictSame(await send({ headers, body: plant(id) }), answer(id))
    })

    t.test('a request goes to the other service if one crashes before the body has arrived', async t => {
      let crashes = 0
      const crashing = createServer(socket => {
        socket.on('error', () => {}).once('data', () => {
          crashes++
          socket.resetAndDestroy()
        })
      }).listen(0, '127.0.0.1')
      t.teardown(() => crashing.close())
      await once(crashing, 'listening')
      const other = `server other 127.0.0.1:${(crashing.address() as AddressInfo).port}`
      const configure: Proxy['configure'] = (config, setting) => {
        return proxy.configure(config.replace(/^ *server one .*$/m, `$&\n  ${other}`), setting)
      }
      const { newAgent } = await startBehind(t, { ...proxy, configure })
      for (const id of [1, 2, 3, 4]) {
        const body = plant(id)
        const fields = Object.entries({ ...headers, 'content-length': body.length })
        const socket = connect(newAgent().options as ConnectionOptions)
        const lines = ['Host: plants.example.com', 'Connection: close', ...fields.map(field => field.join(': '))]
        socket.write(requestText('POST /plants', lines))
        await setTimeout(50)
        const received = socket.toArray()
        socket.write(body)
        t.match(Buffer.concat(await received).toString(), /^HTTP\/1\.1 200 /)
      }
      t.ok(crashes > 0)
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

    t.test('a plant that Caddy cannot send to one service is not sent to the other without its body', async t => {
      const requests: string[] = []
      const checks: Server[] = []
      const start = async (): Promise<Server> => {
        const server = createHttpServer((request, response) => {
          let body = ''
          if (request.url === '/readyz') checks.push(server)
          request.on('data', data => { body += data }).on('close', () => {
            if (request.method === 'POST') requests.push(body)
          })
          request.on('end', () => response.end('{}'))
        }).listen(0, '127.0.0.1')
        t.teardown(() => server.close())
        await once(server, 'listening')
        return server
      }
      const [crashing, other] = await Promise.all([start(), start()])
      const [first, second] = [crashing, other].map(server => {
        return `127.0.0.1:${(server.address() as AddressInfo).port}`
      })
      const two = '127.0.0.1:3000 127.0.0.1:3001 {\nfail_duration 1m'
      const configure: Proxy['configure'] = (config, setting) => {
        const text = config.replace('127.0.0.1:3000 {', two).replaceAll('127.0.0.1:3001', String(second))
        return proxy.configure(text, setting)
      }
      const { send } = await startProxy(t, t.testdir(), { ...proxy, configure }, String(first))
      while (checks.length < 2) await setTimeout(10)
      crashing.closeAllConnections()
      crashing.close()
      const statuses = []
      for (let id = 0; id < 20; id++) statuses.push((await send({ headers, body: plant(id) })).status)
      const failed = statuses.indexOf(503)
      t.ok(failed >= 0, 'a plant met the one that crashed')
      const answered = statuses.flatMap((_, id) => id === failed ? [] : [plant(id)])
      t.strictSame(requests, answered, 'all others arrive whole')
    })

    t.test('a malformed chunk or trailer is 400, and Caddy does not send its request again', async t => {
      const { newAgent, network } = await startBehind(t, proxy)
      const opened = network.opened()
      for (const target of ['GET /livez', 'POST /plants']) {
        for (const body of ['zz\r\n', '0\r\nX T\r\n\r\n']) {
          const answer = await exchange(newAgent(), target, ['Transfer-Encoding: chunked'], body)
          t.match(answer, errorText(400), `${target} ${body}`)
          t.match(answer, 'A chunk ')
        }
      }
      t.ok(network.opened() <= opened + 4, `${network.opened() - opened} connections`)
    })
  }
}

function answer (id: number): { status: number, body: string } {
  return { status: 200, body: JSON.stringify({ name: `plant ${id}` }) }
}

/** Sends a request that no correct client sends, and returns the response as text. */
async function exchange (
  agent: Agent, target: string, fields: readonly string[] = [], body = ''
): Promise<string> {
  const socket = connect(agent.options as ConnectionOptions).setEncoding('latin1')
  const all = ['Host: plants.example.com', 'Connection: close', ...fields]
  socket.write(requestText(target, all, body))
  let received = ''
  for await (const text of socket) {
    received += text
    // nginx may end the connection 5 seconds later.
    if (received.endsWith('}')) break
  }
  return received
}

/** An error of the proxy, with the id of the request or a new one. */
function errorText (status: number, id = '[\\da-f-]{32,36}'): RegExp {
  const fields = `(?=[^]*\r\nx-request-id: ${id}\r\n)(?=[^]*\r\ncontent-type: application/json\r\n)`
  const body = `\\{"error":${status},"message":"[^"]+\\."\\}`
  return new RegExp(`^HTTP/1\\.1 ${status} ${fields}[^]*\r\n\r\n${body}$`, 'i')
}

function openHttp2 (t: Test, agent: Agent): ClientHttp2Session {
  const options = { ...agent.options, ALPNProtocols: ['h2'] } as ConnectionOptions
  const createConnection = () => connect(options)
  const session = connectHttp2('https://plants.example.com', { createConnection })
    .on('error', () => {})
  t.teardown(() => session.destroy())
  return session
}
