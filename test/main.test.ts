import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { exchange } from './fixtures/raw.ts'
import { postPlant, startService } from './fixtures/service.ts'

t.test('the first start makes a token and prints a command that works when pasted', async t => {
  const folder = t.testdir({
    bin: { curl: t.fixture('file', '#!/bin/sh\nprintf "%s\\0" "$@"\n') }
  })
  const { output, origin, child, ended, waitForOutput } = await startService(t, folder)
  await waitForOutput(/-d '.*'\n/)
  const tokenFile = join(folder, 'data', 'access-token')
  const token = readFileSync(tokenFile, 'utf8').trim()
  t.equal(statSync(tokenFile).mode & 0o777, 0o600)
  t.match(output(), `Plant Store   ${origin}\n`)
  t.match(output(), `The contract  ${origin}/docs\n`)
  t.equal((await fetch(`${origin}/docs`)).status, 200)

  // The command goes through a real shell to a curl that tells what it was given, as not every machine has one.
  await promisify(execFile)('chmod', ['+x', join(folder, 'bin', 'curl')])
  const command = /^ {2}(curl .*\\\n.*)$/m.exec(output())?.[1] ?? ''
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: '/', env: { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` } })
  const [url, ...options] = stdout.split('\0').slice(0, -1)
  t.strictSame(options.map((option, index) => index % 2 === 0 ? option : ''), ['-H', '', '-H', '', '-d', ''])
  const headers = Object.fromEntries([options[1], options[3]].map(field => (field as string).split(': ')))
  const response = await fetch(url as string, { method: 'POST', headers, body: options[5] as string })
  t.equal(response.status, 200)
  t.strictSame(await response.json(), { name: 'Boston fern', tag: 'fern' })

  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.notMatch(output(), token, 'the token itself is printed nowhere')

  const later = await startService(t, folder)
  t.equal((await postPlant(later.origin, token, '{"id":1,"name":"another"}')).status, 409, 'a later start has the same token and plants')
})

t.test('with tokens of the operator nothing is printed but log lines, none with a token', async t => {
  const folder = t.testdir()
  const { output, origin, child, ended } = await startService(t, folder, { ACCESS_TOKENS: 'alice:very-secret', LOG_LEVEL: 'trace' })
  t.equal((await postPlant(origin, 'very-secret', '{"id":1,"name":"x"}')).status, 200)
  t.equal((await postPlant(origin, 'quite-wrong', '{"id":1,"name":"x"}')).status, 401)
  child.kill('SIGINT')
  t.equal(await ended, 0)
  const lines = output().trim().split('\n').map(line => JSON.parse(line))
  t.match(lines.map(({ msg }) => msg), [/^listening at/, 'answered', 'The bearer token is not accepted.', 'answered', 'closing after SIGINT'])
  t.notMatch(output(), /very-secret|quite-wrong/)
  t.equal(existsSync(join(folder, 'data', 'access-token')), false)
})

t.test('what was acknowledged is there after kill -9', async t => {
  const folder = t.testdir()
  const env = { ACCESS_TOKENS: 'token' }
  const first = await startService(t, folder, env)
  const statuses = await Promise.all(Array.from({ length: 200 }, async (_, id) => (await postPlant(first.origin, 'token', `{"id":${id},"name":"plant ${id}"}`)).status))
  first.child.kill('SIGKILL')
  t.equal(await first.ended, 'SIGKILL')
  t.strictSame(new Set(statuses), new Set([200]))

  const second = await startService(t, folder, env)
  const again = await Promise.all(Array.from({ length: 200 }, async (_, id) => [
    (await postPlant(second.origin, 'token', `{"id":${id},"name":"another"}`)).status,
    (await postPlant(second.origin, 'token', `{"id":${id},"name":"plant ${id}"}`)).status
  ]))
  t.strictSame(again, Array(200).fill([409, 200]))
})

t.test('SIGTERM while plants come in: each is answered or refused, and what was answered is there', async t => {
  const folder = t.testdir()
  const env = { ACCESS_TOKENS: 'token' }
  const { origin, child, ended } = await startService(t, folder, env)
  const answers = Array.from({ length: 300 }, (_, id) => postPlant(origin, 'token', `{"id":${id},"name":"x"}`).then(({ status }) => status, () => undefined))
  await answers[0]
  const began = performance.now()
  child.kill('SIGTERM')
  const statuses = await Promise.all(answers)
  t.equal(await ended, 0)
  t.ok(performance.now() - began < 5000, 'no connection that fell idle is waited for')
  t.ok(statuses.every(status => status === undefined || status === 200 || status === 503))

  const again = await startService(t, folder, env)
  const acknowledged = [...statuses.entries()].filter(([, status]) => status === 200).map(([id]) => id)
  t.ok(acknowledged.length > 0)
  for (const id of acknowledged) t.equal((await postPlant(again.origin, 'token', `{"id":${id},"name":"y"}`)).status, 409)
})

t.test('a signal to npm start reaches the service', async t => {
  const npm = spawn('npm', ['start'], { detached: true, env: { ...process.env, PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: 'token' } })
  // Its group, as a service that outlives npm would be left behind.
  t.teardown(() => { try { process.kill(-(npm.pid as number), 'SIGKILL') } catch { /* it has ended */ } })
  let output = ''
  const ended = once(npm, 'close')
  await new Promise<void>(resolve => npm.stdout.setEncoding('utf8').on('data', text => {
    output += text
    if (output.includes('listening at')) resolve()
  }))
  npm.kill('SIGTERM')
  t.not(await Promise.race([ended, sleep(10_000, 'it goes on', { ref: false })]), 'it goes on')
  t.match(output, 'closing after SIGTERM')
})

t.test('a second signal ends the process at once', async t => {
  const { origin, child, ended, waitForOutput } = await startService(t, t.testdir(), { ACCESS_TOKENS: 'token' })
  // Half a request: the first signal waits for the rest of it.
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
  await exchange(Number(new URL(origin).port), 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  child.kill('SIGTERM')
  await waitForOutput(/closing after SIGTERM/)
  const began = performance.now()
  child.kill('SIGTERM')
  t.equal(await ended, 1)
  t.ok(performance.now() - began < 5000)
})

t.test('variables may stand in a file .env, and the environment outdoes it', async t => {
  const folder = t.testdir({ '.env': 'ACCESS_TOKENS=from-file\nLOG_LEVEL=loud\n' })
  const { origin, child, ended } = await startService(t, folder, { LOG_LEVEL: 'info', DATABASE_URL: 'memory:' })
  t.equal((await postPlant(origin, 'from-file', '{"id":1,"name":"x"}')).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('a wrong configuration is told whole, with exit code 2, and nothing is made', async t => {
  const folder = t.testdir()
  const { ended, output } = await startService(t, folder, { PORT: 'x', LOG_LEVEL: 'y', DATABASE_URL: 'z' })
  t.equal(await ended, 2)
  t.strictSame(output().trim().split('\n').map(line => line.split(' ')[0]), ['PORT', 'DATABASE_URL', 'LOG_LEVEL'])
  t.equal(existsSync(join(folder, 'data')), false)
})

t.test('what hinders the start is one sentence, with exit code 1', async t => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const busy = await startService(t, t.testdir(), { PORT: String(port), DATABASE_URL: 'memory:' })
  t.equal(await busy.ended, 1)
  t.match(busy.output(), new RegExp(`^Cannot listen on 127.0.0.1, port ${port}: .*EADDRINUSE.* Set HOST and PORT to listen elsewhere\\.\\n$`))

  const broken = await startService(t, t.testdir({ data: 'a file, not a folder' }))
  t.equal(await broken.ended, 1)
  t.match(broken.output(), /^The database data\/plants\.db cannot be used: .+\n$/)
})

t.test('an error that nobody caught closes the service and is told in the log', async t => {
  const trap = "data:text/javascript,process.once('SIGUSR2', () => { throw new Error('nobody caught this') })"
  const { child, ended, output } = await startService(t, t.testdir(), { ACCESS_TOKENS: 'token' }, ['--import', trap])
  child.kill('SIGUSR2')
  t.equal(await ended, 1)
  t.match(output(), /"level":60.*nobody caught this/)
})

t.test('tokens in a file change without a restart, and a broken file is told in the log', async t => {
  const folder = t.testdir({ tokens: 'old' })
  const path = join(folder, 'tokens')
  const { origin, waitForOutput } = await startService(t, folder, { ACCESS_TOKENS_FILE: path, DATABASE_URL: 'memory:' })
  t.equal((await postPlant(origin, 'old', '{"id":1,"name":"x"}')).status, 200)
  writeFileSync(path, 'not a token')
  await waitForOutput(/ACCESS_TOKENS_FILE cannot be read/)
  t.equal((await postPlant(origin, 'old', '{"id":1,"name":"x"}')).status, 200, 'the old one stays good')
})
