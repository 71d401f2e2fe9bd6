import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { audience, makeKey, startIssuer, startProvider } from '../../fixtures/issuer.ts'
import { holdProcess } from '../../fixtures/leash.ts'
import { inParallel } from '../../fixtures/parallel.ts'
import { exchange } from '../../fixtures/raw.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { observed, postPlant, startService } from '../../fixtures/service.ts'

const test = inParallel(t, 3)
/** Arguments of Node: its standard output stands for a terminal. */
const terminal = ['--import', 'data:text/javascript,process.stdout.isTTY = true']

/** Posts a plant with the test's token and returns the status. */
async function statusOf (origin: string, id: number, name: string): Promise<number> {
  return (await postPlant(origin, testToken, `{"id":${id},"name":"${name}"}`)).status
}

/** Posts a plant again while the service is overloaded, as it may be on a busy machine. */
async function lastStatusOf (origin: string, id: number, name: string): Promise<number> {
  let status = 503
  while (status === 503) status = await statusOf(origin, id, name)
  return status
}

test('the first start creates a token and prints a curl command that works when pasted', async t => {
  const bin = { curl: t.fixture('file', '#!/bin/sh\nprintf "%s\\0" "$@"\n') }
  const folder = join(t.testdir({ "owner's": { bin } }), "owner's")
  const until = /-d '.*'\n/
  const { output, child, ended } = await startService(t, folder, {}, terminal, { until })
  const [, origin = ''] = /Plant Store {3}(\S+)/.exec(output()) ?? []
  const tokenFile = join(folder, 'data', 'access-token')
  const token = readFileSync(tokenFile, 'utf8').trim()
  t.equal(statSync(tokenFile).mode & 0o777, 0o600)
  t.equal(statSync(join(folder, 'data', 'plants.db')).mode & 0o777, 0o600)
  t.match(output(), `The contract  ${origin}/docs\n`)
  t.equal((await fetch(`${origin}/docs`)).status, 200)

  // A real shell runs the command. Its curl is a script that prints its arguments: not every
  // machine has curl.
  await promisify(execFile)('chmod', ['+x', join(folder, 'bin', 'curl')])
  const command = /^ {2}(curl .*\\\n.*\\\n.*)$/m.exec(output())?.[1] ?? ''
  const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` }
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: '/', env })
  const [url, ...options] = stdout.split('\0').slice(0, -1)
  t.equal(options[5], '\\n', 'curl ends the line of the answer')
  t.strictSame(options.map((option, index) => index % 2 === 0 ? option : ''), ['-H', '', '-H', '', '-w', '', '-d', ''])
  const headers = Object.fromEntries([options[1], options[3]].map(field => (field as string).split(': ')))
  const response = await fetch(url as string, { method: 'POST', headers, body: options[7] as string })
  t.equal(response.status, 200)
  t.strictSame(await response.json(), { name: 'Boston fern', tag: 'fern' })

  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), token, 'the output does not contain the token')

  const later = await startService(t, folder)
  const conflict = await postPlant(later.origin, token, '{"id":1,"name":"another"}')
  t.equal(conflict.status, 409, 'a later start has the same token and plants')
})

test('without a terminal a first start prints only JSON lines, one of which says where the token is', async t => {
  const folder = t.testdir()
  const { output, child, ended } = await startService(t, folder)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const lines = output().trim().split('\n').map(line => JSON.parse(line))
  const place = join(realpathSync(folder), 'data', 'access-token')
  t.strictSame(lines.map(({ msg }) => msg).filter(msg => msg.includes('access token')), [`created a new access token in ${place}`])
})

test('a new database file is a warning where DATABASE_URL names it, and only there', async t => {
  const folder = t.testdir()
  const env = { ACCESS_TOKENS: testToken }
  const starts = [env, { ...env, DATABASE_URL: 'sqlite:data/plants.db' }, { ...env, DATABASE_URL: 'sqlite:dta/plants.db' }]
  const outputs = []
  for (const variables of starts) {
    const { output, child, ended } = await startService(t, folder, variables)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
    outputs.push(output())
  }
  const warning = /"level":40,.*DATABASE_URL named a file that did not exist, .* check the path and the mount/
  t.strictSame(outputs.map(output => warning.test(output)), [false, false, true])

  const other = createServer().listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const inUse = { ...env, PORT: String(port), DATABASE_URL: 'sqlite:tada/plants.db' }
  const { output, ended } = await startService(t, folder, inUse)
  t.equal(await ended, 1)
  t.match(output(), warning)
})

test('a service that listens at every address of the machine says so', async t => {
  for (const [HOST, isEvery] of [['0.0.0.0', true], ['127.0.0.1', false]] as const) {
    const env = { HOST, DATABASE_URL: 'memory:' }
    const { output, child, ended } = await startService(t, t.testdir(), env, [], observed)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
    t.equal(/every address of this machine/.test(output()), isEvery)
  }
})

test('on a terminal a later start says where the token is, and each response has a line', async t => {
  const folder = t.testdir({ data: { 'access-token': `${testToken}\n` } })
  const options = { ...observed, until: /the access token is in .*access-token\n/ }
  const { output, child, ended, waitForOutput } = await startService(t, folder, { LOG_LEVEL: 'info' }, terminal, options)
  const [, origin = ''] = /listening at (\S+)/.exec(output()) ?? []
  t.equal(await statusOf(origin, 1, 'x'), 200)
  await waitForOutput(/INFO: 200 POST \/plants {6}[\d.]+ ms\n/)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), /curl/)
})

test('the printed curl command has the path of BASE_URL', async t => {
  for (const [BASE_URL, path] of [['/api/v1', '/api/v1'], ['https://plants.example.com/store/', '/store']] as const) {
    const env = { BASE_URL, DATABASE_URL: 'memory:' }
    const until = new RegExp(`^ {2}curl http://\\S+${path}/plants -H`, 'm')
    const { output, child, ended } = await startService(t, t.testdir(), env, terminal, { ...observed, until })
    const [, url = ''] = /curl (\S+)/.exec(output()) ?? []
    t.equal((await fetch(url, { method: 'POST' })).status, 401)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
  }
})

test('with ACCESS_TOKENS the service prints only log lines, and no token', async t => {
  const folder = t.testdir()
  const env = { ACCESS_TOKENS: 'alice:very-secret-token', LOG_LEVEL: 'trace' }
  const { output, origin, child, ended } = await startService(t, folder, env)
  t.equal((await postPlant(origin, 'very-secret-token', '{"id":1,"name":"x"}')).status, 200)
  t.equal((await postPlant(origin, 'quite-wrong', '{"id":1,"name":"x"}')).status, 401)
  child.kill('SIGINT')
  t.equal(await ended, 0)
  const lines = output().trim().split('\n').map(line => JSON.parse(line))
  // A busy machine may take over a second to open the database, and the contract may get an
  // operation without security: each is another line.
  const others = /^Checking the database| needs no credentials\.$/
  t.match(lines.map(({ msg }) => msg).filter(msg => !others.test(msg)), [
    `storing plants in the new database ${join(realpathSync(folder), 'data', 'plants.db')}`,
    /^listening at/,
    'response sent',
    'The bearer token is not accepted.',
    'response sent',
    'shutting down after SIGINT'
  ])
  t.notMatch(output(), /very-secret|quite-wrong/)
  t.equal(existsSync(join(folder, 'data', 'access-token')), false)
})

test('acknowledged plants are stored after kill -9', async t => {
  const folder = t.testdir()
  const env = { ACCESS_TOKENS: testToken }
  const first = await startService(t, folder, env)
  const ids = Array.from({ length: 200 }, (_, id) => id)
  const statuses = await Promise.all(ids.map(id => lastStatusOf(first.origin, id, `plant ${id}`)))
  first.child.kill('SIGKILL')
  t.equal(await first.ended, 'SIGKILL')
  t.strictSame(new Set(statuses), new Set([200]))

  const second = await startService(t, folder, env)
  const again = await Promise.all(ids.map(async id => [
    await lastStatusOf(second.origin, id, 'another'),
    await lastStatusOf(second.origin, id, `plant ${id}`)
  ]))
  t.strictSame(again, Array(200).fill([409, 200]))
})

test('after SIGTERM under load each request is answered or refused, and acknowledged plants are stored', async t => {
  const folder = t.testdir()
  const env = { ACCESS_TOKENS: testToken }
  const { origin, child, ended } = await startService(t, folder, env)
  const requests = Array.from({ length: 300 }, (_, id) => statusOf(origin, id, 'x').catch(() => undefined))
  await requests[0]
  child.kill('SIGTERM')
  const statuses = await Promise.all(requests)
  t.equal(await ended, 0)
  t.ok(statuses.every(status => status === undefined || status === 200 || status === 503))

  const again = await startService(t, folder, env)
  const acknowledged = [...statuses.entries()].filter(([, status]) => status === 200).map(([id]) => id)
  t.ok(acknowledged.length > 0)
  for (const id of acknowledged) t.equal(await statusOf(again.origin, id, 'y'), 409)
})

test('a signal to npm start reaches the service', async t => {
  const env = { ...process.env, PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: testToken }
  const npm = holdProcess(spawn('npm', ['start'], { detached: true, env }))
  // Kill the process group: the service may outlive npm.
  t.teardown(() => {
    try {
      process.kill(-(npm.pid as number), 'SIGKILL')
    } catch { /* The group has ended. */ }
  })
  let output = ''
  const ended = once(npm, 'close')
  await new Promise<void>(resolve => npm.stdout.setEncoding('utf8').on('data', text => {
    output += text
    if (output.includes('listening at')) resolve()
  }))
  npm.kill('SIGTERM')
  t.not(await Promise.race([ended, sleep(60_000, 'timeout', { ref: false })]), 'timeout')
  t.match(output, 'shutting down after SIGTERM')
})

/**
 * Sends the first part of a plant, for which the service waits after a signal, and returns once it
 * has arrived.
 */
async function beginPlant (origin: string) {
  const port = Number(new URL(origin).port)
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.write([
    'POST /plants HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${testToken}`,
    'Content-Type: application/json',
    'Content-Length: 19',
    '',
    '{"id":1,'
  ].join('\r\n'))
  await exchange(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  return { socket, rest: '"name":"x"}' }
}

test('two signals at once are one, because npm passes them on', async t => {
  const pairs = [['SIGINT', 0], ['SIGINT', 1], ['SIGTERM', 0], ['SIGTERM', 5], ['SIGHUP', 100]] as const
  for (const [signal, pauseMs] of pairs) {
    const env = { ACCESS_TOKENS: testToken }
    const { origin, child, ended } = await startService(t, t.testdir(), env)
    const { socket, rest } = await beginPlant(origin)
    child.kill(signal)
    if (pauseMs > 0) await sleep(pauseMs)
    child.kill(signal)
    await sleep(200)
    socket.write(rest)
    const [response] = await once(socket, 'data') as [Buffer]
    t.match(response.toString(), /^HTTP\/1.1 200 /)
    t.equal(await ended, 0, `${signal} after ${pauseMs} ms`)
  }
})

test('a second signal after half a second ends the process at once', async t => {
  const { origin, child, ended, waitForOutput } = await startService(t, t.testdir(), { ACCESS_TOKENS: testToken })
  await beginPlant(origin)
  child.kill('SIGTERM')
  await waitForOutput(/shutting down after SIGTERM/)
  await sleep(700)
  child.kill('SIGTERM')
  // Without the second signal the shutdown would wait for the rest of the plant, and succeed
  // without it.
  t.equal(await ended, 1)
})

test('a .env that cannot be read is exit code 2', async t => {
  const folder = t.testdir({ '.env': t.fixture('symlink', 'missing') })
  const { ended, output } = await startService(t, folder, {})
  t.equal(await ended, 2)
  t.match(output(), /^\.env cannot be read: .*[^.]\. Correct or remove it\.\n$/)
})

test('a .env may have a byte order mark, comments, blank lines, export and quotes', async t => {
  const lines = [
    '\ufeff# the first line', '', ' # "comment', ' export DATABASE_URL = "memory:" # no file\r', 'RATE_LIMIT=',
    'HOST= # any', 'PORT=\'0\'', 'ACCESS_TOKENS = from-file # a comment'
  ]
  const folder = t.testdir({ '.env': lines.join('\n') })
  const { origin, child, ended } = await startService(t, folder, {})
  t.equal((await postPlant(origin, 'from-file', '{"id":1,"name":"x"}')).status, 200)
  t.equal(existsSync(join(folder, 'data')), false)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('SIGUSR1 opens no debugger', async t => {
  const { origin, child, output, ended } = await startService(t, t.testdir(), { DATABASE_URL: 'memory:' })
  child.kill('SIGUSR1')
  await sleep(300)
  t.equal((await fetch(`${origin}/livez`)).status, 200)
  t.notMatch(output(), 'Debugger')
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('a stop is an error when the database file was moved away from its log', async t => {
  const folder = t.testdir()
  const path = join(folder, 'data', 'plants.db')
  const { origin, child, output, ended } = await startService(t, folder, { ACCESS_TOKENS: testToken }, [], observed)
  t.equal((await postPlant(origin, testToken, '{"id":1,"name":"x"}')).status, 200)
  renameSync(path, `${path}.moved`)
  child.kill('SIGTERM')
  t.equal(await ended, 1)
  t.match(output(), 'data/plants.db was removed or replaced, and data/plants.db-wal may have plants of it.')
  const moved = await startService(t, folder, { ACCESS_TOKENS: testToken, DATABASE_URL: `sqlite:${path}.moved` }, [], observed)
  t.equal(await moved.ended, 1)
  t.match(moved.output(), 'it is empty without its log')
  renameSync(`${path}.moved`, path)
  const again = await startService(t, folder, { ACCESS_TOKENS: testToken })
  t.equal((await postPlant(again.origin, testToken, '{"id":1,"name":"y"}')).status, 409)
  again.child.kill('SIGTERM')
  t.equal(await again.ended, 0)
})

test('the service reads variables from .env; the environment overrides them, unless it is empty', async t => {
  const folder = t.testdir({ '.env': 'ACCESS_TOKENS=from-file\nLOG_LEVEL=loud\nDATABSE_URL=x\n' })
  chmodSync(join(folder, '.env'), 0o644)
  const env = { LOG_LEVEL: 'info', DATABASE_URL: 'memory:', ACCESS_TOKENS: '', RATELIMIT: '5' }
  const { origin, child, ended, output } = await startService(t, folder, env, [], observed)
  t.match(output(), '.env has the mode 0644: every user of this machine who reaches it may read its tokens')
  t.match(output(), 'DATABSE_URL is set in .env, but the service does not read it. Did you mean DATABASE_URL?')
  t.match(output(), 'RATELIMIT is set, but the service does not read it. Did you mean RATE_LIMIT?')
  t.equal((await postPlant(origin, 'from-file', '{"id":1,"name":"x"}')).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

test('startup reports every configuration error, exits with code 2 and creates no folder', async t => {
  const folder = t.testdir()
  const { ended, output } = await startService(t, folder, { PORT: 'x', LOG_LEVEL: 'y', DATABASE_URL: 'z' }, [], observed)
  t.equal(await ended, 2)
  t.strictSame(output().trim().split('\n').map(line => line.split(' ')[0]), ['PORT', 'DATABASE_URL', 'LOG_LEVEL'])
  t.equal(existsSync(join(folder, 'data')), false)
})

test('a startup that fails prints one sentence and exits with code 1', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const busy = await startService(t, t.testdir(), { PORT: String(port), DATABASE_URL: 'memory:' })
  t.equal(await busy.ended, 1)
  t.match(busy.output(), new RegExp(
    `^Cannot listen on 127.0.0.1, port ${port}: .*EADDRINUSE.* Set HOST and PORT to listen elsewhere\\.$`, 'm'
  ))

  const broken = await startService(t, t.testdir({ data: 'a file, not a folder' }))
  t.equal(await broken.ended, 1)
  t.match(broken.output(), /^The database data\/plants\.db cannot be used: .+$/m)
})

test('a file of the access token that holds none is exit code 2, as another configuration that needs somebody', async t => {
  const folder = t.testdir({ data: { 'access-token': 'two words' } })
  const { ended, output } = await startService(t, folder, { DATABASE_URL: 'memory:', ACCESS_TOKENS: '' })
  t.equal(await ended, 2)
  t.match(output(), /^\S+access-token is not valid: entry 1 has a blank .* Delete it; the next start creates another\.\n$/)
})

test('a file of the access token that cannot be written is exit code 2, too', async t => {
  const folder = t.testdir({ data: 'a file, not a folder' })
  const { ended, output } = await startService(t, folder, { DATABASE_URL: 'memory:', ACCESS_TOKENS: '' })
  t.equal(await ended, 2)
  t.match(output(), /^The service cannot write its access token to \S+: .* Set ACCESS_TOKENS or ACCESS_TOKENS_FILE to use your own\.\n$/)
})

test('a host name that does not resolve is exit code 1, and a HOST that is none is exit code 2', async t => {
  const unknown = await startService(t, t.testdir(), { HOST: 'host.invalid', DATABASE_URL: 'memory:' })
  t.equal(await unknown.ended, 1)
  t.match(unknown.output(), /^Cannot listen on host\.invalid, port 0: .* Set HOST and PORT to listen elsewhere\.\n$/)
  const invalid = await startService(t, t.testdir(), { HOST: 'http://127.0.0.1' })
  t.equal(await invalid.ended, 2)
})

/** The arguments of a Node that takes one name of a module for another. */
function renaming (name: string, other: string): string[] {
  const hook = `(name, context, next) => next(name === '${name}' ? '${other}' : name, context)`
  return ['--import', `data:text/javascript,import { registerHooks } from 'node:module'; registerHooks({ resolve: ${hook} })`]
}

test('an import that does not end with .ts for a file of TypeScript is one sentence with a way out', async t => {
  for (const file of ['plant.js', 'plant']) {
    const nodeArgs = renaming('pino', `${pathToFileURL(`src/plants/${file}`)}`)
    const { ended, output } = await startService(t, t.testdir(), {}, nodeArgs, observed)
    t.equal(await ended, 2)
    t.match(output(), new RegExp(`^Node \\S+ cannot load a part of it: .*${file}' imported from .*\\. Let the import end with \\.ts\\.\n$`))
  }
})

for (const [hidden, threads] of [['pino', '1'], ['fastify', '1'], ['fastify', '2']] as const) {
  test(`a start without the package ${hidden} in ${threads} threads is one sentence and exit code 2`, async t => {
    const nodeArgs = renaming(hidden, 'missing-package')
    const { ended, output } = await startService(t, t.testdir(), { THREADS: threads }, nodeArgs, observed)
    t.equal(await ended, 2)
    t.match(output(), /^Node \S+ cannot load a part of it: Cannot find package 'missing-package' .* Install .* \(npm ci\), .*\n$/)
  })
}

test('startup says within a second that it waits for the database, and why', async t => {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/plants' }
  const { child, ended, output } = await startService(t, t.testdir(), env, [], { ...observed, until: /Waiting for/ })
  t.equal(child.exitCode, null, 'long before the process ends')
  const problem = 'nothing listens there; start PostgreSQL, or correct DATABASE_URL.'
  t.equal(await ended, 1)
  const [warning = '', ...error] = output().split('\n')
  const { level, msg } = JSON.parse(warning)
  t.equal(level, 40)
  const [waiting, reason] = msg.split('127.0.0.1:1: ')
  t.equal(waiting, 'Waiting for the PostgreSQL database at ')
  // A busy machine may not have tried to connect by then.
  t.ok([problem, 'no response yet.'].includes(reason), reason)
  t.strictSame(error, [`The PostgreSQL database at 127.0.0.1:1 cannot be used: ${problem}`, ''])
})

test('SIGTERM ends a service that waits for its database', async t => {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/plants' }
  const { ended, child, output } = await startService(t, t.testdir(), env, [], { ...observed, until: /Waiting for/ })
  child.kill('SIGTERM')
  // A process that waited on would find no database, which is exit code 1.
  t.equal(await ended, 0)
  t.match(output(), /shutting down after SIGTERM/)
})

test('during SHUTDOWN_DELAY the service is not ready and still accepts connections', async t => {
  const env = { ACCESS_TOKENS: testToken, SHUTDOWN_DELAY: '3' }
  const { child, ended, origin, waitForOutput } = await startService(t, t.testdir(), env, [], observed)
  child.kill('SIGTERM')
  const began = performance.now()
  await waitForOutput(/shutting down after SIGTERM/)
  t.equal((await fetch(`${origin}/readyz`)).status, 503)
  t.equal(await statusOf(origin, 1, 'x'), 200)
  t.equal(await ended, 0)
  t.ok(performance.now() - began > 2900)
})

test('for HOST=localhost the service listens on one address, so that every connection has its limits', async t => {
  const { origin } = await startService(t, t.testdir(), { ACCESS_TOKENS: testToken, HOST: 'localhost' })
  t.match(origin, /^http:\/\/127\.0\.0\.1:/)
  const { port } = new URL(origin)
  const other = connect(Number(port), '::1')
  t.match(await once(other, 'connect').catch(error => error), { code: /ECONNREFUSED|EADDRNOTAVAIL/ })
})

test('an uncaught error is logged and closes the service', async t => {
  const throwOnSignal = "data:text/javascript,process.once('SIGUSR2', () => { throw new Error('thrown by the test') })"
  const env = { ACCESS_TOKENS: testToken }
  const { child, ended, output } = await startService(t, t.testdir(), env, ['--import', throwOnSignal])
  child.kill('SIGUSR2')
  t.equal(await ended, 1)
  t.match(output(), /"level":60.*thrown by the test/)
})

test('an emptied tokens file revokes its tokens, an invalid or deleted one does not, and the log says so', async t => {
  const folder = t.testdir({ tokens: 'alice:old-token-of-alice' })
  const path = join(folder, 'tokens')
  const env = { ACCESS_TOKENS_FILE: path, DATABASE_URL: 'memory:' }
  const { child, ended, origin, output, waitForOutput } = await startService(t, folder, env)
  const statusWith = async (token: string) => (await postPlant(origin, token, '{"id":1,"name":"x"}')).status
  t.equal(await statusWith('old-token-of-alice'), 200)
  writeFileSync(path, 'not a token')
  await waitForOutput(/"level":50.*ACCESS_TOKENS_FILE .*entry 1 has a blank.*To revoke them all, empty the file"/)
  t.equal(await statusWith('old-token-of-alice'), 200, 'the last token stays valid')
  rmSync(path)
  await waitForOutput(/"level":50.*no such file or directory \(ENOENT\)\. Its last tokens stay valid\. To revoke/)
  t.equal(await statusWith('old-token-of-alice'), 200, 'the last token stays valid')
  writeFileSync(path, '\n \n')
  await waitForOutput(/"level":40.*is empty: it makes no token valid any more"/)
  t.equal(await statusWith('old-token-of-alice'), 401)
  writeFileSync(path, 'alice:new-token-of-alice')
  await waitForOutput(/"level":30.*has changed: its tokens are valid now, 1 in number"/)
  t.strictSame([await statusWith('old-token-of-alice'), await statusWith('new-token-of-alice')], [401, 200])
  child.kill()
  t.equal(await ended, 0)
  t.notMatch(output(), /-token-of-alice/)
})

test('startup warns of short tokens and of a tokens file that every user of the machine may read', async t => {
  const folder = t.testdir({ tokens: 'alice:long-enough-token\n' })
  const path = join(folder, 'tokens')
  chmodSync(path, 0o644)
  const env = { ACCESS_TOKENS: 'bob:sh0rt', ACCESS_TOKENS_FILE: path, DATABASE_URL: 'memory:' }
  const { output } = await startService(t, folder, env)
  t.match(output(), /"level":40.*ACCESS_TOKENS has tokens of less than 16 .*: entry 1 \(bob\)\. .*openssl rand/)
  t.match(output(), /"level":40.*ACCESS_TOKENS_FILE .*tokens has the mode 0644: every user .* may read the tokens/)
  t.notMatch(output(), 'sh0rt')
})

test('with an issuer the service accepts its tokens, creates none and logs none', async t => {
  const { issuer, requestToken } = await startProvider(t)
  const folder = t.testdir()
  const env = { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, LOG_LEVEL: 'debug' }
  const { origin, output, child, ended } = await startService(t, folder, env)
  const token = await requestToken()
  t.equal((await postPlant(origin, token, '{"id":1,"name":"x"}')).status, 200)
  t.equal((await postPlant(origin, token, '{"id":1,"name":"y"}')).status, 409)
  const forged = token.replace(/\.[^.]*$/, `.${'A'.repeat(342)}`)
  t.equal((await postPlant(origin, forged, '{"id":2,"name":"x"}')).status, 401)
  t.equal((await postPlant(origin, testToken, '{"id":2,"name":"x"}')).status, 401)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  const lines = output().trim().split('\n').map(line => JSON.parse(line))
  t.match(lines, [
    { msg: /^storing plants in/ },
    { msg: /^listening at/ },
    { caller: 'shop', status: 200 },
    { level: 30, caller: 'shop', status: 409 },
    { level: 20, caller: 'shop', status: 409 },
    { msg: 'A JWT was refused: signature verification failed', id: String },
    { status: 401 }
  ])
  t.notMatch(output(), new RegExp(token.slice(-342)), 'the log has no token')
  t.equal(existsSync(join(folder, 'data', 'access-token')), false)
})

test('an issuer that is down is a warning: static tokens work, and JWTs once it is up', async t => {
  const { issuer, answer, publish, sign } = await startIssuer(t)
  const key = await makeKey('first')
  answer(({ socket }) => socket.destroy())
  const env = { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, ACCESS_TOKENS: testToken, DATABASE_URL: 'memory:' }
  const { origin, output } = await startService(t, t.testdir(), env)
  t.match(output(), new RegExp(`"level":40.*The keys for JWTs cannot be read: ${issuer}/.well-known/openid-config`))
  const token = await sign(key)
  t.equal(await statusOf(origin, 1, 'x'), 200)
  const { status, headers } = await postPlant(origin, token, '{"id":2,"name":"x"}')
  t.equal(status, 503)
  t.equal(headers.get('retry-after'), '1')
  publish(key)
  const later = async () => (await postPlant(origin, token, '{"id":2,"name":"x"}')).status
  while (await later() === 503) await sleep(100)
  t.equal(await later(), 200)
})

test('an issuer that contradicts the configuration ends the startup', async t => {
  const { issuer } = await startIssuer(t)
  const env = { JWT_ISSUER: `${issuer}/`, JWT_AUDIENCE: audience, DATABASE_URL: 'memory:' }
  const { ended, output } = await startService(t, t.testdir(), env)
  t.equal(await ended, 1)
  const place = `${issuer}/.well-known/openid-configuration`
  t.equal(output(), `The keys for JWTs cannot be read: ${place} names the issuer "${issuer}", ` +
    `but JWT_ISSUER is "${issuer}/": they must be equal.\n`)
})

test('a bug that ends the start is printed with its place', async t => {
  for (const [error, places] of Object.entries({
    "new SyntaxError('a bug')": 1, "new TypeError('a bug')": 1, "new Error('a bug')": 1, "new Error('Say a bug.')": 0, "'a bug'": 1
  })) {
    const code = `Object.defineProperty(process.stdout, 'isTTY', { get () { throw ${error} } })`
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(code)}`]
    const { ended, output } = await startService(t, t.testdir(), { THREADS: '1' }, nodeArgs, observed)
    t.equal(await ended, 1)
    t.match(output(), 'a bug')
    t.equal(output().match(/ at start .*start\.ts:\d+/g)?.length ?? 0, places, error)
  }
})
