// Tokens and passwords leave the service by no way: output, responses, files, and the command line
// of the process. The fixtures look for them in all other tests as well.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { listen, logLines, startApp } from '../fixtures/app.ts'
import { exchange, request, requestText } from '../fixtures/raw.ts'
import { addSecret, hasSecret, scan, scanFolder, takeLeaks, testToken } from '../fixtures/secrets.ts'
import { postPlant, startService } from '../fixtures/service.ts'

const basic = Buffer.from(`alice:${testToken}`).toString('base64')
const fern = '{"id":1,"name":"fern"}'
const password = 'Gd6vQx3LkZ9pNw2yTf8m'
addSecret(password)

const close = 'Connection: close'
const misplaced = [`Basic ${basic}`, testToken, `Bearer x${testToken}`, `Bearer ${testToken} x`, `Token ${testToken}`]
/**
 * Requests with the token where it does not belong. A path is not among them: the log has each path
 * as it is.
 */
const requests: readonly string[] = [
  request(fern, [
    close, `X-Api-Key: ${testToken}`, `Proxy-Authorization: Bearer ${testToken}`, `Cookie: a=${testToken}`
  ]),
  ...misplaced.map(value => request(fern, [close]).replace(`Bearer ${testToken}`, value)),
  request(fern, [close, `Authorization: Bearer ${testToken}`]),
  request(fern, [close]).replace('/plants', `/plants?access_token=${testToken}`),
  request(fern, [close]).replace('/plants', `/plants#access_token=${testToken}`),
  request(fern, [close]).replace('/plants', `http://alice:${testToken}@plants/plants`),
  request(fern, [close]).replace('/plants', `http://alice:${testToken}@plants/%`),
  request(fern, [close]).replace('/plants', `/?access_token=${encodeURIComponent(basic)}`),
  request(fern, [close]).replace('POST /plants', `PUT /plants?${testToken}`),
  request(fern, [close, `Host: ${testToken}`]),
  request(fern, [close]).replace('Host: plants', `Host: ${testToken}`),
  request(fern, [close, `Expect: ${testToken}`]),
  request(fern, [close, `Content-Encoding: ${testToken}`]),
  request(fern, [close]).replace('application/json', testToken),
  request(fern, [close, `X: ${testToken.repeat(600)}`]),
  ...[
    `{"id":1,"name":"fern","access_token":"${testToken}","nested":{"${testToken}":["${basic}"]}}`,
    `{"id":"${testToken}","name":"fern"}`,
    `{"id":1,"name":{"${testToken}":1}}`,
    `{"id":1,"name":"fern" ${testToken}}`,
    `${testToken}`,
    `"${testToken}`,
    `{"id":1,"name":"fern\\ud800","x":"${testToken}"}`
  ].map(body => request(body, [close])),
  requestText('POST /plants', [
    'Host: plants', `Authorization: Bearer ${testToken}`, 'Content-Type: application/json', close,
    'Transfer-Encoding: chunked', `Trailer: ${testToken}`
  ], `16\r\n${fern}\r\n0\r\nX-Token: ${testToken}\r\n\r\n`),
  requestText('POST /plants', ['Host: plants', close, 'Transfer-Encoding: chunked'], `${testToken}\r\n`),
  requestText(`CONNECT ${testToken}:443`, ['Host: plants']),
  `${testToken}\r\n\r\n`,
  `Authorization: Bearer ${testToken}\r\n\r\n`,
  `GET / HTTP/1.1\r\n${testToken}\r\n\r\n`,
  `GET / ${testToken}\r\n\r\n`
]

t.test('the search finds a secret in every form, and nothing else', async t => {
  const bytes = Buffer.from(testToken)
  const half = testToken.slice(0, testToken.length / 2)
  const forms = [
    testToken, half, testToken.slice(half.length), basic, bytes.toString('hex'), bytes.toString('base64url'),
    Buffer.from(`:${testToken}`).toString('base64'), bytes.toString('hex').replace(/../g, '%$&')
  ]
  for (const form of forms) t.equal(hasSecret(`{"path":"/${form}"}`), true, form)
  t.equal(hasSecret(testToken.slice(0, 8)), false)
  const { app } = await startApp(t)
  scan('A text', `Bearer ${testToken}`)
  logLines().log.info(testToken)
  app.get('/leak', () => testToken)
  await app.inject('/leak')
  t.match(takeLeaks(), [/^A text has a secret/, /^The log has a secret/, /^A response has a secret/])
})

for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']) {
  t.test(`a token in the wrong place is in no response and no line of the log at level ${level}`, async t => {
    const { app } = await startApp(t, { log: logLines(level).log })
    const { port } = await listen(app)
    for (const bytes of requests) {
      const [response] = await exchange(port, bytes)
      t.ok(response !== undefined && response.statusCode < 500, bytes.slice(0, 60))
      t.strictSame(takeLeaks(), [])
    }
  })
}

t.test('a token in the wrong place is not in the output and the files of the process', async t => {
  const folder = t.testdir()
  const { origin, child, ended, output } = await startService(t, folder, { ACCESS_TOKENS: `alice:${testToken}` })
  for (const bytes of requests) await exchange(Number(new URL(origin).port), bytes)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.match(output(), '"caller":"alice"', 'the log has the level trace')
  t.ok(existsSync(join(folder, 'data', 'plants.db')))
  scan('The output', output())
  scanFolder(folder)
  t.strictSame(takeLeaks(), [])
})

t.test('a token in the path of a request is in the log, as every path is', async t => {
  const { log, lines } = logLines()
  const { app } = await startApp(t, { log })
  await app.inject(`/${testToken}`)
  t.match(JSON.parse(lines.join('')), { path: `/${testToken}`, msg: `There is nothing at /${testToken}.` })
  t.equal(takeLeaks().length, 2, 'in the log and in the response')
})

t.test('a crash shows no token, and neither does the command line of the process', async t => {
  const throwOnSignal = "data:text/javascript,process.once('SIGUSR2', () => { throw new Error('thrown by the test') })"
  const env = { ACCESS_TOKENS: testToken }
  const { child, ended, output, origin } = await startService(t, t.testdir(), env, ['--import', throwOnSignal])
  t.equal((await postPlant(origin, testToken, fern)).status, 200)
  if (process.platform === 'linux') {
    const texts = ['cmdline', 'comm'].map(file => readFileSync(`/proc/${child.pid}/${file}`, 'utf8'))
    t.equal(hasSecret(texts.join('')), false)
  }
  child.kill('SIGUSR2')
  t.equal(await ended, 1)
  t.match(output(), 'thrown by the test')
  t.equal(hasSecret(output()), false)
})

t.test('a configuration error shows no token and no password', async t => {
  const configurations: Array<Record<string, string>> = [
    { ACCESS_TOKENS: `${testToken},${testToken}` },
    { ACCESS_TOKENS: `alice:${testToken} bob` },
    { DATABASE_URL: `postgress://alice:${password}@127.0.0.1/plants` },
    { DATABASE_URL: `postgres://alice:${password}@127.0.0.1:port/plants` },
    { DATABASE_URL: `postgres://alice:${password}@127.0.0.1/plants?target_session_attrs=standby` },
    { DATABASE_URL: `alice:${password}@127.0.0.1/plants` }
  ]
  const folder = t.testdir()
  await Promise.all(configurations.map(async env => {
    const { ended, output } = await startService(t, folder, env)
    t.equal(await ended, 2, output())
    t.equal(hasSecret(output()), false, output())
  }))
})

/** A database that answers each connection with these bytes, or not at all. */
async function badDatabase (t: { teardown: (end: () => void) => void }, answer: Buffer): Promise<string> {
  const server = createServer(socket => socket.on('error', () => {}).on('data', () => socket.end(answer)))
  server.listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** PostgreSQL's message for a wrong password. */
function errorMessage (): Buffer {
  const fields = ['SFATAL', 'C28P01', 'Mpassword authentication failed for user "alice"', ''].join('\0') + '\0'
  const length = Buffer.alloc(4)
  length.writeInt32BE(fields.length + 4)
  return Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)])
}

t.test('the service and the copy show no password of a database that cannot be used', async t => {
  const hosts = [
    '127.0.0.1:1', '127.0.0.1:1,127.0.0.1:2', await badDatabase(t, errorMessage()),
    await badDatabase(t, Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))
  ]
  const folder = t.testdir()
  // Each waits for some seconds.
  await Promise.all(hosts.map(async host => {
    const url = `postgres://alice:${password}@${host}/plants`
    const [{ ended, output }, copied] = await Promise.all([
      startService(t, folder, { DATABASE_URL: url }),
      copy(folder, url)
    ])
    t.equal(await ended, 1, host)
    for (const printed of [output(), copied]) {
      t.match(printed, /PostgreSQL/)
      t.equal(hasSecret(printed), false, printed)
    }
  }))
})

/** Runs a copy that fails and returns what it prints. */
function copy (folder: string, from: string): Promise<string> {
  return new Promise(resolve => {
    const args = [join(process.cwd(), 'src/main.ts'), 'copy', from, join(folder, 'plants.ndjson')]
    execFile(process.execPath, args, { cwd: folder }, (_error, ...texts) => resolve(texts.join('')))
  })
}
