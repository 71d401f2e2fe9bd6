import t from 'tap'
import { createLog } from '../src/log.ts'
import { authorization, json, logLines, startApp } from './fixtures/app.ts'

t.test('createLog() sets the level for a terminal and for other outputs', async t => {
  for (const output of [{ isTTY: true }, { isTTY: false }, {}]) {
    const log = createLog('warn', output)
    t.equal(log.level, 'warn')
    log.flush()
  }
})

t.test('level debug logs one line per response with its caller, and no token, query or body', async t => {
  const { log, lines } = logLines('debug')
  const { app } = await startApp(t, { log })
  await app.inject({
    method: 'POST',
    url: '/plants?secret=1',
    headers: { authorization, 'content-type': json },
    payload: '{"id":1,"name":"fern"}'
  })
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] as string), {
    level: 20,
    method: 'POST',
    path: '/plants',
    caller: 'test',
    status: 200,
    ms: Number,
    msg: 'response sent'
  })
  t.notMatch(lines[0], /secret|a-good-token|fern/)
  await app.inject('/livez')
  const livez = { path: '/livez', caller: '127.0.0.1' }
  t.match(JSON.parse(lines[1] as string), livez, 'a path without a token logs the address as the caller')
})

t.test('level info logs no successful response', async t => {
  const { log, lines } = logLines()
  const { post } = await startApp(t, { log })
  t.equal((await post({ id: 1, name: 'fern' })).statusCode, 200)
  t.strictSame(lines, [])
})
