// Samples of sequences, whose schema describes an item.
import { join } from 'node:path'
import t from 'tap'
import { readContract } from '../../../src/contract/generate/index.ts'
import { callOperations } from './operations.ts'

const data = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
const event = {
  type: 'object',
  required: ['event', 'data'],
  properties: { event: { const: 'made' }, data }
}

function content (type: string, schema: object) {
  return { description: type, content: { [type]: { schema } } }
}

const openapi = {
  openapi: '3.1.0',
  info: { title: 'Sequences', version: '1.0.0' },
  security: [],
  paths: {
    '/lines': {
      post: {
        operationId: 'lines',
        requestBody: content('application/jsonl', data),
        responses: { 200: content('application/x-ndjson', data) }
      }
    },
    '/texts': {
      post: {
        operationId: 'texts',
        requestBody: content('application/json-seq', { type: 'string' }),
        responses: { 200: content('application/json-seq', { type: 'string' }) }
      }
    },
    '/nulls': {
      get: { operationId: 'nulls', responses: { 200: content('application/jsonl', { type: 'null' }) } }
    },
    '/data': {
      get: { operationId: 'data', responses: { 200: content('text/event-stream', data) } }
    },
    '/events': {
      get: { operationId: 'events', responses: { 200: content('text/event-stream', event) } }
    }
  }
}

t.test('each operation with JSON lines or events answers its sample', async t => {
  const folder = t.testdir({ 'openapi.json': JSON.stringify(openapi) })
  const { answered, refused, failed } = await callOperations(
    await readContract(join(folder, 'openapi.json'), {})
  )
  t.strictSame({ answered, refused, failed }, { answered: 5, refused: [], failed: [] })
})
