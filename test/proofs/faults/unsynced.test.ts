// A checkpoint beside a reader whose sync fails, in the whole service: it stops storing plants, ends
// without closing the file, and starts only after the file system was mounted again.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { testToken } from '../../fixtures/secrets.ts'
import { postPlant, startService } from '../../fixtures/service.ts'

t.test('a failed sync of merged pages is 503 until a mount, after which every plant is there', async t => {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const flag = join(folder, 'fail')
  const settings = { ACCESS_TOKENS: testToken, DATABASE_URL: `sqlite:${path}`, FAIL_SYNC: flag }
  const hook = ['--import', resolve('test/fixtures/failing-sync.mjs')]
  const { origin, child, ended, output } = await startService(t, folder, settings, hook)
  let id = 0
  const acknowledged: number[] = []
  /** Sends plants of 60 KB. */
  const send = async (plants: number): Promise<number> => {
    let status = 0
    for (let nth = 0; nth < plants; nth++) {
      ({ status } = await postPlant(origin, testToken, `{"id":${++id},"name":"${'x'.repeat(60_000)}"}`))
      if (status === 200) acknowledged.push(id)
    }
    return status
  }
  t.equal(await send(20), 200)
  const reader = new DatabaseSync(path)
  reader.exec('BEGIN; SELECT count(*) FROM plants')
  writeFileSync(flag, '')
  t.equal(await send(60), 503)
  rmSync(flag)
  t.equal(await send(1), 503, 'although syncs succeed again')
  t.equal((await fetch(`${origin}/readyz`)).status, 503)
  t.match(output(), /its pages may not be on the disk/)
  reader.close()
  child.kill('SIGTERM')
  t.equal(await ended, 'SIGKILL')
  t.ok(existsSync(`${path}-wal`))

  const refused = await startService(t, folder, settings)
  t.equal(await refused.ended, 1)
  t.match(refused.output(), /a sync of it has failed/, 'in the same boot')
  t.ok(existsSync(`${path}-wal`))
  // As after a mount.
  rmSync(`${path}-unsynced`)
  const next = await startService(t, folder, settings)
  for (const id of acknowledged) {
    const { status } = await postPlant(next.origin, testToken, `{"id":${id},"name":"${'x'.repeat(60_000)}"}`)
    t.equal(status, 200, `plant ${id}`)
  }
  next.child.kill('SIGTERM')
  t.equal(await next.ended, 0)
})
