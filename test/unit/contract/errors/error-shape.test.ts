import { join } from 'node:path'
import t, { type Test } from 'tap'
import { errorShape } from '../../../../src/contract/errors/error-shape.ts'
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
  return shape && { body: shape.errorBody(404, 'Gone.'), contentType: shape.contentType }
}

t.test('members get what their names say', async t => {
  const cases: Array<[string, object]> = [
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
  for (const [schema, body] of cases) t.strictSame((await shapeOf(t, [schema]))?.body, body, schema)
})

t.test('problem details keep their media type', async t => {
  const members = ['type', 'title', 'detail', 'instance'].map(name => `${name}: { type: string }`)
  const schema = `{ properties: { ${members.join(', ')}, status: { type: integer } } }`
  const shape = await shapeOf(t, [schema], { type: 'application/problem+json' })
  t.strictSame(shape, {
    body: { type: 'about:blank', title: 'Not Found', detail: 'Gone.', status: 404 },
    contentType: 'application/problem+json; charset=utf-8'
  })
})

t.test('the shape is that of most errors which can be filled', async t => {
  const code = '{ required: [code], properties: { code: { type: integer } } }'
  const message = '{ required: [message], properties: { message: { type: string } } }'
  const odd = '{ required: [odd], properties: { odd: { type: boolean } } }'
  t.strictSame((await shapeOf(t, [code, message, message]))?.body, { message: 'Gone.' })
  t.strictSame((await shapeOf(t, [odd, odd, code]))?.body, { code: 404 })
  t.equal(await shapeOf(t, [odd]), undefined)
  const partly = '{ required: [odd], properties: { odd: { type: boolean }, message: { type: string } } }'
  t.equal(await shapeOf(t, [partly]), undefined, 'a required member has no value')
})

t.test('without errors in JSON the shape is that of Fastify', async t => {
  const plain = { body: { statusCode: 404, error: 'Not Found', message: 'Gone.' }, contentType: undefined }
  t.strictSame(await shapeOf(t, ['{ type: string }'], { type: 'text/plain' }), plain)
})

t.test('errors that contain themselves are followed a few levels', async t => {
  const components = '    Error: { properties: { message: { type: string }, cause: { $ref: "#/components/schemas/Error" } } }'
  t.match(await shapeOf(t, ['{ $ref: "#/components/schemas/Error" }'], { components }), { body: { message: 'Gone.', cause: { message: 'Gone.' } } })
})
