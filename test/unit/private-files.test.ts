import fs from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeDirectory } from '../../src/private-files.ts'
import { replaceExports } from '../fixtures/builtins.ts'

t.test('each new directory is synced into its parent, so that a power cut keeps it', t => {
  const folder = t.testdir({ kept: {} })
  const opened = new Map<number, string>()
  const calls: string[][] = []
  const nameOf = (path: string) => path.slice(folder.length)
  const { mkdirSync, openSync, fsyncSync } = fs
  replaceExports(t, fs, {
    mkdirSync (path: fs.PathLike, options?: fs.Mode | fs.MakeDirectoryOptions | null) {
      calls.push(['create', nameOf(String(path))])
      return mkdirSync(path, options) as undefined
    },
    openSync (path, flags) {
      const descriptor = openSync(path, flags)
      opened.set(descriptor, String(path))
      return descriptor
    },
    fsyncSync (descriptor) {
      calls.push(['sync', nameOf(opened.get(descriptor) ?? '')])
      fsyncSync(descriptor)
    }
  })
  makeDirectory(join(folder, 'kept', 'new', 'data'))
  t.strictSame(calls, [
    ['create', '/kept/new'], ['sync', '/kept'],
    ['create', '/kept/new/data'], ['sync', '/kept/new']
  ])
  t.end()
})
