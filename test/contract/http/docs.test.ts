import { parseYaml } from '@redocly/openapi-core'
import fastify from 'fastify'
import t from 'tap'
import { document } from '../../../generated/document.ts'
import { serveDocs } from '../../../src/contract/http/docs.ts'
import { startApp } from '../../fixtures/app.ts'

t.test('/docs/json and /docs/yaml serve the contract', async t => {
  const { app } = await startApp(t)
  const json = await app.inject('/docs/json')
  t.match(json.headers['content-type'], /application\/json/)
  t.strictSame(json.json(), document)
  t.strictSame(parseYaml((await app.inject('/docs/yaml')).body), document)
})

t.test('the configured base URL replaces {base_url}, and the page may call it', async t => {
  const { app } = await startApp(t, { baseUrl: 'https://plants.example.com/store' })
  const [server] = (await app.inject('/docs/json')).json().servers
  t.equal(server.variables.base_url.default, 'https://plants.example.com/store')
  const { headers } = await app.inject('/docs')
  t.match(headers['content-security-policy'], /connect-src 'self' https:\/\/plants\.example\.com;/)
  t.equal(document.servers[0]?.variables.base_url.default, '/', 'the generated contract does not change')
})

t.test('a contract without servers or these variables is served unchanged', async t => {
  for (const servers of [undefined, [{ url: '/' }], [{ url: '/{v}', variables: { v: { default: 'v1' } } }]]) {
    const app = fastify()
    t.teardown(() => app.close())
    const contract = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {}, ...servers && { servers } }
    await serveDocs(app, contract, { other: 'x' })
    t.strictSame((await app.inject('/docs/json')).json(), contract)
  }
})

t.test('the page works over plain http away from localhost', async t => {
  const { app } = await startApp(t)
  const { statusCode, headers } = await app.inject('/docs')
  t.equal(statusCode, 200)
  t.notMatch(headers['content-security-policy'], /upgrade-insecure-requests/)
})

t.test('conditions and ranges of page files that do not hold are errors of their own', async t => {
  const { app } = await startApp(t)
  const answer = async (headers: Record<string, string>) => {
    const response = await app.inject({ url: '/docs/static/swagger-ui.css', headers })
    return [response.statusCode, response.json().message]
  }
  const condition = [412, 'The file does not meet a condition of the request.']
  t.strictSame(await answer({ 'if-match': '"x"' }), condition)
  t.strictSame(await answer({ 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' }), condition)
  t.strictSame(await answer({ range: 'bytes=99999999-' }), [416, 'The file does not have that range of bytes.'])
})
