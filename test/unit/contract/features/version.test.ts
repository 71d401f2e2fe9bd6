import { Readable } from 'node:stream'
import t from 'tap'
import { ref, serve } from '../../../fixtures/contract.ts'
import { int64, json, serveSchema } from '../../../fixtures/features.ts'

t.test('OpenAPI 3.0', async t => {
  const { check } = await serveSchema(t, `{ type: object, properties: {
      typed: { type: string, nullable: true },
      ref: { nullable: true, $ref: '#/components/schemas/Text' },
      all: { nullable: true, allOf: [${ref('Text')}] },
      above: { type: integer, minimum: 5, exclusiveMinimum: true },
      least: { type: integer, minimum: 5, exclusiveMinimum: false },
      int64: { type: integer, format: int64, nullable: true, maximum: 9, exclusiveMaximum: true },
      example: { type: string, nullable: true, example: { nullable: true, text/csv: null } },
      byte: { type: string, format: byte } } }`, `
    Text: { type: string, nullable: false }`, '3.0.3')
  for (const member of ['typed', 'ref', 'all', 'example']) {
    await check(member, ['null', '"x"'], [['1', /must be a string/]])
  }
  await check('above', ['6'], [['5', /must be more than 5/]])
  await check('least', ['5'], [['4', /must be at least 5/]])
  await check('int64', ['null', '8'], [['9', /must be less than 9/]])
  await check('byte', ['"eA=="'], [['1', /must be a string/], ['"A$"', /must have the format byte/]])
  const file = "content: { 'text/csv': { schema: { type: string, format: binary } } }"
  const { app } = await serve(t, {
    openapi: '3.0.3',
    paths: `  /csv: { post: { operationId: a, requestBody: { ${file} }, responses: { '200': { description: fine, ${file} } } } }`,
    handlers: { a: ({ body }) => ({ status: 200, body: Readable.from(body as Readable) }) }
  })
  const request = { method: 'POST', url: '/csv', headers: { 'content-type': 'text/csv' }, payload: 'a;b' } as const
  t.match(await app.inject(request), { statusCode: 200, body: 'a;b' }, 'a file is a stream')
})

t.test('keywords of another version of OpenAPI', async t => {
  const older = await serveSchema(t, `{ type: object, properties: {
      above: { type: integer, minimum: 4, exclusiveMinimum: 5 },
      list: { type: [integer, 'null'] },
      none: { anyOf: [{ type: boolean }, { type: 'null' }] } } }`, '', '3.0.3')
  await older.check('above', ['6'], [['5', /must be more than 5/]])
  await older.check('list', ['6', 'null'], [['"a"', /must be an integer or null/]])
  await older.check('none', ['true', 'null'], [['1', /none/]])
  const newer = await serveSchema(t, `{ type: object, properties: {
      above: { type: integer, minimum: 5, exclusiveMinimum: true },
      below: { allOf: [{ maximum: 5, exclusiveMaximum: true }] },
      least: { type: integer, minimum: -5, exclusiveMinimum: false },
      any: { type: integer, exclusiveMaximum: true } } }`)
  await newer.check('above', ['6'], [['5', /must be more than 5/]])
  await newer.check('below', ['4'], [['5', /must be less than 5/]])
  await newer.check('least', ['-5'], [['-6', /must be at least -5/]])
  await newer.check('any', ['5'], [['"a"', /must be an integer/]])
})

t.test('OpenAPI 3.2', async t => {
  const { check } = await serveSchema(t, "{ type: object, properties: { a: { type: [string, 'null'] } } }", '', '3.2.0')
  await check('a', ['null'], [['1', /must be a string or null/]])
})

t.test('`$ref` to a media type, of OpenAPI 3.2', async t => {
  const content = (type: string, name: string) => `content: { ${type}: ${ref(name, 'mediaTypes')} }`
  const { app } = await serve(t, {
    openapi: '3.2.0',
    docs: true,
    paths: `
  /a:
    post:
      operationId: add
      parameters: [{ name: x, in: query, ${content('application/json', 'Sizes')} }]
      requestBody: { ${content('application/json', 'Size')} }
      responses: { '200': { description: fine, ${content('application/jsonl', 'Lines')} } }`,
    components: `
  schemas: { Size: ${int64} }
  mediaTypes:
    Size: { schema: { type: object, properties: { content: { type: object, properties: { a/b: ${ref('Size')} } } } } }
    Sizes: { schema: { type: array, items: ${ref('Size')} } }
    Lines: { itemSchema: ${ref('Size')} }
    Unused: { schema: { type: object, properties: { a: ${int64} } } }`,
    handlers: {
      add: ({ query, body }) => ({ status: 200, body: Readable.from([...query.x, body.content['a/b']]) })
    }
  })
  const post = (payload: string) => app.inject({ method: 'POST', url: '/a?x=[1,2]', headers: json, payload })
  t.equal((await post('{"content":{"a/b":9007199254740993}}')).body, '1\n2\n9007199254740993\n')
  t.match((await post('{"content":{"a/b":"x"}}')).json(), { error: 400, message: /"content\/a~1b" in the body must be an integer/ })
  t.equal((await app.inject('/docs')).statusCode, 200)
})
