import t from 'tap'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService } from '../../fixtures/service.ts'

t.test('by default an address may fail 60 times, and a flood does not fill the log', async t => {
  const env = { DATABASE_URL: 'memory:', ACCESS_TOKENS: testToken, TRUST_PROXY: '127.0.0.1' }
  const { origin, child, ended, output } = await startService(t, t.testdir(), env)
  const statuses = []
  for (let nth = 0; nth < 500; nth++) statuses.push((await postPlant(origin, 'bad', '{}')).status)
  t.strictSame(statuses, [...Array(60).fill(401), ...Array(440).fill(429)])
  t.equal((await postPlant(origin, testToken, '{"id":1,"name":"fern"}')).status, 200)
  child.kill('SIGTERM')
  t.equal(await ended, 0)
  t.equal(output().match(/not accepted/g)?.length, 60)
  t.match(output(), /"level":40,.*"msg":"127.0.0.1: 440 refused requests have no line/)
})
