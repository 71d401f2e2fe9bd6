import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { checkMark, removeMark, writeMark } from '../../../../src/stores/sqlite/unsynced-mark.ts'

const [thisBoot, nextBoot] = ['0000000a-0000-4000-8000-000000000000', '0000000b-0000-4000-8000-000000000000']

function setUp (t: Test) {
  const folder = t.testdir()
  const path = join(folder, 'plants.db')
  const bootId = join(folder, 'boot_id')
  const boot = (id: string) => writeFileSync(bootId, `${id}\n`)
  boot(thisBoot)
  return { path, mark: `${path}-unsynced`, bootId, boot }
}

t.test('a mark prevents a start in the same boot, not in a later one', async t => {
  const { path, mark, bootId, boot } = setUp(t)
  t.doesNotThrow(() => checkMark(path, bootId), 'no mark')
  t.equal(writeMark(path, bootId), undefined)
  t.equal(readFileSync(mark, 'utf8'), thisBoot)
  const message = 'a sync of it has failed, and its pages may be only in the cache of this machine; ' +
    `restart the machine, or unmount and mount the file system; then remove ${mark} if it is still there`
  t.throws(() => checkMark(path, bootId), { message })
  boot(nextBoot)
  t.doesNotThrow(() => checkMark(path, bootId))
  removeMark(path)
  t.equal(existsSync(mark), false)
  t.doesNotThrow(() => removeMark(path))
})

t.test('a mark prevents each start where the boot is not known', async t => {
  const { path, mark, bootId } = setUp(t)
  t.equal(writeMark(path, join(path, 'missing')), undefined)
  t.throws(() => checkMark(path, bootId), /a sync of it has failed/, 'a mark without an id')
  writeFileSync(mark, thisBoot)
  t.throws(() => checkMark(path, join(path, 'missing')), /a sync of it has failed/)
})

t.test('a mark that cannot be written is a warning', async t => {
  const path = join(t.testdir(), 'missing', 'plants.db')
  const warning = String(writeMark(path))
  t.match(warning, /^A sync of the database .*plants\.db has failed, and so has the file .*: ENOENT/)
  t.match(warning, /\. Restart the machine, or unmount and mount the file system, before the next/)
})

const isLinux = process.platform === 'linux'
t.test('Linux tells its boot id', { skip: !isLinux }, async t => {
  const path = join(t.testdir(), 'plants.db')
  t.equal(writeMark(path), undefined)
  t.match(readFileSync(`${path}-unsynced`, 'utf8'), /^[0-9a-f-]{36}$/)
  t.throws(() => checkMark(path), /a sync of it has failed/)
})
