// Features of a contract that have no effect.
import t from 'tap'
import {
  anyResponse, jsonContent, parameter, ref, serve, type Untyped
} from '../../../fixtures/contract.ts'
import { listen } from '../../../fixtures/app.ts'
import { exchange, requestText } from '../../../fixtures/raw.ts'
import { getOperation, serveSchema } from '../../../fixtures/features.ts'

t.test('the header parameters Accept, Content-Type and Authorization', async t => {
  const parameters = ['Accept', 'content-type', 'Authorization'].map(name => {
    return parameter(name, 'header', '{ type: object }', ', required: true')
  })
  const { app } = await serve(t, getOperation(`parameters: [${parameters.join(', ')}], ${anyResponse}`))
  t.strictSame((await app.inject('/a')).json(), {})
})

t.test('the header field Content-Type of an answer', async t => {
  const headers = '{ content-type: { schema: { type: object } } }'
  const responses = `responses: { '204': { description: fine, headers: ${headers} } }`
  const { contract } = await serve(t, getOperation(responses))
  t.strictSame(contract.operations.a?.responses, { 204: {} })
})

t.test('the header fields of an answer that frame it', async t => {
  const names = ['Connection', 'Content-Length', 'Keep-Alive', 'Trailer', 'Transfer-Encoding', 'Upgrade']
  const headers = names.map(name => `${name}: { required: true, schema: { type: string } }`)
  const responses = `responses: { '204': { description: fine, headers: { ${headers.join(', ')} } } }`
  let given: Untyped = {}
  const handlers = { a: () => ({ status: 204, ...given }) }
  for (const answers of ['enforce', 'log'] as const) {
    const { app, contract } = await serve(t, { ...getOperation(responses), handlers, answers })
    t.strictSame(contract.operations.a?.responses, { 204: {} })
    given = {}
    t.equal((await app.inject('/a')).statusCode, 204)
    for (const name of names) {
      given = { headers: { [name]: '1' } }
      t.match(await app.inject('/a'), { statusCode: 500, body: /"error":500/ }, `${answers} ${name}`)
    }
  }
})

t.test('the body of a request with GET, HEAD or TRACE', async t => {
  const body = 'requestBody: { required: true, content: { application/json: { schema: { type: object } } } }'
  const { app, contract } = await serve(t, {
    paths: `
  /a:
    get: { operationId: a, ${body}, ${anyResponse} }
    trace: { operationId: b, ${body}, ${anyResponse} }`
  })
  t.strictSame(contract.operations.a?.body, undefined)
  const { port } = await listen(app)
  const json = ['Host: x', 'Content-Type: application/json']
  const bytes = requestText('GET /a', [...json, 'Content-Length: 3'], '{x}') +
    requestText('TRACE /a', [...json, 'Content-Length: 1'], 'x') +
    requestText('GET /a', [...json, 'Connection: close', '', ''])
  const responses = await exchange(port, bytes)
  t.strictSame(responses.map(({ statusCode, body }) => `${statusCode} ${body}`), ['200 {}', '200 {}', '200 {}'])
})

t.test('`style`, `explode` and `headers` in the `encoding` of multipart/form-data', async t => {
  const list = '{ type: array, items: { type: string } }'
  const schema = `{ properties: { pipes: ${list}, commas: ${list}, named: {} } }`
  const headers = '{ X-Name: { required: true, schema: { type: string } } }'
  const encoding = `{ pipes: { style: pipeDelimited }, commas: { explode: false }, named: { headers: ${headers} } }`
  const body = `requestBody: { content: { multipart/form-data: { schema: ${schema}, encoding: ${encoding} } } }`
  const { app } = await serve(t, {
    paths: `  /a: { post: { operationId: a, ${body}, ${anyResponse} } }`,
    handlers: {
      async a ({ body }) {
        const parts: unknown[] = []
        for await (const { name, value } of body) parts.push([name, value])
        return { status: 200, body: parts }
      }
    }
  })
  const form = new FormData()
  const parts = [['pipes', 'a|b'], ['pipes', 'c'], ['commas', 'a,b'], ['named', 'x']] as const
  for (const [name, value] of parts) form.append(name, value)
  const sent = new Response(form)
  const response = await app.inject({
    method: 'POST',
    url: '/a',
    headers: { 'content-type': String(sent.headers.get('content-type')) },
    payload: Buffer.from(await sent.arrayBuffer())
  })
  t.strictSame(response.json(), parts)
})

t.test('the `default` of a member of a body', async t => {
  const schema = '{ properties: { gift: { type: boolean, default: false } } }'
  const { app } = await serve(t, {
    paths: `  /a: { post: { operationId: a, requestBody: { ${jsonContent(schema)} }, ${anyResponse} } }`,
    handlers: { a: ({ body }) => ({ status: 200, body: { gift: String(body.gift) } }) }
  })
  const response = await app.inject({ method: 'POST', url: '/a', payload: {} })
  t.strictSame(response.json(), { gift: 'undefined' })
})

t.test('formats that ajv-formats does not define', async t => {
  const { check } = await serveSchema(t, '{ type: object, properties: { a: { type: string, format: snowflake } } }')
  await check('a', ['"anything"'], [['1', /must be a string/]])
})

t.test('annotations', async t => {
  const { app } = await serve(t, {
    paths: `
  /a:
    get:
      operationId: a
      x-a: 1
      deprecated: true
      tags: [t]
      externalDocs: { url: 'https://example.com' }
      parameters:
        - name: q
          in: query
          allowReserved: true
          deprecated: true
          example: x
          schema:
            type: string
            x-b: {}
            xml: { name: y }
            externalDocs: { url: 'https://example.com' }
            contentMediaType: text/html
            example: z
      responses:
        '200':
          description: fine
          links: { next: { operationId: a } }
          content: { application/json: { schema: {}, examples: { e: { value: 1 } } } }`
  })
  t.strictSame((await app.inject('/a?q=')).json(), { query: { q: '' } })
})

t.test('keywords that JSON Schema 2020-12 does not have', async t => {
  const { check } = await serveSchema(t, '{ type: object, properties: { a: { type: string, nullable: true } } }')
  await check('a', ['"x"'], [['null', /must be a string/]])
})

t.test('a discriminator without `oneOf`', async t => {
  const { check } = await serveSchema(t, `{
      type: object, properties: { a: { anyOf: [${ref('B')}], discriminator: { propertyName: kind } } } }`, `
    B: { type: object, discriminator: { propertyName: kind }, properties: { kind: { type: string } } }`)
  await check('a', ['{"kind":"C"}', '{}'], [])
})

t.test('the body of an answer to HEAD or with status 204, 205 or 304', async t => {
  const { contract } = await serve(t, {
    paths: `
  /a:
    get: { operationId: a, responses: { '204': { $ref: '#/components/responses/R' } } }
    head: { operationId: b, responses: { '200': { $ref: '#/components/responses/R' } } }`,
    components: `  responses: { R: { description: r, ${jsonContent('{ type: string }')} } }`
  })
  t.strictSame(contract.operations.a?.responses, { 204: {} })
  t.strictSame(contract.operations.b?.responses, { 200: {} })
})

t.test('servers after the first', async t => {
  const root = 'security: []\nservers: [{ url: /v2 }, { url: /v1 }]'
  const { app } = await serve(t, { ...getOperation(anyResponse), root })
  t.strictSame([(await app.inject('/v2/a')).statusCode, (await app.inject('/v1/a')).statusCode], [200, 404])
})

t.test('`$id` of a schema', async t => {
  const schema = '{ $id: https://example.com/shape, type: object, properties: { a: { $id: urn:a, type: string } } }'
  const { check } = await serveSchema(t, schema)
  await check('a', ['"x"'], [['1', /must be a string/]])
  const { contract } = await serve(t, {
    ...getOperation(anyResponse), components: `  schemas: { A: ${schema}, B: ${ref('A')} }`
  })
  t.notMatch(JSON.stringify(contract), 'example.com')
})

t.test('`$self` of OpenAPI 3.2', async t => {
  const root = 'security: []\n$self: https://example.com/api'
  const { app } = await serve(t, { ...getOperation(anyResponse), root, openapi: '3.2.0' })
  t.equal((await app.inject('/a')).statusCode, 200)
})
