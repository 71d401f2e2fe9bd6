// Schemas in responses, parameters and paths to which other schemas refer.
import { join } from 'node:path'
import t from 'tap'
import { readContract } from '../../../../../src/contract/generate/index.ts'
import { emitTypes } from '../../../../../src/contract/generate/emit/emit-types.ts'
import { contractText, type Untyped, serveLoaded } from '../../../../fixtures/contract.ts'
import { int64, json } from '../../../../fixtures/features.ts'

const inResponse = '#/components/responses/Conflict/content/application~1json/schema'
const inPath = '#/paths/~1a~1{id}/post/requestBody/content/application~1json/schema'
const text = contractText({
  paths: `
  /a/{id}:
    parameters: [{ $ref: '#/components/parameters/Id' }]
    post:
      operationId: a
      requestBody: { content: { application/json: { schema: { type: object, properties: {
        id: { $ref: '#/components/parameters/Id/schema' },
        conflict: { $ref: '${inResponse}' },
        code: { $ref: '${inResponse}/properties/code' },
        again: { $ref: '${inPath}' } } } } } }
      responses: { '200': { $ref: '#/components/responses/Conflict' } }`,
  components: `
  schemas: { Conflict: { type: string } }
  parameters: { Id: { name: id, in: path, required: true, schema: ${int64} } }
  responses:
    Conflict: { description: x, content: { application/json: { schema: {
      type: object, required: [code], properties: { code: { type: integer }, schema: { $ref: '#/components/schemas/Conflict' } } } } } }`
})

t.test('they become components, under names that are free', async t => {
  const file = join(t.testdir({ 'openapi.yaml': text }), 'openapi.yaml')
  const { contract, served, document } = await readContract(file, {})
  t.strictSame(Object.keys(contract.schemas).sort(), ['Conflict', 'Conflict2', 'Id', '_1a_1_id_'])
  t.equal(JSON.stringify(document).includes('/schema"'), false, 'no reference is left')
  t.match(await emitTypes(served), /Conflict2: \{\n +code: number/)

  const handlers = { a: ({ path, body }: Untyped) => ({ status: 200, body: { code: 1, schema: `${path.id} ${body.id}` } }) }
  const { app } = await serveLoaded(t, contract, { handlers })
  const post = (payload: string) => app.inject({ method: 'POST', url: '/a/9007199254740993', headers: json, payload })
  t.equal((await post('{"id":9007199254740995}')).body, '{"code":1,"schema":"9007199254740993 9007199254740995"}')
  const faults: Array<[string, RegExp]> = [
    ['{"id":"1"}', /"id" in the body must be an integer/],
    ['{"conflict":{}}', /"conflict" in the body must have the member "code"/],
    ['{"code":"1"}', /"code" in the body must be an integer/],
    ['{"again":{"again":{"code":"1"}}}', /"again\/again\/code" in the body must be an integer/]
  ]
  for (const [body, message] of faults) t.match((await post(body)).json(), { error: 400, message }, body)
})

t.test('the schema of items becomes one, too', async t => {
  const place = '#/components/responses/Log/content/application~1jsonl/itemSchema'
  const openapi = contractText({
    openapi: '3.2.0',
    paths: `
  /log: { get: { operationId: readLog, responses: { '200': { $ref: '#/components/responses/Log' } } } }
  /entry: { get: { operationId: read, responses: { '200': { description: x, content: { application/json: { schema: { $ref: '${place}' } } } } } } }`,
    components: `  responses: { Log: { description: x, content: { application/jsonl: { itemSchema: ${int64} } } } }`
  })
  const { contract, document } = await readContract(join(t.testdir({ openapi }), 'openapi'), {})
  t.strictSame(contract.schemas, { Log: { type: 'integer', format: 'int64' } })
  t.match(contract.operations.readLog, { responses: { 200: { content: { 'application/jsonl': { schema: { $ref: 'Log#' } } } } } })
  t.match(document, { components: { responses: { Log: { content: { 'application/jsonl': { itemSchema: { $ref: '#/components/schemas/Log' } } } } } } })
})
