// The programs of COMING-FROM.md answer the same requests alike, and the README says where not.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { type Answer, names, type Peer, startPeers } from '../../fixtures/peers.ts'

const order = '{"id":1,"item":"fern","count":2}'
t.capture(console, 'error', () => {})
t.capture(console, 'warn', () => {})

t.test('each program answers ordinary requests alike', async t => {
  const peers = await startPeers(t)
  t.strictSame([...peers.keys()], names)
  for (const [name, { send }] of peers) {
    t.match(await send('POST', '/orders', order), { status: 201, text: order }, name)
    t.match(await send('GET', '/orders/1'), { status: 200, text: order }, name)
    t.match(await send('GET', '/orders/2'), { status: 404, text: '{"status":404,"message":"No order 2."}' }, name)
    const refusals: Array<[status: number, answer: Answer]> = [
      [400, await send('GET', '/orders/x')],
      [400, await send('POST', '/orders', '{"id":1,"item":"","count":0}')],
      [401, await send('POST', '/orders', order, { 'X-Key': 'wrong' })]
    ]
    for (const [status, answer] of refusals) {
      t.equal(answer.status, status, name)
      t.ok(hasShape(answer), name, { answer })
    }
  }
})

/** Whether an error is one of the contract. */
function hasShape ({ status, text }: Answer): boolean {
  try {
    const body = JSON.parse(text)
    return body.status === status && typeof body.message === 'string'
  } catch {
    return false
  }
}

function errorIn (answer: Answer): string {
  return `${answer.status}${hasShape(answer) ? '' : ', another shape'}`
}

/** What a program does, in the words of the README's table. */
const rows: Record<string, (peer: Peer) => Promise<string>> = {
  async 'an int64 of 9007199254740993' ({ send }) {
    const { text } = await send('POST', '/orders', '{"id":9007199254740993,"item":"fern"}')
    return text.includes('9007199254740993') ? 'exact' : 'rounded'
  },
  async '"2" in JSON for an integer' ({ send }) {
    const { status } = await send('POST', '/orders', '{"id":3,"item":"fern","count":"2"}')
    return status === 201 ? 'taken for 2' : String(status)
  },
  async 'an answer without a required member' ({ orders, send }) {
    for (const id of [7, 7n]) orders.set(id, { id, count: 1 })
    return (await send('GET', '/orders/7')).status === 200 ? 'sent' : '500'
  },
  async 'an answer with a text for an integer' ({ orders, send }) {
    for (const id of [8, 8n]) orders.set(id, { id, item: 'fern', count: '2' })
    const { status, text } = await send('GET', '/orders/8')
    if (status !== 200) return '500'
    return text.includes('"2"') ? 'sent' : 'converted'
  },
  async 'an answer with a number below its minimum' ({ orders, send }) {
    for (const id of [6, 6n]) orders.set(id, { id, item: 'fern', count: 0 })
    return (await send('GET', '/orders/6')).status === 200 ? 'sent' : '500'
  },
  async 'a member of an answer that is not declared' ({ orders, send }) {
    for (const id of [9, 9n]) orders.set(id, { id, item: 'fern', secret: 'x' })
    const { text } = await send('GET', '/orders/9')
    return text.includes('secret') ? 'sent' : 'left out'
  },
  'malformed JSON': async ({ send }) => errorIn(await send('POST', '/orders', '{')),
  'an unknown path': async ({ send }) => errorIn(await send('GET', '/nothing')),
  async 'a method that a path lacks' ({ send }) {
    const answer = await send('DELETE', '/orders/1')
    return errorIn(answer) + (answer.allow === null ? '' : ', Allow')
  },
  'a media type that is not declared': async ({ send }) => {
    return errorIn(await send('POST', '/orders', '<a/>', { 'Content-Type': 'application/xml' }))
  },
  'an invalid body without a key': async ({ send }) => errorIn(await send('POST', '/orders', '{"id":1}', { 'X-Key': 'x' })),
  async 'a path with invalid percent-encoding' ({ send }) {
    return errorIn(await send('GET', '/orders/%ff'))
  },
  async 'bytes that are not HTTP' ({ port }) {
    const socket = connect(port, '127.0.0.1')
    socket.end('no HTTP\r\n\r\n')
    const [, sent = ''] = (await text(socket)).split('\r\n\r\n')
    return errorIn({ status: 400, allow: null, text: sent })
  }
}

/** The cells of the README's table of features, by the name of the row. */
function tableOf (): Map<string, string[]> {
  const readme = readFileSync('src/contract/README.md', 'utf8')
  const cells = Array.from(readme.matchAll(/^\| (.+) \|$/gm), ([, row = '']) => row.replaceAll('`', '').split(' | '))
  return new Map(cells.map(([name = '', ...others]) => [name, others]))
}

t.test('the table of the README says how their answers differ', async t => {
  const peers = await startPeers(t)
  const table = tableOf()
  for (const [row, probe] of Object.entries(rows)) {
    const found: string[] = []
    for (const name of names) found.push(await probe(peers.get(name) as Peer))
    t.strictSame(table.get(row), found, row)
  }
})

const versions: Record<string, (contract: string) => string> = {
  'OpenAPI 3.0': contract => contract,
  'OpenAPI 3.1, with lists of types': contract => contract.replace('3.0.3', '3.1.1')
    .replace('type: string, nullable: true', "type: [string, 'null']"),
  'OpenAPI 3.2': contract => contract.replace('3.0.3', '3.2.0')
    .replace('type: string, nullable: true', "type: [string, 'null']")
}

for (const [row, change] of Object.entries(versions)) {
  t.test(`the table of the README says who serves ${row}`, async t => {
    const peers = await startPeers(t, change)
    const found: string[] = []
    for (const name of names) found.push(await serves(peers.get(name)))
    t.strictSame(tableOf().get(row), found)
  })
}

/** Whether a program serves a valid request, and refuses an invalid one. */
async function serves (peer: Peer | undefined): Promise<string> {
  if (peer === undefined) return 'refused'
  // Its description comes from its routes.
  if (peer.name === 'hand') return 'no contract'
  const valid = await peer.send('POST', '/orders', '{"id":1,"item":"fern","note":null}')
  const invalid = await peer.send('POST', '/orders', '{"id":1,"item":"fern","note":[]}')
  return valid.status === 201 && invalid.status === 400 ? 'yes' : 'refused'
}

const packages: Record<string, string> = {
  engine: 'src/contract',
  glue: 'node_modules/fastify-openapi-glue',
  backend: 'node_modules/openapi-backend',
  express: 'node_modules/express-openapi-validator',
  hand: 'node_modules/@fastify/swagger'
}

t.test('the table of the README has the versions and the dependencies that are installed', async t => {
  const readme = readFileSync('src/contract/README.md', 'utf8')
  const heads = /^\| \| (this package 1.*) \|$/m.exec(readme)?.[1]?.split(' | ') ?? []
  const dependencies: string[] = []
  for (const [index, name] of names.entries()) {
    const manifest = JSON.parse(readFileSync(`${packages[name]}/package.json`, 'utf8'))
    t.ok(heads[index]?.includes(manifest.version), name)
    dependencies.push(String(Object.keys(manifest.dependencies).length))
  }
  t.strictSame(tableOf().get('direct dependencies'), dependencies)
})
