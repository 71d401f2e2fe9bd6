// Compiles programs with answers of several media types: one that meets its contract, and others
// that do not.
import { join, resolve } from 'node:path'
import t from 'tap'
import {
  checkMistakes, compilePrograms, type Mistake, withMistakes
} from '../../../fixtures/compiler.ts'
import { contractText, loadContract, serveLoaded } from '../../../fixtures/contract.ts'

const int64 = '{ type: integer, format: int64 }'
const chunk = `{ type: object, required: [id], properties: { id: ${int64} } }`
const schema = (text: string) => `{ schema: ${text} }`

const contract = contractText({
  // Members of objects of JavaScript that only some objects of a list have.
  root: 'security: []\nx-names: [{ a: b }, { toString: b }, { constructor: b }]',
  paths: `
  /report:
    get:
      operationId: report
      responses:
        '200':
          description: fine
          content:
            application/json; charset=utf-8: ${schema(chunk)}
            text/csv: ${schema('{ type: string }')}
            text/event-stream: ${schema(chunk)}
            image/*: ${schema('{ type: string, format: binary }')}
        '404':
          description: unknown
          content: { application/problem+json: ${schema('{ type: string }')} }
  /pair:
    get:
      operationId: pair
      responses:
        '200':
          description: fine
          content:
            application/json: ${schema(chunk)}
            application/xml: ${schema('{ type: string }')}
  /chunks:
    get:
      operationId: chunks
      responses:
        '200': { description: fine, content: { text/event-stream: ${schema(chunk)} } }
  /lines:
    get:
      operationId: lines
      responses:
        '200': { description: fine, content: { application/x-ndjson: ${schema(`{ type: array, items: ${chunk} }`)} } }
  /whole:
    get:
      operationId: whole
      responses:
        '200':
          description: fine
          content:
            text/event-stream:
              schema:
                oneOf:
                  - type: object
                    required: [data]
                    properties: { id: { type: string }, data: ${chunk} }
                  - type: object
                    required: [data]
                    properties: { data: { type: string, enum: [end] } }
  /colour:
    get:
      operationId: colour
      responses:
        '200':
          description: fine
          content: { text/plain: ${schema('{ type: string, enum: [red, green] }')} }
        '201':
          description: fine
          content: { text/csv: ${schema('{ type: string, format: binary }')} }
          headers: { X-Size: { required: true, schema: { type: integer } } }
  /any:
    get:
      operationId: any
      responses: { 2XX: { description: fine, content: { '*/*': {} } } }`
})

const wholeEvents = "AsyncGenerator<{ id?: string, data: { id: bigint } } | { data: 'end' }>"

const program = `
import { Readable } from 'node:stream'
import type {
  Answer, Handler, Handlers, ServerSentEvent
} from '${resolve('src/contract/index.ts')}'
import type * as contract from './generated/operations.ts'
import type { operations } from './generated/types.ts'

const report: Handler<operations, 'report'> = ({ accept }): Answer<operations, 'report'> => {
  switch (accept) {
    case 'application/json; charset=utf-8':
      return { status: 200, contentType: accept, body: { id: 1n } }
    case 'text/csv':
      return { status: 200, contentType: 'text/csv', body: 'id' }
    case 'image/*':
      return { status: 200, contentType: 'image/png', body: Readable.from([Uint8Array.of(1)]) }
    case 'text/event-stream':
      return { status: 200, contentType: 'text/event-stream', body: count() }
  }
}

async function * count (): AsyncGenerator<ServerSentEvent<{ id: bigint }>> {
  yield { id: '1', event: 'counted', retry: 1000, data: { id: 9007199254740993n } }
}

const chunks: Handler<operations, 'chunks'> = (): Answer<operations, 'chunks'> => {
  return { status: 200, body: count() }
}

const lines: Handler<operations, 'lines'> = (): Answer<operations, 'lines'> => {
  return { status: 200, body: values() }
}

async function * values (): AsyncGenerator<{ id: bigint }> {
  yield { id: 1n }
}

const pair: Handler<operations, 'pair'> = ({ accept }): Answer<operations, 'pair'> => {
  if (accept === 'application/xml') return { status: 200, contentType: accept, body: '<id>1</id>' }
  return { status: 200, body: { id: 2n } }
}

const whole: Handler<operations, 'whole'> = (): Answer<operations, 'whole'> => {
  return { status: 200, body: wholeEvents() }
}

async function * wholeEvents (): ${wholeEvents} {
  yield { id: '1', data: { id: 1n } }
  yield { data: 'end' }
}

const colour: Handler<operations, 'colour'> = (): Answer<operations, 'colour'> => {
  if (Date.now() < 0) return { status: 201, headers: { 'X-Size': 1 }, body: Uint8Array.of(1) }
  return { status: 200, body: 'red' }
}

const any: Handler<operations, 'any'> = async (): Promise<Answer<operations, 'any'>> => {
  return { status: 206, contentType: 'font/woff2', body: Uint8Array.of(1) }
}

export const handlers: Handlers<operations, keyof typeof contract.operations> = {
  report,
  pair,
  chunks,
  lines,
  whole,
  colour,
  any
}
`

const mistakes: Record<string, Mistake> = {
  'a media type that the contract does not name': [
    "contentType: 'text/csv', body: 'id'",
    "contentType: 'text/html', body: 'id'",
    /'"text\/html"' is not assignable to type .*"text\/csv"/s
  ],
  'no media type where there are several': [
    "contentType: 'text/csv', ",
    '',
    /'contentType' is missing/,
    "body: 'id'"
  ],
  'another body than that of the default media type': [
    '{ status: 200, body: { id: 2n } }',
    "{ status: 200, body: '<id>2</id>' }",
    /'contentType' is missing/
  ],
  'a JSON value as another media type': [
    "contentType: accept, body: '<id>1</id>'",
    'contentType: accept, body: { id: 1n }',
    /'id' does not exist/
  ],
  'another media type where there is one': [
    "{ status: 200, body: 'red' }",
    "{ status: 200, contentType: 'text/html', body: 'red' }",
    /'"text\/html"' is not assignable to type '"text\/plain"'/
  ],
  'a media type outside its range': [
    "'image/png'",
    "'video/png'",
    /'"video\/png"' is not assignable/
  ],
  'the body of another media type': [
    "'text/csv', body: 'id'",
    "'text/csv', body: { id: 1n }",
    /is not assignable to type 'string'/
  ],
  'an object as bytes': [
    'body: Readable.from([Uint8Array.of(1)])',
    'body: { id: 1n }',
    /'id' does not exist/
  ],
  'a text that the schema does not allow': [
    "body: 'red'",
    "body: 'blue'",
    /'"blue"' is not assignable to type '"green" \| "red"'/
  ],
  'an event in place of an iterable': [
    'body: count() }\n}',
    'body: { data: { id: 1n } } }\n}',
    /'data' does not exist in type 'AsyncIterable/
  ],
  'an event whose data is something else': [
    'data: { id: 9007199254740993n }',
    'data: { id: 1 }',
    /'number' is not assignable to type 'bigint'/
  ],
  'events of another schema': [
    'AsyncGenerator<ServerSentEvent<{ id: bigint }>>',
    'AsyncGenerator<ServerSentEvent<{ id: string }>>',
    /Type 'string' is not assignable to type 'bigint'/,
    'body: count()'
  ],
  'lines of another schema': [
    'AsyncGenerator<{ id: bigint }> {\n  yield { id: 1n }',
    "AsyncGenerator<{ id: string }> {\n  yield { id: '1' }",
    /Type 'string' is not assignable to type 'bigint'/,
    'body: values()'
  ],
  'a list in place of lines': ['body: values()', 'body: [{ id: 1n }]', /AsyncIterable/],
  'whole events of another schema': [
    `${wholeEvents} {\n  yield { id: '1', data: { id: 1n } }`,
    'AsyncGenerator<{ data: string }> {',
    /Type 'string' is not assignable/,
    'body: wholeEvents()'
  ],
  'a choice that the contract does not offer': [
    "case 'text/csv'",
    "case 'text/plain'",
    /Type '"text\/plain"' is not comparable/
  ],
  'a choice where there is none': [
    "'any'> = async ()",
    "'any'> = async ({ accept })",
    /'accept' does not exist/
  ],
  'a missing header field': [
    "headers: { 'X-Size': 1 }, ",
    '',
    /'headers' is missing/,
    'status: 201'
  ],
  'bytes that are a number': [
    "'font/woff2', body: Uint8Array.of(1)",
    "'font/woff2', body: 1",
    /'number' is not assignable/
  ]
}

t.test('a program with several media types compiles, and its mistakes are reported', async t => {
  const programs = withMistakes(t, program, mistakes)
  const { folder, messages } = await compilePrograms(t, contract, programs)
  checkMistakes(t, program, mistakes, messages)
  t.strictSame(messages('generated/document'), [])
  Object.keys(mistakes).forEach((name, index) => {
    for (const message of messages(`mistake-${index}`)) {
      // The lines after the first lead through the types of iterators.
      const length = message.split('\n', 1).join().length
      t.ok(length <= 300, `${name}: ${length} characters`, { message })
    }
  })

  const { handlers } = await import(join(folder, 'program.ts'))
  const served = await loadContract(join(folder, 'contract.yaml'))
  const { app } = await serveLoaded(t, served, { handlers })
  const get = async (url: string, accept = '*/*') => {
    const { statusCode, headers, body } = await app.inject({ url, headers: { accept } })
    return [statusCode, headers['content-type'], body]
  }
  const event = 'event: counted\nid: 1\nretry: 1000\ndata: {"id":9007199254740993}\n\n'
  const jsonType = 'application/json; charset=utf-8'
  t.strictSame(await get('/report'), [200, jsonType, '{"id":1}'])
  t.strictSame(await get('/report', 'text/csv'), [200, 'text/csv; charset=utf-8', 'id'])
  t.strictSame(await get('/report', 'image/webp'), [200, 'image/png', '\u0001'])
  t.strictSame(await get('/report', 'text/event-stream'), [200, 'text/event-stream', event])
  t.strictSame(await get('/lines'), [200, 'application/x-ndjson', '{"id":1}\n'])
  t.strictSame(await get('/chunks', 'a/b'), [200, 'text/event-stream', event])
  t.strictSame(await get('/pair'), [200, jsonType, '{"id":2}'])
  t.strictSame(await get('/pair', 'application/xml'), [200, 'application/xml', '<id>1</id>'])
  const whole = 'id: 1\ndata: {"id":1}\n\ndata: end\n\n'
  t.strictSame(await get('/whole'), [200, 'text/event-stream', whole])
  t.strictSame(await get('/colour'), [200, 'text/plain; charset=utf-8', 'red'])
  t.strictSame(await get('/any'), [206, 'font/woff2', '\u0001'])
})
