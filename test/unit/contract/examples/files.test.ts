// The example files, over a socket: uploads and downloads are streams.
import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { buildFiles } from '../../../../src/contract/examples/files/app.ts'
import { listen } from '../../../fixtures/app.ts'

async function startFiles (t: Test) {
  const folder = t.testdir()
  const app = await buildFiles(folder, { ApiKey: key => key === 'key' ? { name: 'ann' } : undefined })
  t.teardown(() => app.close())
  const { origin } = await listen(app)
  return {
    kept: () => readdirSync(folder),
    send: (method: string, path: string, body?: string | FormData, headers = {}) => fetch(`${origin}/v1${path}`, {
      method, headers: { authorization: 'Bearer key', ...headers }, ...body === undefined ? {} : { body }
    })
  }
}

function formWith (bytes: string, purpose = 'batch', type = 'text/csv'): FormData {
  const form = new FormData()
  form.set('file', new Blob([bytes], { type }), 'ü b.csv')
  form.set('purpose', purpose)
  return form
}

t.test('a file is uploaded, described, downloaded and deleted', async t => {
  const { send, kept } = await startFiles(t)
  const bytes = 'id,name\n'.repeat(50_000)
  const created = await send('POST', '/files', formWith(bytes))
  t.equal(created.status, 200)
  const file: any = await created.json()
  t.match(file, { bytes: bytes.length, filename: 'ü b.csv', purpose: 'batch', created_at: Number })
  t.strictSame(await (await send('GET', `/files/${file.id}`)).json(), file)
  t.strictSame(await (await send('GET', '/files')).json(), { data: [file], total_bytes: bytes.length })
  t.strictSame(await (await send('GET', '/files?min_bytes=9007199254740991')).json(), { data: [], total_bytes: 0 })
  const download = await send('GET', `/files/${file.id}/content`)
  t.match(Object.fromEntries(download.headers), {
    'content-type': /^text\/csv/, 'content-disposition': "attachment; filename*=UTF-8''%C3%BC%20b.csv"
  })
  t.equal(await download.text(), bytes)
  t.equal((await send('DELETE', `/files/${file.id}`)).status, 204)
  const gone = await send('GET', `/files/${file.id}`)
  t.strictSame([gone.status, await gone.json()], [404, { error: { message: `There is no file ${file.id}.` } }])
  t.strictSame(kept(), [])
})

t.test('bytes of any media type replace those of a file', async t => {
  const { send } = await startFiles(t)
  const { id }: any = await (await send('POST', '/files', formWith('old'))).json()
  const replaced = await send('PUT', `/files/${id}/content`, 'PNG', { 'content-type': 'image/png' })
  t.match(await replaced.json(), { id, bytes: 3 })
  const download = await send('GET', `/files/${id}/content`)
  t.equal(download.headers.get('content-type'), 'image/png')
  t.equal(await download.text(), 'PNG')
})

t.test('a part whose media type is none is bytes', async t => {
  const { send } = await startFiles(t)
  const part = (fields: string, content: string) => `--B\r\nContent-Disposition: form-data; ${fields}\r\n\r\n${content}\r\n`
  const fields = 'name="file"\r\nContent-Type: nonsense'
  const body = `${part(fields, 'x')}${part('name="purpose"', 'batch')}--B--\r\n`
  const created = await send('POST', '/files', body, { 'content-type': 'multipart/form-data; boundary=B' })
  const { id, filename }: any = await created.json()
  t.equal(filename, 'unnamed')
  const download = await send('GET', `/files/${id}/content`)
  t.strictSame([download.status, download.headers.get('content-type')], [200, 'application/octet-stream'])
})

t.test('an upload that breaks the contract or a limit leaves nothing behind', async t => {
  const { send, kept } = await startFiles(t)
  const invalid = await send('POST', '/files', formWith('x', 'unknown'))
  t.strictSame([invalid.status, kept()], [400, []])
  t.match(await invalid.json(), { error: { message: /purpose/ } })
  const large = await send('POST', '/files', formWith('x'.repeat(1_000_001)))
  t.strictSame([large.status, kept()], [413, []])
})
