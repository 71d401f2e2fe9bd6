import { resolve } from 'node:path'
import t from 'tap'
import {
  checkStoreUrl, describeStore, isStoreUrl, lacksFile, openStore, sqlitePath
} from '../../../src/stores/open.ts'

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
  for (const path of [
    'plants.db', '/var/lib/plants.db', '../a b/ß.db', 'C:\\plants.db', '%20?#.db', 'sqlite:x'
  ]) {
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
  await t.rejects(
    openStore('plants.db', { maxQueue: 1 }),
    { message: /^There is no store for ""\. Use sqlite:PATH/ }
  )
})

t.test('openStore() rejects a list with an empty host', async t => {
  const message = 'The PostgreSQL URL has a host or port that is not valid.'
  await t.rejects(openStore('postgres://a,,b/plants', { maxQueue: 1 }), { message })
})

t.test('checkStoreUrl() refuses paths that name another file than the one that was meant', async t => {
  const ends = 'has a path with a control character or a blank at one end'
  const refused = {
    'sqlite:plants.db\r': ends,
    'sqlite: plants.db': ends,
    'sqlite:file:/a/plants.db': 'has a URI: write sqlite:/a/plants.db',
    'sqlite:plants.db?mode=ro': 'has parameters, which sqlite:PATH does not have',
    'sqlite:plants.db ': ends,
    'sqlite:plants\u0000.db': ends,
    'sqlite:data/': 'has the path of a folder, but must name a file',
    'sqlite:C:\\data\\': 'has the path of a folder, but must name a file',
    'sqlite:$HOME/plants.db': 'has a path with $: write the path without variables',
    'sqlite:~/plants.db': 'has a path with ~: write the path of the home folder',
    'sqlite://data/plants.db': 'has two slashes: write sqlite:data/plants.db or sqlite:/data/plants.db'
  }
  for (const [url, message] of Object.entries(refused)) {
    t.throws(
      () => checkStoreUrl(url), { message }, url
    )
  }
  for (const url of ['sqlite:a b.db', 'sqlite:/a/b.db', 'sqlite:///a/b.db', 'sqlite:ü?#.db', 'sqlite:a~/b.db']) {
    t.doesNotThrow(() => checkStoreUrl(url), url)
  }
})

t.test('checkStoreUrl() refuses a password that would be taken for a host or a path', async t => {
  const message = 'has @, /, ? or # in a password or parameter: percent-encode them as %40, %2F, %3F and %23'
  const refused = [
    'u:1234#pw@h/d', 'u:12/secret@h', 'u:12?secret@h/d', 'u:p@1/x@h/d', 'u:p@1?x@h/d', 'u:p@h/d#x'
  ]
  for (const rest of refused) t.throws(() => checkStoreUrl(`postgres://${rest}`), { message }, rest)
  for (const rest of ['u:p%40%2F@h/d', 'u:p@h:5433/d', 'h/d?user=a%40b']) {
    t.doesNotThrow(() => checkStoreUrl(`postgres://${rest}`), rest)
  }
})

t.test('lacksFile() says whether a database file would be created', async t => {
  const folder = t.testdir({ 'old.db': '' })
  const urls = [`sqlite:${folder}/old.db`, `sqlite:${folder}/new.db`, 'memory:', 'postgres://u@a/d']
  t.strictSame(urls.map(lacksFile), [false, true, false, false])
})

t.test('describeStore() names the store without a password', async t => {
  const folder = t.testdir({ 'old.db': '' })
  t.equal(describeStore(`sqlite:${folder}/old.db`), `the database ${resolve(folder, 'old.db')}`)
  t.equal(describeStore('sqlite:none/new.db'), `the new database ${resolve('none/new.db')}`)
  t.equal(describeStore('memory:'), 'memory, until the process ends')
  t.equal(
    describeStore('postgres://u:secret@a,b:5433/plants?application_name=p'),
    'PostgreSQL at a:5432, b:5433, database plants'
  )
  t.equal(describeStore('postgres://u:secret@a/plants?host=b&port=1'), 'PostgreSQL at b:1, database plants')
  t.equal(describeStore('postgres://u:secret@a'), 'PostgreSQL at a:5432')
  const socket = 'postgres://u:secret@/plants?host=/run/pg&port=1'
  t.equal(describeStore(socket), 'PostgreSQL at /run/pg:1, database plants')
  t.intercept(process, 'env', { value: { PGDATABASE: 'd', PGHOST: 'b', PGPORT: '1' } })
  t.equal(describeStore('postgres://u@/'), 'PostgreSQL at b:1, database d')
})
