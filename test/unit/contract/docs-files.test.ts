import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { holdFiles } from '../../../src/contract/docs-files.ts'
import { startApp } from '../../fixtures/app.ts'

const script = 'x'.repeat(2000)
const mtime = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} /

/** A plugin with a page and a folder of files, held in memory. */
async function startPlugin (
  t: Test, path: string, configuration = ''
): Promise<{ app: FastifyInstance, asked: string[] }> {
  const app = fastify()
  t.teardown(() => app.close())
  const asked: string[] = []
  await app.register(async docs => {
    holdFiles(docs, path, configuration)
    docs.get('/page', async (request, reply) => {
      asked.push(request.url)
      return reply.type('text/html; charset=utf-8').send('<a href="/static/a.js">"/static/"</a>')
    })
    docs.get('/json', async () => ({ url: '/static/a.js' }))
    docs.get('/static/*', async () => 'never called')
  })
  return { app, asked }
}

const folder = (t: Test) => t.testdir({ 'a.js': script, 'b.bin': 'small' })

t.test('a file is compressed for clients that accept it, if that makes it smaller', async t => {
  const { app } = await startPlugin(t, folder(t))
  const get = (name: string, encoding: string) => {
    const headers = encoding === '' ? {} : { 'accept-encoding': encoding }
    return app.inject({ url: `/static/${name}`, headers })
  }
  for (const encoding of ['', 'identity', 'gzip;q=0', 'br', 'gzip;q=0.5, identity']) {
    const { headers, body } = await get('a.js', encoding)
    t.equal(body, script, encoding)
    t.equal(headers['content-encoding'], undefined, encoding)
    t.equal(headers.vary, 'Accept-Encoding')
  }
  for (const encoding of ['gzip', 'gzip, deflate, br, zstd', '*']) {
    const { headers, rawPayload } = await get('a.js', encoding)
    t.equal(String(gunzipSync(rawPayload)), script)
    t.equal(headers['content-encoding'], 'gzip')
    t.equal(Number(headers['content-length']), rawPayload.length)
  }
  const { headers, body } = await get('b.bin', 'gzip')
  t.strictSame([headers['content-encoding'], body], [undefined, 'small'])
  t.equal(headers['content-type'], 'application/octet-stream')
})

t.test('each response is made or read once', async t => {
  const path = folder(t)
  const { app, asked } = await startPlugin(t, path)
  const [first, slash] = [await app.inject('/page'), await app.inject('/page?/')]
  rmSync(path, { recursive: true })
  t.equal((await app.inject('/page')).body, first.body)
  t.equal((await app.inject('/page?/')).body, slash.body)
  t.strictSame(asked, ['/page', '/page?/'], 'the links depend on the slash')
  t.equal((await app.inject('/static/a.js')).body, script)
  t.equal((await app.inject('/static/c.js')).statusCode, 404)
})

t.test('files that could not be read are read again', async t => {
  const path = join(t.testdir(), 'later')
  const { app } = await startPlugin(t, path)
  t.equal((await app.inject('/static/a.js')).statusCode, 500)
  mkdirSync(path)
  writeFileSync(join(path, 'a.js'), script)
  t.equal((await app.inject('/static/a.js')).body, script)
})

t.test('a link has a version, with which a browser keeps the file', async t => {
  const path = folder(t)
  const { app } = await startPlugin(t, path)
  const { headers, body } = await app.inject('/page')
  const [, link = ''] = /href="(\/static\/a\.js\?v=[\w-]{16})">"\/static\/"</.exec(body) ?? []
  t.equal(headers['cache-control'], 'no-cache')
  const control = async (url: string) => (await app.inject(url)).headers['cache-control']
  t.equal(await control(link), 'public, max-age=31536000, immutable')
  t.equal(await control('/static/a.js'), 'no-cache')
  t.equal(await control('/static/a.js?v=another'), 'no-cache')
  t.strictSame((await app.inject('/json')).json(), { url: '/static/a.js' }, 'only pages have links')
  const { app: another } = await startPlugin(t, path, 'changed')
  t.not((await another.inject('/page')).body, body)
})

t.test('a client that has the file gets 304, and a condition that does not hold 412', async t => {
  const { app } = await startPlugin(t, folder(t))
  const { headers: { etag, 'last-modified': modified } } = await app.inject('/static/a.js')
  t.match(etag, /^W\/"[\w-]{22}"$/)
  t.match(modified, mtime)
  const tag = String(etag)
  const date = String(modified)
  const old = 'Sat, 01 Jan 2000 00:00:00 GMT'
  const cases: Array<[number, Record<string, string>]> = [
    [304, { 'if-none-match': tag }],
    [304, { 'if-none-match': `"x", ${tag}` }],
    [304, { 'if-none-match': '*' }],
    [304, { 'if-modified-since': date }],
    [200, { 'if-none-match': '"x"', 'if-modified-since': date }],
    [200, { 'if-modified-since': old }],
    [200, { 'if-match': tag, 'if-unmodified-since': old }],
    [200, { 'if-unmodified-since': date }],
    [200, { 'if-modified-since': 'no date' }],
    [412, { 'if-match': '"x"' }],
    [412, { 'if-unmodified-since': old }]
  ]
  for (const [status, headers] of cases) {
    const response = await app.inject({ url: '/static/a.js', headers })
    t.equal(response.statusCode, status, JSON.stringify(headers))
    if (status !== 304) continue
    t.strictSame([response.body, response.headers.etag], ['', tag])
    t.equal(response.headers['content-type'], undefined)
  }
  const page = await app.inject('/page')
  const headers = { 'if-none-match': String(page.headers.etag) }
  t.equal((await app.inject({ url: '/page', headers })).statusCode, 304)
  t.equal(page.headers['last-modified'], undefined)
})

t.test('one range of a file is 206; several, or those of another file, are the whole', async t => {
  const { app } = await startPlugin(t, folder(t))
  const { headers: { etag } } = await app.inject('/static/b.bin')
  const cases: Array<[number, string, (string | undefined)?, string?]> = [
    [206, 'bytes=0-1', 'sm', '0-1'],
    [206, 'bytes=1-', 'mall', '1-4'],
    [206, 'bytes=-2', 'll', '3-4'],
    [206, 'bytes=-9', 'small', '0-4'],
    [206, 'bytes=4-99', 'l', '4-4'],
    [200, 'bytes=0-1,3-4', 'small'],
    [200, 'bytes=3-1', 'small'],
    [200, 'bytes=-', 'small'],
    [200, 'lines=1-2', 'small'],
    [416, 'bytes=5-', undefined, '*'],
    [416, 'bytes=-0', undefined, '*']
  ]
  for (const [status, range, body, part] of cases) {
    const headers = { range, 'accept-encoding': 'gzip' }
    const response = await app.inject({ url: '/static/b.bin', headers })
    t.equal(response.statusCode, status, range)
    if (body !== undefined) t.equal(response.body, body, range)
    t.equal(response.headers['content-range'], part && `bytes ${part}/5`, range)
  }
  const inFile = async (tag: string) => {
    const headers = { range: 'bytes=0-1', 'if-range': tag }
    return (await app.inject({ url: '/static/b.bin', headers })).statusCode
  }
  t.strictSame([await inFile(String(etag)), await inFile('"x"')], [206, 200])
})

t.test('HEAD gets the header fields of GET', async t => {
  const { app } = await startPlugin(t, folder(t))
  for (const url of ['/page', '/page', '/json', '/static/a.js']) {
    const got = await app.inject(url)
    const asked = await app.inject({ method: 'HEAD', url })
    t.equal(asked.body, '')
    for (const response of [got, asked]) delete response.headers.date
    t.strictSame(asked.headers, got.headers, url)
  }
})

t.test('large files take turns, and one that waits for half a second is 503', async t => {
  const { app } = await startPlugin(t, t.testdir({ 'a.js': 'x'.repeat(600_000) }))
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const get = () => app.inject('/static/a.js')
  t.equal((await get()).statusCode, 200)
  let begun = 0
  const sending = Array.from({ length: 3 }, () => get().finally(() => { begun++ }))
  await sending[0]
  t.equal(begun, 1, 'one in each turn')
  now = 501
  for (const sent of sending.slice(1)) {
    const { statusCode, headers } = await sent
    t.equal(statusCode, 503)
    t.strictSame([headers['cache-control'], headers.etag], [undefined, undefined])
  }
})

t.test('Vary keeps what other hooks have set', async t => {
  const { app } = await startApp(t, { corsOrigin: ['https://a.example'] })
  t.equal((await app.inject('/docs')).headers.vary, 'Origin, Accept-Encoding')
})
