import fs from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

t.test('each new directory is synced into its parent, so that a power cut keeps it', async t => {
  const folder = t.testdir({ kept: {} })
  const opened = new Map<number, string>()
  const calls: string[][] = []
  const nameOf = (path: string) => path.slice(folder.length)
  const recorded: Partial<typeof fs> = {
    mkdirSync (path: fs.PathLike, options?: fs.Mode | fs.MakeDirectoryOptions | null) {
      calls.push(['create', nameOf(String(path))])
      return fs.mkdirSync(path, options) as undefined
    },
    openSync (path, flags) {
      const descriptor = fs.openSync(path, flags)
      opened.set(descriptor, String(path))
      return descriptor
    },
    fsyncSync (descriptor) {
      calls.push(['sync', nameOf(opened.get(descriptor) ?? '')])
      fs.fsyncSync(descriptor)
    }
  }
  const { makeDirectory } = await t.mockImport<typeof import('../../src/private-files.ts')>(
    '../../src/private-files.ts', { 'node:fs': { ...fs, ...recorded } }
  )
  makeDirectory(join(folder, 'kept', 'new', 'data'))
  t.strictSame(calls, [
    ['create', '/kept/new'], ['sync', '/kept'],
    ['create', '/kept/new/data'], ['sync', '/kept/new']
  ])
})
