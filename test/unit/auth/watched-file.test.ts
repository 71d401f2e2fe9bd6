import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type FileContent, followFile, readWatchedFile } from '../../../src/auth/watched-file.ts'

/** Follows a file; `seen` has the texts and the messages of errors that were reported. */
function follow (t: Test, path: string) {
  const seen: string[] = []
  const stop = followFile(path, readWatchedFile(path), (found: FileContent | Error) => {
    seen.push(found instanceof Error ? found.message : found.text)
  })
  t.teardown(stop)
  const waitFor = async (count: number) => {
    for (let waited = 0; seen.length < count && waited < 10_000; waited += 20) await sleep(20)
  }
  return { seen, stop, waitFor }
}

t.test('a file that cannot be read again is refused with a reason', async t => {
  const folder = t.testdir({ large: 'x'.repeat(1024 * 1024 + 1) })
  const reasons = {
    missing: 'cannot be read: no such file or directory (ENOENT)',
    'large/below': 'cannot be read: not a directory (ENOTDIR)',
    '.': 'is a folder, but must be a file',
    large: 'is larger than 1 MiB'
  }
  for (const [name, message] of Object.entries(reasons)) {
    t.throws(() => readWatchedFile(join(folder, name)), { message }, name)
  }
  t.throws(() => readWatchedFile('/dev/null'), { message: /regular file/ }, 'a device')
})

t.test('each change is reported once, also a swapped symbolic link and a file that disappears', async t => {
  const folder = t.testdir({ a: { tokens: 'one' }, b: { tokens: 'two' } })
  const link = join(folder, 'current')
  symlinkSync('a', link)
  const { seen, waitFor } = follow(t, join(link, 'tokens'))
  // Kubernetes swaps the link to the folder of a secret by a rename.
  symlinkSync('b', join(folder, 'next'))
  renameSync(join(folder, 'next'), link)
  await waitFor(1)
  rmSync(link)
  await waitFor(2)
  mkdirSync(link)
  writeFileSync(join(link, 'tokens'), 'two')
  await waitFor(3)
  truncateSync(join(link, 'tokens'))
  await waitFor(4)
  await sleep(1200)
  t.strictSame(seen, ['two', 'cannot be read: no such file or directory (ENOENT)', 'two', ''])
})

t.test('a file that goes on changing is reported only at its end', async t => {
  const path = join(t.testdir({ tokens: '' }), 'tokens')
  const { seen, waitFor } = follow(t, path)
  for (let round = 0; round < 40; round++) {
    writeFileSync(path, 'x'.repeat(round))
    await sleep(50)
  }
  writeFileSync(path, 'the end')
  await waitFor(1)
  t.strictSame(seen, ['the end'])
})

t.test('nothing is reported after the end', async t => {
  const path = join(t.testdir({ tokens: 'one' }), 'tokens')
  const { seen, stop } = follow(t, path)
  stop()
  writeFileSync(path, 'two')
  await sleep(1500)
  t.strictSame(seen, [])
})
