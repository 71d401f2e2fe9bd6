import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createFileHandler } from '../../../../src/contract/docs/docs-files.ts'
import { startApp } from '../../../fixtures/app.ts'

const script = 'x'.repeat(2000)

const type = 'text/html; charset=utf-8'
const rendered: Record<string, { type: string, bytes: Buffer }> = {
  '': { type, bytes: Buffer.from('<a href="/static/a.js">"/static/"</a>') },
  '/static/made.html': { type, bytes: Buffer.from('made') },
  '/json': { type: 'application/json', bytes: Buffer.from('{"url":"/static/a.js"}') }
}

/** An app with a page and a folder of files, held in memory. */
async function startPlugin (
  t: Test, path: string, configuration = ''
): Promise<{ app: FastifyInstance, asked: string[] }> {
  const app = fastify()
  t.teardown(() => app.close())
  const asked: string[] = []
  const answerFile = createFileHandler(path, configuration)
  const openPage = async () => async (below: string) => {
    asked.push(below)
    return rendered[below]
  }
  for (const below of ['', '/json', '/static/*']) {
    app.get(below === '' ? '/page' : below, answerFile(below, openPage))
  }
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
  const long = await get('a.js', `gzip${',a'.repeat(126)}`)
  t.equal(long.headers['content-encoding'], 'gzip')
  const tooLong = await get('a.js', `gzip${',a'.repeat(126)},`)
  t.equal(tooLong.headers['content-encoding'], undefined, 'parsing it takes too long')
  const { headers, body } = await get('b.bin', 'gzip')
  t.strictSame([headers['content-encoding'], body], [undefined, 'small'])
  t.equal(headers['content-type'], 'application/octet-stream')
})

t.test('each response is made or read once', async t => {
  const path = folder(t)
  const { app, asked } = await startPlugin(t, path)
  const [page, made] = [await app.inject('/page'), await app.inject('/static/made.html')]
  rmSync(path, { recursive: true })
  t.equal((await app.inject('/page?x')).body, page.body)
  t.strictSame([(await app.inject('/static/%6dade.html')).body, made.body], ['made', 'made'])
  t.strictSame(asked, ['', '/static/made.html'])
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

t.test('a client that has the file gets 304', async t => {
  const { app } = await startPlugin(t, folder(t))
  for (const url of ['/page', '/static/a.js']) {
    const { headers: { etag } } = await app.inject(url)
    t.match(etag, /^W\/"[\w-]{22}"$/)
    for (const known of [String(etag), `"x", ${etag}`, String(etag).slice(2), '*']) {
      const response = await app.inject({ url, headers: { 'if-none-match': known } })
      t.equal(response.statusCode, 304, known)
      t.strictSame([response.body, response.headers.etag], ['', etag])
      t.equal(response.headers['content-type'], undefined)
    }
    for (const other of ['"x"', `${etag}${','.repeat(256)}`]) {
      const { statusCode } = await app.inject({ url, headers: { 'if-none-match': other } })
      t.equal(statusCode, 200)
    }
  }
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
  const asked = app.inject({ method: 'HEAD', url: '/static/a.js' })
  await sending[0]
  t.equal(begun, 1, 'one in each turn')
  now = 501
  t.equal((await asked).statusCode, 200, 'HEAD sends no bytes')
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
