import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readContract } from '../../../src/contract/generate/read-contract.ts'
import { stubs } from '../../../src/contract/index.ts'
import { isError } from '../../fixtures/app.ts'
import { contractText, jsonContent, noContent, ref, serveLoaded } from '../../fixtures/contract.ts'

const answer = (content: string) => `responses: { '200': { description: fine, content: { ${content} } } }`
const json = (parts: string) => answer(`application/json: { ${parts} }`)
const ofSchema = (schema: string) => json(`schema: ${schema}`)

const int64 = (example: bigint) => `{ type: integer, format: int64, example: ${example} }`

const numbers = {
  any: ['', 0],
  least: ['minimum: 2', 2],
  above: ['exclusiveMinimum: 2', 3],
  negative: ['maximum: -1', -1],
  step: ['minimum: 11, multipleOf: 5', 15]
} as const

/** YAML of responses, and the status and body of the stub's answer. */
const cases: Record<string, [responses: string, status: number, body: unknown]> = {
  'the example of the media type': [json('schema: { type: string, example: no }, example: \'yes\''), 200, 'yes'],
  'its first example': [json('examples: { a: { value: [1] }, b: { value: [2] } }'), 200, [1]],
  'a shared example': [json("examples: { a: { $ref: '#/components/examples/One' } }"), 200, { one: 1 }],
  'examples of the schema': [ofSchema('{ type: string, examples: [a, b] }'), 200, 'a'],
  'example of the schema': [ofSchema('{ type: string, example: a }'), 200, 'a'],
  'default of the schema': [ofSchema('{ type: string, default: d }'), 200, 'd'],
  'const of the schema': [ofSchema('{ const: c }'), 200, 'c'],
  'enum of the schema': [ofSchema('{ enum: [e, f] }'), 200, 'e'],
  'false and zero': [json('schema: { type: array, items: {} }, example: [false, 0, null]'), 200, [false, 0, null]],
  'examples of members and items': [
    ofSchema(`{ type: array, items: ${ref('Plant')} }`),
    200,
    [{ id: 9007199254740991, kind: 'fern', pot: { size: 2 } }]
  ],
  allOf: [ofSchema(`{ allOf: [${ref('Plant')}, { properties: { name: { type: string, default: x } } }] }`), 200, {
    id: 9007199254740991, kind: 'fern', pot: { size: 2 }, name: 'x'
  }],
  'the first branch with an example': [ofSchema(`{ oneOf: [{ type: integer }, ${ref('Pot')}] }`), 200, { size: 2 }],
  'a schema in itself': [ofSchema(ref('Tree')), 200, { leaf: 'green' }],
  'a success without a body': [noContent, 204, ''],
  'the lowest success': [
    'responses: { default: { description: x }, \'404\': { description: x }, \'201\': { description: x } }', 201, ''
  ],
  'a range': ['responses: { 2XX: { description: x } }', 200, ''],
  'a range in lower case': [`responses: { 2xx: { description: x, ${jsonContent('{ example: [] }')} } }`, 200, []],
  'only a default': ['responses: { default: { description: x } }', 200, ''],
  'a shared response': ["responses: { '200': { $ref: '#/components/responses/Fine' } }", 200, 'shared'],
  'a required member without an example': [
    ofSchema('{ type: object, required: [a, b, c], properties: { a: { example: 1 }, b: {}, c: { type: string, writeOnly: true } } }'),
    200,
    { a: 1, b: 'string' }
  ],
  'allOf of which a part has no example': [
    ofSchema(`{ allOf: [${ref('Base')}, { required: [n], properties: { n: { type: integer }, id: { maxLength: 2 }, more: { example: 1 } } }] }`),
    200,
    { id: 'st', n: 0, more: 1 }
  ],
  'an example that lacks a member of another part': [
    ofSchema(`{ allOf: [${ref('Base')}], properties: { a: { example: 1 }, b: { example: 2 } }, example: { a: 3 } }`), 200, { a: 3, id: 'string' }
  ],
  'an example of a part': [
    ofSchema(`{ allOf: [${ref('Base')}, { required: [b], properties: { a: {}, b: {} }, example: { a: 3 } }] }`), 200, { a: 3, id: 'string', b: 'string' }
  ],
  'a list without an example': [ofSchema('{ minItems: 2, items: { type: string, format: date } }'), 200, Array(2).fill('2026-01-01')],
  'a list in itself': [ofSchema(ref('List')), 200, []],
  'the first branch with a value': [ofSchema('{ anyOf: [{ type: \'null\' }, { type: [\'null\', boolean] }] }'), 200, true],
  'a required member without a schema': [ofSchema('{ required: [a], additionalProperties: true }'), 200, { a: 'string' }],
  'only null': [ofSchema('{ oneOf: [{ type: \'null\' }] }'), 200, null],
  numbers: [
    ofSchema(`{ required: [${Object.keys(numbers)}], properties: { ${Object.entries(numbers).map(([name, [more]]) => `${name}: { type: number, ${more} }`)} } }`),
    200,
    Object.fromEntries(Object.entries(numbers).map(([name, [, value]]) => [name, value]))
  ],
  'a union that has a schema which needs the union': [ofSchema(ref('Union')), 200, 'string'],
  'a schema that needs a union which has the schema': [ofSchema(ref('Holder')), 200, { union: 'string' }],
  'a schema that contains itself': [ofSchema(ref('Endless')), 501, 'its body'],
  'no schema': [json(''), 501, 'its body'],
  'a discriminator with a mapping': [ofSchema(ref('Pets')), 200, { kind: 'cat', name: 'string' }],
  'a discriminator whose value an example has': [ofSchema(ref('Lions')), 200, { kind: 'lion' }],
  'bytes without an example': [answer('image/png: { schema: { type: string, format: binary } }'), 501, 'its body'],
  'no success': [`responses: { '404': { description: x, ${jsonContent('{}')} } }`, 501, 'a success'],
  'a header field without an example': [
    "responses: { '200': { description: x, headers: { X-A: { required: true, content: { text/plain: {} } } } } }",
    501,
    'its header field X-A'
  ]
}

const components = `
  examples: { One: { value: { one: 1 } } }
  responses: { Fine: { description: fine, ${jsonContent('{ type: string, default: shared }')} } }
  schemas:
    Plant:
      type: object
      required: [id, kind, secret]
      properties:
        id: { type: integer, format: int64, example: 9007199254740991 }
        kind: { enum: [fern] }
        pot: ${ref('Pot')}
        secret: { type: string, writeOnly: true, example: x }
        unknown: { type: string }
        list: { type: array, items: { type: string } }
        object: { type: object, properties: { a: {} } }
    Pot: { type: object, properties: { size: { type: number, default: 2 } } }
    Base: { required: [id], properties: { id: { type: string } } }
    List: { type: array, items: ${ref('List')} }
    Union: { oneOf: [${ref('Holder')}, { type: string }] }
    Holder: { type: object, required: [union], properties: { union: ${ref('Union')} } }
    Cat: { type: object, required: [kind, name], properties: { kind: { type: string }, name: { type: string } } }
    Lion: { type: object, required: [kind], properties: { kind: { type: string, example: lion } } }
    Pets: { oneOf: [${ref('Cat')}], discriminator: { propertyName: kind, mapping: { cat: Cat, tiger: '#/components/schemas/Cat' } } }
    Lions: { oneOf: [${ref('Lion')}], discriminator: { propertyName: kind, mapping: { big: Lion, lion: Lion } } }
    Endless: { type: object, required: [next], properties: { next: ${ref('Endless')} } }
    Tree: { type: object, properties: { leaf: { type: string, example: green }, left: ${ref('Tree')} } }`

async function load (t: Test, responses: string[], openapi = '3.1.0', method = 'get') {
  const paths = responses.map((text, index) => `  /op${index}: { ${method}: { operationId: op${index}, ${text} } }`)
  const folder = t.testdir({ 'other.yaml': contractText({ openapi, paths: paths.join('\n'), components }) })
  return readContract(join(folder, 'other.yaml'), { types: 'built-in' })
}

t.test('a stub answers with a sample of the contract, and says which one is missing', async t => {
  const { contract, document } = await load(t, Object.values(cases).map(([responses]) => responses))
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
  for (const [index, [name, [, status, wanted]]] of Object.entries(cases).entries()) {
    const response = await app.inject(`/op${index}`)
    if (status === 501) {
      const message = `The operation op${index} is not implemented yet, and its contract has no example of ${wanted}.`
      isError(t, response, 501, message, name)
    } else {
      t.equal(response.statusCode, status, name)
      t.strictSame(response.body && response.json(), wanted, name)
    }
  }
})

t.test('a stub sends integers of an example that YAML rounds, and no example that its schema refuses', async t => {
  const sent: Array<[responses: string, body: string]> = [
    [ofSchema(`{ type: array, items: ${int64(2n ** 53n + 1n)} }`), '[9007199254740992]'],
    [ofSchema(`{ properties: { a: ${int64(2n ** 63n - 1n)}, b: { example: x } } }`), '{"a":9223372036854775807,"b":"x"}'],
    [ofSchema('{ type: number, example: 1.5e300 }'), '1.5e+300'],
    [answer('text/plain: { schema: { type: array }, example: rows }'), 'rows'],
    [answer('text/plain: { schema: { type: string, minLength: 8 } }'), 'stringst']
  ]
  const header = 'X-A: { schema: { type: integer }, example: x }'
  const refused: Array<[responses: string, reason: string]> = [
    [ofSchema('{ required: [a], properties: { a: { type: string, pattern: ^x } } }'), 'its body: "a" must match pattern "^x"'],
    [json('schema: { properties: { a: { type: string } } }, example: { a: 1 }'), 'its body: "a" must be a string, not a number: put it in quotes'],
    [ofSchema(int64(2n ** 64n)), 'its body: it must be an integer from -9223372036854775808 to 9223372036854775807'],
    [answer('text/plain: { schema: { type: string, maxLength: 1 }, example: long }'), 'its body: it must have at most 1 character'],
    [`responses: { '200': { description: x, headers: { ${header} } } }`, 'its header field X-A: it must be an integer']
  ]
  const { contract, document } = await load(t, [...sent, ...refused].map(([responses]) => responses))
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
  for (const [index, [responses, body]] of sent.entries()) {
    const response = await app.inject(`/op${index}`)
    t.strictSame([response.statusCode, response.body], [200, body], responses)
  }
  for (const [index, [responses, reason]] of refused.entries()) {
    const id = `op${sent.length + index}`
    const message = `The operation ${id} is not implemented yet, and its contract has no valid example of ${reason}.`
    isError(t, await app.inject(`/${id}`), 501, message, responses)
  }
})

t.test('a stub sends header fields that have examples, an int64 among them', async t => {
  const headers = 'X-Id: { required: true, schema: { type: integer, format: int64, example: 7 } }, ' +
    'X-Text: { schema: { type: string }, example: text }, X-Other: { schema: { type: string } }'
  const { contract, document } = await load(t, [`responses: { '204': { description: x, headers: { ${headers} } } }`])
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
  const response = await app.inject('/op0')
  t.match(response, { statusCode: 204, headers: { 'x-id': '7', 'x-text': 'text', 'x-other': undefined } })
})

t.test('a stub without a document answers 501, and a written handler replaces it', async t => {
  const { contract } = await load(t, [json('example: 1'), noContent])
  const handlers = { ...stubs(contract), op1: () => ({ status: 204 }) }
  const { app } = await serveLoaded(t, contract, { handlers })
  isError(t, await app.inject('/op0'), 501, 'The operation op0 is not implemented yet.', 'a stub')
  t.equal((await app.inject('/op1')).statusCode, 204)
})

t.test('of several media types a stub sends the accepted one, and names it', async t => {
  const types = "application/json: { example: { a: 1 } }, text/plain: { example: text }, 'image/*': { example: x }, " +
    'application/octet-stream: { example: { a: 1 } }'
  const { contract, document } = await load(t, [answer(types)])
  const { op0 } = stubs(contract, document) as Record<string, (request: object) => unknown>
  t.strictSame(op0?.({}), { status: 200, body: { a: 1 }, contentType: 'application/json' })
  t.strictSame(op0?.({ accept: 'text/plain' }), { status: 200, body: 'text', contentType: 'text/plain' })
  const refused = { message: /no example of its body/ }
  for (const accept of ['image/*', 'application/octet-stream']) t.throws(() => op0?.({ accept }), refused, accept)
})

t.test('an example of an event stream is its only event', async t => {
  const folder = t.testdir({
    'main.yaml': contractText({
      paths: `  /a: { get: { operationId: a, ${answer('text/event-stream: { schema: { type: object, properties: { n: {} } }, example: { n: 1 } }')} } }
  /b: { get: { operationId: b, ${answer('text/event-stream: { schema: { type: object } }')} } }
  /c: { get: { operationId: c, ${answer('text/plain: { schema: { type: string }, example: hello }')} } }`
    })
  })
  const { contract, document } = await readContract(join(folder, 'main.yaml'))
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) as never })
  t.equal((await app.inject('/a')).body, 'data: {"n":1}\n\n')
  t.equal((await app.inject('/b')).body, 'data: {}\n\n')
  t.equal((await app.inject('/c')).body, 'hello')
})

t.test('an example of a sequence is a list of its items, one of them, or their lines', async t => {
  const entry = '{ type: object, required: [id], properties: { id: { type: integer, format: int64, example: 7 } } }'
  const lines = (parts: string, type = 'application/jsonl') => answer(`${type}: { ${parts} }`)
  const event = '{ type: object, properties: { data: { type: string } } }'
  const cases: Array<[responses: string, sent: string | number]> = [
    [lines(`schema: ${entry}`), '{"id":7}\n'],
    [lines(`schema: { type: array, items: ${entry} }`), '{"id":7}\n'],
    [lines(`schema: ${entry}, example: [{ id: 1 }, { id: 2 }]`), '{"id":1}\n{"id":2}\n'],
    [lines(`schema: ${entry}, example: "{\\"id\\":1}\\n\\n{\\"id\\":9007199254740994}\\n"`), '{"id":1}\n{"id":9007199254740994}\n'],
    [lines(`schema: ${entry}, example: "\\x1e{\\"id\\":1}\\n"`, 'application/json-seq'), '\x1e{"id":1}\n'],
    [lines('schema: { type: string }, example: "1"'), '"1"\n'],
    [lines(`schema: ${entry}, example: '{'`), 501],
    [lines(`itemSchema: ${entry}`), '{"id":7}\n'],
    [lines(`itemSchema: ${entry}, examples: { a: { dataValue: [{ id: 1 }] } }`), '{"id":1}\n'],
    [lines(`itemSchema: ${event}, example: [{ data: a }, { data: b }]`, 'text/event-stream'), 'data: a\n\ndata: b\n\n']
  ]
  const { contract, document } = await load(t, cases.map(([responses]) => responses), '3.2.0')
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
  for (const [index, [responses, expected]] of cases.entries()) {
    const { statusCode, body } = await app.inject(`/op${index}`)
    t.equal(statusCode === 200 ? body : statusCode, expected, responses)
  }
})

t.test('an example of a schema that describes events is an event', async t => {
  const members = 'data: { type: object, properties: { a: {} } }, id: { type: string }'
  const eventStream = (more: string) => {
    const schema = `{ type: object, required: [data], properties: { ${members} }${more} }`
    return answer(`text/event-stream: { schema: ${schema}, example: { data: { a: 1 }, id: x } }`)
  }
  const responses = [eventStream(''), eventStream(', additionalProperties: true')]
  const { contract, document } = await load(t, responses)
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
  t.equal((await app.inject('/op0')).body, 'id: x\ndata: {"a":1}\n\n')
  const data = 'data: {"data":{"a":1},"id":"x"}\n\n'
  t.equal((await app.inject('/op1')).body, data, 'a schema with any members is that of data')
})

t.test('a required member gets a value, also if objects of JavaScript have one of that name', async t => {
  const schema = '{ type: object, required: [constructor, b], properties: { constructor: { type: string }, b: { example: 1 } } }'
  const { contract, document } = await load(t, [json(`schema: ${schema}`)])
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
  t.strictSame((await app.inject('/op0')).json(), { constructor: 'string', b: 1 })
})

t.test('a stub reads a form and JSON lines, which are checked as they arrive', async t => {
  const body = (content: string) => `requestBody: { required: true, content: { ${content} } }, ${noContent}`
  const file = '{ type: object, required: [file], properties: { file: { type: string, format: binary } } }'
  const { contract, document } = await load(t, [
    body(`multipart/form-data: { schema: ${file} }`), body('application/jsonl: { schema: { type: integer } }'),
    body('application/octet-stream: {}')
  ], '3.1.0', 'post')
  const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
  const send = async (url: string, type: string, payload: string) => {
    const { statusCode, body } = await app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
    return statusCode === 400 ? JSON.parse(body).message : statusCode
  }
  const form = (name: string) => {
    const head = `Content-Disposition: form-data; name="${name}"; filename="a"`
    return `--x\r\n${head}\r\n\r\n${'a'.repeat(100_000)}\r\n--x--\r\n`
  }
  t.equal(await send('/op0', 'multipart/form-data; boundary=x', form('file')), 204)
  t.match(await send('/op0', 'multipart/form-data; boundary=x', form('fil')), /must have the member "file"/)
  t.equal(await send('/op1', 'application/jsonl', '1\n2\n'), 204)
  t.match(await send('/op1', 'application/jsonl', '1\nnull\n'), /must be an integer/)
  t.equal(await send('/op2', 'application/octet-stream', 'a'), 204)
})
