import { parseYaml } from '@redocly/openapi-core'
import fastify from 'fastify'
import t from 'tap'
import { document } from '../../../generated/document.ts'
import { serveDocs } from '../../../src/contract/http/docs.ts'
import { startApp } from '../../fixtures/app.ts'

t.test('/docs/json and /docs/yaml are the contract', async t => {
  const { app } = await startApp(t)
  const json = await app.inject('/docs/json')
  t.match(json.headers['content-type'], /application\/json/)
  t.strictSame(json.json(), document)
  t.strictSame(parseYaml((await app.inject('/docs/yaml')).body), document)
})

t.test('{base_url} stands for what is configured, and the page may call it', async t => {
  const { app } = await startApp(t, { baseUrl: 'https://plants.example.com/store' })
  t.equal((await app.inject('/docs/json')).json().servers[0].variables.base_url.default, 'https://plants.example.com/store')
  t.match((await app.inject('/docs')).headers['content-security-policy'], /connect-src 'self' https:\/\/plants\.example\.com;/)
  t.equal(document.servers[0]?.variables.base_url.default, '/', 'the generated contract is as it was')
})

t.test('a contract without servers or variables is served as it is', async t => {
  for (const servers of [undefined, [{ url: '/' }], [{ url: '/{v}', variables: { v: { default: 'v1' } } }]]) {
    const app = fastify()
    t.teardown(() => app.close())
    const contract = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths: {}, ...servers && { servers } }
    await serveDocs(app, contract, { other: 'x' })
    t.strictSame((await app.inject('/docs/json')).json(), contract)
  }
})

t.test('the page works without encryption, away from localhost', async t => {
  const { app } = await startApp(t)
  const { statusCode, headers } = await app.inject('/docs')
  t.equal(statusCode, 200)
  t.notMatch(headers['content-security-policy'], /upgrade-insecure-requests/)
})
