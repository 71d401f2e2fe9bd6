import t from 'tap'
import { createLog } from '../src/log.ts'
import { logLines, startApp } from './fixtures/app.ts'

t.test('the log has the level asked for, on a terminal and off it', async t => {
  for (const output of [{ isTTY: true }, { isTTY: false }, {}]) {
    const log = createLog('warn', output)
    t.equal(log.level, 'warn')
    log.flush()
  }
})

t.test('at level debug each answer is a line that names the caller, without token, query or body', async t => {
  const { log, lines } = logLines('debug')
  const { app } = await startApp(t, { log })
  await app.inject({ method: 'POST', url: '/plants?secret=1', headers: { authorization: 'Bearer a-good-token', 'content-type': 'application/json' }, payload: '{"id":1,"name":"fern"}' })
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] as string), { level: 20, method: 'POST', path: '/plants', caller: 'test', status: 200, ms: Number, msg: 'answered' })
  t.notMatch(lines[0], /secret|a-good-token|fern/)
  await app.inject('/livez')
  t.match(JSON.parse(lines[1] as string), { path: '/livez', caller: '127.0.0.1' }, 'where nobody is asked for a token, the address')
})

t.test('at level info an answer is no line', async t => {
  const { log, lines } = logLines()
  const { post } = await startApp(t, { log })
  t.equal((await post({ id: 1, name: 'fern' })).statusCode, 200)
  t.strictSame(lines, [])
})
