import { join } from 'node:path'
import t, { type Test } from 'tap'
import { errorShape } from '../../../../src/contract/errors/error-shape.ts'
import type { RequestFault } from 'fastify-openapi-contract'
import { createCompiler } from '../../../../src/contract/schema/index.ts'
import { contractText, loadContract } from '../../../fixtures/contract.ts'

/** The error body and media type for a contract whose errors have these schemas. */
async function shapeOf (t: Test, schemas: string[], { type = 'application/json', components = '' } = {}) {
  const paths = schemas.map((schema, index) => `  /${index}: { get: { operationId: a${index}, responses: {
    default: { description: x, content: { ${type}: { schema: ${schema} } } } } } }`)
  const text = contractText({ paths: paths.join('\n'), components: components && `  schemas:\n${components}` })
  const file = join(t.testdir({ 'openapi.yaml': text }), 'openapi.yaml')
  const contract = await loadContract(file, { allowOpen: true })
  const shape = errorShape(contract, createCompiler(contract.schemas, 'answer'))
  if (typeof shape === 'string') return shape
  const { contentType, errorBody } = shape
  const bodyOf = (...faults: RequestFault[]) => errorBody(404, 'Gone.', { requestId: 'r7', faults })
  return { body: bodyOf(), contentType, bodyOf }
}

/** What fills the members of the schema. */
async function bodyOf (t: Test, schema: string, ...faults: RequestFault[]) {
  const shape = await shapeOf(t, [schema])
  return typeof shape === 'string' ? shape : shape.bodyOf(...faults)
}

t.test('members get what their names say', async t => {
  const cases: Array<[string, unknown]> = [
    ['{ type: string }', 'Gone.'],
    ['{ required: [code, message], properties: { code: { type: integer, format: int32 }, message: { type: string } } }',
      { code: 404, message: 'Gone.' }],
    ['{ required: [error, error_description], properties: { error: { type: string }, error_description: { type: string }, state: { type: string } } }',
      { error: 'Not Found', error_description: 'Gone.' }],
    ['{ properties: { error: { type: string } } }', { error: 'Gone.' }],
    ['{ properties: { error: { type: object, properties: { code: { type: number }, message: { type: [string, "null"] } } } } }',
      { error: { code: 404, message: 'Gone.' } }],
    ['{ properties: { errors: { type: array, items: { type: string } } } }', { errors: ['Gone.'] }],
    ['{ properties: { errors: { type: array, items: { properties: { detail: { type: string } } } } } }',
      { errors: [{ detail: 'Gone.' }] }],
    ['{ properties: { id: { type: array, items: { type: integer } }, message: { type: string } } }', { message: 'Gone.' }],
    ['{ properties: { status: { type: integer, format: int64 }, title: { type: string } } }', { status: 404, title: 'Not Found' }],
    ['{ allOf: [{ required: [code], properties: { code: { type: string } } }, { properties: { message: { type: string } } }] }',
      { code: 'Not Found', message: 'Gone.' }]
  ]
  for (const [schema, body] of cases) t.strictSame(await bodyOf(t, schema), body, schema)
})

t.test('an optional member with values of its own is left out, a required one is not guessed', async t => {
  const schema = (required: string) => `{ required: [${required}], properties: { status: { type: integer },
    code: { enum: [unknown, lent], type: string }, inner: { properties: { error: { $ref: '#/components/schemas/Number' }, message: { type: string } } } } }`
  const components = '    Number: { type: integer, maximum: 99 }'
  t.match(await shapeOf(t, [schema('status')], { components }), { body: { status: 404, inner: { message: 'Gone.' }, code: undefined } })
  t.equal(await shapeOf(t, [schema('code')], { components }), '"code" must be one of "unknown", "lent"')
})

t.test('lists have an item for each fault of the request, with its place', async t => {
  const item = '{ required: [path, message], properties: { path: { type: string }, message: { type: string } } }'
  const schema = `{ required: [errors], properties: { path: { type: string }, errors: { type: array, items: ${item} } } }`
  const faults = [
    { in: 'body', path: '/tag', message: 'One.' },
    { in: 'query', path: 'limit', message: 'Two.' }
  ]
  const errors = [{ path: '/tag', message: 'One.' }, { path: 'limit', message: 'Two.' }]
  t.strictSame(await bodyOf(t, schema, ...faults), { errors })
  t.strictSame(await bodyOf(t, schema), { errors: [{ path: '', message: 'Gone.' }] })
  const texts = '{ properties: { details: { type: array, items: { type: string } } } }'
  t.strictSame(await bodyOf(t, texts, ...faults), { details: ['One.', 'Two.'] })
})

t.test('a list of faults is absent or empty without any, if the error has a sentence elsewhere', async t => {
  const list = '{ type: array, items: { required: [field], properties: { field: { type: string, minLength: 1 }, message: { type: string } } } }'
  const schema = (required: string) => `{ required: [${required}], properties: { detail: { type: string }, errors: ${list} } }`
  t.strictSame(await bodyOf(t, schema('detail')), { detail: 'Gone.' })
  t.strictSame(await bodyOf(t, schema('errors')), { detail: 'Gone.', errors: [] })
  const fault = { in: 'path', path: 'id', message: 'One.' }
  t.strictSame(await bodyOf(t, schema('detail'), fault), { detail: 'Gone.', errors: [{ field: 'id', message: 'One.' }] })
})

t.test('items of known lists have a place and a sentence', async t => {
  const fault = { in: 'body', path: '/a/b', message: 'One.' }
  const listOf = (properties: string) => `{ properties: { title: { type: string }, list: { type: array, items: { properties: { ${properties} } } } } }`
  const cases: Array<[string, object]> = [
    ['name: { type: string }, reason: { type: string }', { name: '/a/b', reason: 'One.' }],
    ['loc: { type: array, items: { type: string } }, msg: { type: string }', { loc: ['body', 'a', 'b'], msg: 'One.' }],
    ['source: { type: object, properties: { pointer: { type: string } } }, title: { type: string }, detail: { type: string }',
      { source: { pointer: '/a/b' }, title: 'Not Found', detail: 'One.' }],
    ['code: { type: string }, field: { type: string }', { field: '/a/b' }]
  ]
  for (const [properties, item] of cases) {
    t.strictSame(await bodyOf(t, listOf(properties), fault), { title: 'Not Found', list: [item] }, properties)
  }
  const jsonApi = '{ required: [errors], properties: { errors: { type: array, items: { properties: { title: { type: string }, source: { type: object, properties: { pointer: { type: string } } } } } } } }'
  t.strictSame(await bodyOf(t, jsonApi), { errors: [{ title: 'Not Found' }] })
})

t.test('ids of requests and times are filled', async t => {
  const schema = '{ required: [trace_id, timestamp], properties: { trace_id: { type: string, format: uuid }, timestamp: { type: string, format: date-time } } }'
  t.match(await bodyOf(t, schema), { trace_id: 'r7', timestamp: /^\d{4}-/ })
})

t.test('problem details keep their media type', async t => {
  const members = ['type', 'title', 'detail', 'instance'].map(name => `${name}: { type: string }`)
  const schema = `{ properties: { ${members.join(', ')}, status: { type: integer } } }`
  const shape = await shapeOf(t, [schema], { type: 'application/problem+json' })
  t.match(shape, {
    body: { type: 'about:blank', title: 'Not Found', detail: 'Gone.', status: 404 },
    contentType: 'application/problem+json; charset=utf-8'
  })
})

t.test('the shape is that of most errors which can be filled', async t => {
  const code = '{ required: [code], properties: { code: { type: integer } } }'
  const message = '{ required: [message], properties: { message: { type: string } } }'
  const odd = '{ required: [odd], properties: { odd: { type: boolean } } }'
  t.match(await shapeOf(t, [code, message, message]), { body: { message: 'Gone.' } })
  t.match(await shapeOf(t, [odd, odd, code]), { body: { code: 404 } })
  t.equal(await shapeOf(t, [odd]), 'no member is a status, a title or a sentence')
  const partly = '{ required: [odd], properties: { odd: { type: boolean }, message: { type: string } } }'
  t.equal(await shapeOf(t, [partly]), 'it must have the member "odd"')
})

t.test('without errors in JSON the shape is that of Fastify', async t => {
  const plain = { body: { statusCode: 404, error: 'Not Found', message: 'Gone.' }, contentType: undefined }
  t.match(await shapeOf(t, ['{ type: string }'], { type: 'text/plain' }), plain)
})

t.test('errors that contain themselves are followed a few levels', async t => {
  const components = '    Error: { properties: { message: { type: string }, cause: { $ref: "#/components/schemas/Error" } } }'
  t.match(await shapeOf(t, ['{ $ref: "#/components/schemas/Error" }'], { components }), { body: { message: 'Gone.', cause: { message: 'Gone.' } } })
})
