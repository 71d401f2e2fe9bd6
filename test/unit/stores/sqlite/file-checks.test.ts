import fs, { realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { checkFiles } from '../../../../src/stores/sqlite/file-checks.ts'
import { replaceExports } from '../../../fixtures/builtins.ts'

t.test('a file that is mounted by itself is refused; a mounted folder is used', async t => {
  const folder = realpathSync(t.testdir({ 'my plants.db': 'x'.repeat(512) }))
  const path = join(folder, 'my plants.db')
  const table = join(folder, 'mountinfo')
  // As in proc(5): a blank and a backslash are octal numbers.
  const mount = (point: string, type = 'ext4') => {
    const escaped = point.replaceAll('\\', '\\134').replaceAll(' ', '\\040')
    const root = '36 35 98:0 / / rw - ext4 /dev/sda rw\n'
    writeFileSync(table, `${root}37 36 98:0 /a ${escaped} rw shared:1 - ${type} /dev/sda rw\n`)
  }
  t.doesNotThrow(() => checkFiles(path, table), 'a system without this table')
  mount(folder)
  t.doesNotThrow(() => checkFiles(path, table))
  mount(path)
  const message = 'it is mounted without its folder, which has the log; mount the folder instead'
  t.throws(() => checkFiles(path, table), { message })
})

t.test('a network file system is refused', async t => {
  const folder = realpathSync(t.testdir({ 'plants.db': 'x'.repeat(512) }))
  const table = join(folder, 'mountinfo')
  const mount = (point: string, type: string) => {
    writeFileSync(table, `36 35 98:0 / / rw - ext4 /dev/sda rw\n37 36 0:1 / ${point} rw - ${type} host:/ rw\n`)
  }
  for (const type of ['nfs', 'nfs4', 'cifs', 'fuse.sshfs', 'fuse.ceph-fuse', 'glusterfs']) {
    mount(folder, type)
    for (const name of ['plants.db', 'new.db']) {
      const message = `it is on a network file system (${type}), where two machines lose plants; ` +
        'use a disk of this machine, or PostgreSQL'
      t.throws(() => checkFiles(join(folder, name), table), { message })
    }
    mount(`${folder}-other`, type)
    t.doesNotThrow(() => checkFiles(join(folder, 'plants.db'), table))
  }
  for (const type of ['overlay', 'virtiofs', 'fuse.bindfs']) {
    mount(folder, type)
    t.doesNotThrow(() => checkFiles(join(folder, 'plants.db'), table))
  }
  mount(folder, `nfs host:/ rw\n38 36 0:2 / ${dirname(folder)} rw - ext4`)
  t.doesNotThrow(() => checkFiles(join(folder, 'plants.db'), table), 'a later mount hides the share')
})

t.test('a file and its log that another process creates during the check are used', async t => {
  const path = join(t.testdir(), 'plants.db')
  const { lstatSync } = fs
  replaceExports(t, fs, {
    lstatSync: (...args: Parameters<typeof lstatSync>) => {
      const found = lstatSync(...args)
      if (found === undefined) {
        writeFileSync(path, 'x'.repeat(512))
        writeFileSync(`${path}-wal`, 'x'.repeat(512))
      }
      return found
    }
  } as Partial<typeof fs>)
  t.doesNotThrow(() => checkFiles(path))
})
