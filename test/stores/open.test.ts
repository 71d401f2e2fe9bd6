import t from 'tap'
import { isStoreUrl, openStore, sqlitePath } from '../../src/stores/open.ts'

t.test('isStoreUrl() accepts the URLs of memory, SQLite and PostgreSQL stores', async t => {
  const urls = [
    'memory:',
    'sqlite:plants.db',
    'sqlite:/var/lib/plants.db',
    'sqlite::memory:',
    'postgres://user:password@host:5432/plants?sslmode=require',
    'postgresql://host/plants'
  ]
  for (const url of urls) t.equal(isStoreUrl(url), true, url)
})

t.test('sqlitePath() returns the path in a SQLite URL without any change', async t => {
  for (const path of ['plants.db', '/var/lib/plants.db', '../a b/ß.db', 'C:\\plants.db', '%20?#.db', 'sqlite:x']) {
    t.equal(sqlitePath(`sqlite:${path}`), path, path)
  }
})

t.test('isStoreUrl() rejects unknown schemes, incomplete URLs and paths', async t => {
  const others = [
    '', 'plants.db', 'memory', 'memory:x', ' memory:', 'sqlite:', 'SQLITE:plants.db', 'postgres:plants', 'postgres://',
    'mysql://host/plants'
  ]
  for (const other of others) t.equal(isStoreUrl(other), false, other)
})

t.test('sqlitePath() returns undefined for other stores and for a missing path', async t => {
  for (const url of ['memory:', 'postgres://host/sqlite:plants.db', 'plants.db', 'sqlite:', '']) {
    t.equal(sqlitePath(url), undefined, url)
  }
})

t.test('openStore() rejects an unknown scheme, and its message shows no password', async t => {
  const message = /^There is no store for "mysql:"\. Use sqlite:PATH, [^@]*@HOST\/DATABASE or memory:\.$/
  await t.rejects(openStore('mysql://user:password@localhost/plants', { maxQueue: 1 }), { message })
  await t.rejects(openStore('plants.db', { maxQueue: 1 }), { message: /^There is no store for ""\. Use sqlite:PATH/ })
})

t.test('openStore() rejects a list with an empty host', async t => {
  const message = 'The PostgreSQL URL has a host or port that is not valid.'
  await t.rejects(openStore('postgres://a,,b/plants', { maxQueue: 1 }), { message })
})
