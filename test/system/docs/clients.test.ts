// docs/use/clients.md: its files and commands, run as they stand against the service.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { compile } from '../../fixtures/compiler.ts'
import { holdProcess } from '../../fixtures/leash.ts'
import { startService } from '../../fixtures/service.ts'

const page = readFileSync('docs/use/clients.md', 'utf8')

/** The code block of the page that has a text. */
function block (part: string): string {
  const blocks = Array.from(page.matchAll(/^```\w*\n(.*?)^```$/gms), ([, content = '']) => content)
  const found = blocks.find(content => content.includes(part))
  if (found === undefined) throw new Error(`docs/use/clients.md has no code block with ${part}`)
  return found
}

/** By program: what a reader of the page saves and runs, and what it prints. */
const clients = {
  curl: { command: block('--retry'), prints: block('200\n').trim(), file: '', source: '' },
  node: { ...commandOf('client.ts'), file: 'client.ts', source: block('createClient') },
  fetch: { ...commandOf('client.mjs'), file: 'client.mjs', source: block('async function addPlant') },
  python3: { ...commandOf('client.py'), file: 'client.py', source: block('urlopen') }
}
type Client = typeof clients['curl']

function commandOf (file: string) {
  const [command = '', prints = ''] = block(` ${file} `).trim().split(/ +# /)
  return { command, prints }
}

/** `printed` is the standard output, `output` also has the standard error, with warnings of npm. */
interface Result { code: number, printed: string, output: string }

/** Runs a command without the variables by which tap observes its tests. */
function run (cwd: string, command: string, variables = {}): Promise<Result> {
  const { PATH, HOME } = process.env
  return new Promise(resolve => {
    const options = { cwd, env: { PATH, HOME, ...variables } }
    holdProcess(execFile('sh', ['-c', command], options, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), printed: stdout.trim(), output: stdout + stderr })
    }))
  })
}

function at (origin: string, text: string): string {
  return text.replaceAll('http://127.0.0.1:3000', origin)
}

/** Sends a plant as the page says, to another address and with another id or name. */
function send ({ command, file, source }: Client, folder: string, origin: string, id: string, name = 'Boston fern') {
  if (file !== '') writeFileSync(join(folder, file), at(origin, source))
  return run(folder, at(origin, command).replace('9007199254740993', id).replace('Boston fern', name))
}

/**
 * The service in a folder with what a client reads: the types, and the token that the service
 * makes.
 */
async function startInFolder (t: Test) {
  const folder = t.testdir({ stranger: { data: { 'access-token': 'the-token-of-a-stranger' } } })
  for (const copy of ['generated', 'stranger/generated']) cpSync('generated', join(folder, copy), { recursive: true })
  const { origin } = await startService(t, folder)
  return { folder, origin }
}

function storedPlants (folder: string): string[] {
  const database = new DatabaseSync(join(folder, 'data/plants.db'), { readOnly: true })
  const rows = database.prepare("SELECT id || ' ' || name AS plant FROM plants ORDER BY id").all()
  database.close()
  return rows.map(({ plant }) => String(plant))
}

/**
 * A proxy in front of the service. Each of `faults` is for one request: a status is its response;
 * `empty` is one without a body; `lost` passes the request on and ends the connection in the middle
 * of the response; `cut` is half of a 503 that is not UTF-8, `slow` is a 409 in two pieces; `head` is half of the head of a response.
 */
async function startProxy (t: Test, service: string, faults: Array<number | 'lost' | 'empty' | 'cut' | 'head' | 'slow'> = [], retryAfter = '2') {
  const requests: Array<{ body: string, ms: number }> = []
  const proxy = createServer(async (request, response) => {
    const body = await text(request)
    requests.push({ body, ms: performance.now() })
    const fault = faults.shift()
    if (typeof fault === 'number') {
      response.writeHead(fault, { 'retry-after': retryAfter }).end(`{"error":${fault},"message":"Not now."}`)
      return
    }
    if (fault === 'cut') {
      response.writeHead(503, { 'content-length': 100 })
      response.write(Buffer.from('half a \xe9', 'latin1'), () => response.destroy())
      return
    }
    if (fault === 'slow') {
      response.writeHead(409)
      response.write('{"error":409,"message":"The ')
      setTimeout(() => response.end('second piece."}'), 100)
      return
    }
    if (fault === 'head') {
      request.socket.end('HTTP/1.1 200 OK\r\nContent-Type: app')
      return
    }
    if (fault === 'empty') {
      response.writeHead(404, { 'content-length': 0 }).end()
      return
    }
    const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' }
    const answer = await fetch(service + request.url, { method: 'POST', headers, body })
    const content = await answer.text()
    response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': content.length })
    if (fault === 'lost') response.write(content.slice(0, 9), () => response.destroy())
    else response.end(content)
  }).listen(0, '127.0.0.1')
  t.teardown(() => proxy.close())
  await once(proxy, 'listening')
  return { origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, requests }
}

t.jobs = 3
for (const [program, client] of Object.entries(clients)) {
  t.test(`the client for ${program}`, { buffered: true }, async t => {
    const [tool] = client.command.split(' ')
    if ((await run('.', `${tool} --version`)).code !== 0) {
      t.comment(`${tool} is not installed: its client was not tested`)
      return
    }
    const { folder, origin } = await startInFolder(t)

    await t.test('two ids that are one double are two plants, one of them without a tag', async t => {
      const untagged = {
        ...client,
        command: client.command.replace(/ fern$/, ''),
        prints: client.prints.replace(/, '?tag'?: 'fern'/, '')
      }
      for (const [sent, id, name] of [
        [client, '9007199254740993', 'Boston fern'], [untagged, '9007199254740992', 'Oak']
      ] as const) {
        const { code, printed } = await send(sent, folder, origin, id, name)
        t.strictSame([code, printed], [0, sent.prints.replace('Boston fern', name)])
      }
      t.strictSame(storedPlants(folder), ['9007199254740992 Oak', '9007199254740993 Boston fern'])
    })

    await t.test('a taken id and a token that is not accepted are reported, and not repeated', async t => {
      const proxy = await startProxy(t, origin)
      const conflict = await send(client, folder, proxy.origin, '9007199254740993', 'Ivy')
      t.match(conflict.output, /Another plant has the id 9007199254740993\. The stored plant does not change\./)
      const refused = await send(client, join(folder, 'stranger'), proxy.origin, '1')
      t.match(refused.output, /The bearer token is not accepted\./)
      for (const [{ code, output }, status] of [[conflict, '409'], [refused, '401']] as const) {
        t.match(output, status)
        t.equal(code, program === 'curl' ? 0 : 1)
      }
      t.equal(proxy.requests.length, 2)
    })

    await t.test('the same plant is sent again after 503, 429 and a response that is lost halfway', async t => {
      const proxy = await startProxy(t, origin, [503, 'lost', 429])
      const { code, printed } = await send(client, folder, proxy.origin, '9223372036854775807')
      t.strictSame([code, printed], [0, client.prints])
      t.equal(new Set(proxy.requests.map(({ body }) => body)).size, 1)
      const [first = 0, second = 0, third = 0, fourth = 0] = proxy.requests.map(({ ms }) => ms)
      t.equal(proxy.requests.length, 4)
      t.ok(second - first > 1900 && fourth - third > 1900, 'Retry-After is obeyed')
      t.ok(storedPlants(folder).includes('9223372036854775807 Boston fern'))
    })

    await t.test('a response that is lost halfway is no end', async t => {
      // curl takes such a head for one without a body.
      const faults = program === 'curl' ? ['cut'] as const : ['cut', 'head'] as const
      const proxy = await startProxy(t, origin, [...faults])
      const { code, printed } = await send(client, folder, proxy.origin, '8')
      t.strictSame([code, printed, proxy.requests.length], [0, client.prints, faults.length + 1])
      if (program !== 'curl') return
      const cutInHead = await startProxy(t, origin, ['head'])
      t.match(await send(client, folder, cutInHead.origin, '9'), { code: 1 })
    })

    await t.test('the message of an error is whole, also in pieces', async t => {
      const proxy = await startProxy(t, origin, ['slow'])
      const result = await send(client, folder, proxy.origin, '7')
      t.match(result, { code: program === 'curl' ? 0 : 1, output: /The second piece\./ })
    })

    await t.test('an error without a body is an error', async t => {
      const proxy = await startProxy(t, origin, ['empty'])
      const result = await send(client, folder, proxy.origin, '6')
      t.match(result, { code: 1, output: /404/ })
      t.notMatch(result.output, ': undefined')
    })

    await t.test('a blank is no id', async t => {
      const proxy = await startProxy(t, origin)
      const blank = program === 'curl' ? ' ' : "' '"
      const { code } = await send(client, folder, proxy.origin, blank)
      // curl sends what it gets, and the service answers 400.
      t.strictSame([code, proxy.requests.length], program === 'curl' ? [0, 1] : [1, 0])
      t.notOk(storedPlants(folder).includes('0 Boston fern'))
    })

    await t.test('five requests without success are enough, or eleven of curl', async t => {
      const isCurl = program === 'curl'
      const proxy = await startProxy(t, origin, Array(20).fill(503), '1')
      t.match(await send(client, folder, proxy.origin, '5'), { code: isCurl ? 0 : 1, output: /503/ })
      t.equal(proxy.requests.length, isCurl ? 11 : 5)
      const [third = 0, fourth = 0, fifth = 0] = proxy.requests.slice(2).map(({ ms }) => ms)
      const grows = fourth - third > 1900 && fifth - fourth > 3900
      t.ok(grows || isCurl, 'the waits grow beyond a Retry-After that is always 1')
    })
  })
}

t.test('the client for node ends its waits when its signal does', { buffered: true }, async t => {
  const { folder, origin } = await startInFolder(t)
  const proxy = await startProxy(t, origin, [503], '600')
  const body = '{ body: plant }'
  const source = clients.node.source.replace(body, '{ body: plant, signal: AbortSignal.timeout(1000) }')
  const result = await send({ ...clients.node, source }, folder, proxy.origin, '1')
  t.match(result, { code: 1, output: /TimeoutError/ })
  t.equal(proxy.requests.length, 1)
})

t.test('types with bigint refuse a number as an id and a misspelt member, others take the number', { buffered: true }, async t => {
  const { folder, origin } = await startInFolder(t)
  writeFileSync(join(folder, 'make-types.ts'), at(origin, block('openapiTS')))
  t.equal((await run(folder, 'npx node make-types.ts')).code, 0)
  t.match(readFileSync(join(folder, 'generated/types.ts'), 'utf8'), 'id: bigint')
  t.equal((await run(folder, `npx openapi-typescript ${origin}/docs/json -o number-types.ts`)).code, 0)

  const write = (file: string, types: string, id: string, member = 'tag') => {
    const source = clients.node.source.replace('./generated/types.ts', types).replace('BigInt(id)', id)
    writeFileSync(join(folder, file), source.replace('plant.tag', `plant.${member}`))
  }
  write('client.ts', resolve('generated/types.ts'), 'BigInt(id)')
  write('own-project.ts', './generated/types.ts', 'BigInt(id)')
  write('rounded.ts', './number-types.ts', 'Number(id)')
  write('refused.ts', './generated/types.ts', 'Number(id)')
  write('misspelt.ts', './generated/types.ts', 'BigInt(id)', 'Tag')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: resolve('tsconfig.json'), include: ['*.ts'] }))
  const refused = /^refused\.ts.* Type 'number' is not assignable to type 'bigint'\.$/
  const misspelt = /^misspelt\.ts.* Property 'Tag' does not exist on type .* Did you mean 'tag'\?$/
  t.match(await compile(folder), [misspelt, refused])
})
