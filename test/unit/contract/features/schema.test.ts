import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  jsonBody, jsonResponse, loadContract, ref, serve, serveLoaded, type Untyped
} from '../../../fixtures/contract.ts'
import { serveSchema, int64, json } from '../../../fixtures/features.ts'

t.test('JSON Schema 2020-12', async t => {
  const { check } = await serveSchema(t, `{ type: object, properties: {
      tuple: { prefixItems: [{ type: string }, { type: integer }], items: false, minItems: 2 },
      mixed: { type: [string, integer, 'null'] },
      pattern: { type: object, patternProperties: { ^x: { type: integer } }, additionalProperties: false },
      names: { propertyNames: { maxLength: 2 } },
      contains: { type: array, contains: { const: 1 }, minContains: 2 },
      dependent: { dependentRequired: { a: [b] }, dependentSchemas: { c: { required: [d] } } },
      unevaluated: { allOf: [{ properties: { a: {} } }], properties: { b: {} }, unevaluatedProperties: false },
      unique: { type: array, uniqueItems: true },
      date: { type: string, format: date-time },
      email: { type: string, format: email },
      uuid: { type: string, format: uuid },
      int32: { type: integer, format: int32 },
      enum: { enum: [a, 1, null] },
      never: false,
      constructor: { type: string } } }`)
  await check('tuple', ['["a",1]'], [
    ['["a"]', /at least 2 items/],
    ['["a",1,2]', /must have at most 2 items/],
    ['[1,1]', /^"value\/tuple\/0" in the body must be a string/]
  ])
  await check('mixed', ['"a"', '1', 'null'], [
    ['1.5', /must be a string or an integer or null/],
    ['true', /must be a string or an integer or null/]
  ])
  await check('pattern', ['{"xa":1}'], [
    ['{"xa":"1"}', /xa" in the body must be an integer/],
    ['{"y":1}', /must not have the member "y"/]
  ])
  await check('names', ['{"ab":1}'], [
    ['{"abc":1}', /has the member "abc", whose name must have at most 2 characters/]
  ])
  await check('contains', ['[1,1]'], [['[1]', /contain/]])
  await check('dependent', ['{"a":1,"b":2}', '{"c":1,"d":2}'], [
    ['{"a":1}', /must have the member "b" beside "a"/],
    ['{"c":1}', /must have the member "d"/]
  ])
  await check('unevaluated', ['{"a":1,"b":2}'], [['{"c":1}', /must not have the member "c"/]])
  await check('unique', ['[1,2]'], [['[1,1]', /must not have equal items, as those at 0 and 1\.$/]])
  await check('date', ['"2026-11-20T10:00:00Z"'], [['"yesterday"', /must have the format date-time/]])
  await check('email', ['"a@b.de"'], [['"a"', /email/]])
  await check('uuid', ['"123e4567-e89b-12d3-a456-426614174000"'], [['"1"', /uuid/]])
  await check('int32', ['2147483647'], [['2147483648', /int32/]])
  await check('enum', ['"a"', '1', 'null'], [['2', /must be one of "a", 1, null/]])
  await check('never', [], [['1', /must not be sent/]])
  await check('constructor', ['"x"'], [['1', /must be a string/]])
})

t.test('boolean schemas', async t => {
  const { check } = await serveSchema(t, `{ type: object, properties: {
      any: true,
      all: { allOf: [true, { type: string }] },
      some: { anyOf: [false, { type: string }] },
      not: { type: string, not: false },
      no: { not: true },
      if: { type: object, if: true, then: { required: [a], properties: { a: true } }, else: false },
      tuple: { type: array, prefixItems: [true, false] },
      contains: { type: array, contains: true },
      names: { type: object, propertyNames: false },
      dependent: { type: object, properties: { a: true }, dependentSchemas: { a: true, b: false } },
      pattern: { type: object, patternProperties: { ^x: false } },
      always: { $ref: '#/components/schemas/Always' },
      never: { $ref: '#/components/schemas/Never' } } }`, `
    Always: true
    Never: false`)
  const sentence = /^"value\/\w+/
  await check('any', ['1', 'null', '"a"'], [])
  for (const member of ['all', 'some', 'not']) await check(member, ['"a"'], [['1', sentence]])
  for (const member of ['no', 'never']) await check(member, [], [['1', sentence]])
  await check('if', ['{"a":1}'], [['{}', /must have the member "a"/]])
  await check('tuple', ['[1]', '[]'], [['[1,2]', sentence]])
  await check('contains', ['[1]'], [['[]', sentence]])
  await check('names', ['{}'], [['{"a":1}', sentence]])
  await check('dependent', ['{"a":1}'], [['{"b":1}', sentence]])
  await check('pattern', ['{}'], [['{"x":1}', sentence]])
  await check('always', ['1', 'null'], [])

  const { app } = await serve(t, {
    paths: `
  /any:
    post:
      operationId: any
      parameters: [{ in: query, name: q, schema: true }]
      ${jsonBody('true')}
      ${jsonResponse('true')}
  /none: { post: { operationId: none, ${jsonBody('false')}, ${jsonResponse('{}')} } }`,
    // No schema.
    components: '  examples: { a: { value: { schema: text } } }',
    handlers: { any: ({ body, query }) => ({ status: 200, body: [body, query] }) }
  })
  const post = (url: string) => app.inject({ method: 'POST', url, headers: json, payload: '{"a":[1]}' })
  t.equal((await post('/any?q=1')).body, '[{"a":[1]},{"q":"1"}]')
  t.equal((await post('/none')).statusCode, 400)
  const paths = `  /a: { get: { operationId: a, ${jsonResponse('{ allOf: [true] }')} } }`
  await t.rejects(serve(t, { openapi: '3.0.3', paths }), /Expected type `Schema`/, 'OpenAPI 3.0 has none')
})

t.test('`$ref`', async t => {
  const { check } = await serveSchema(t, `{ type: object, properties: {
      part: { $ref: '#/components/schemas/Whole/properties/part' },
      beside: { $ref: '#/components/schemas/Whole', type: object, required: [part] } } }`, `
    Whole: { type: object, properties: { part: ${int64} } }`)
  await check('part', ['9007199254740993'], [['"1"', /must be an integer/]])
  await check('beside', ['{"part":1}'], [['{}', /must have the member "part"/]])

  const folder = t.testdir()
  cpSync('test/fixtures/contracts', folder, { recursive: true })
  const contract = await loadContract(join(folder, 'tree.yaml'))
  t.strictSame(Object.keys(contract.schemas).sort(), ['Leaf', 'Tree'])
  const handlers = { growTree: ({ body }: Untyped) => ({ status: 200, body }) }
  const { app } = await serveLoaded(t, contract, { handlers })
  const grow = (payload: string) => app.inject({ method: 'POST', url: '/trees', headers: json, payload })
  const leaves = '[{"name":"c","leaves":[{"id":-9007199254740993}]}]'
  const tree = `{"name":"a","first":{"id":9007199254740993},"branches":[{"name":"b","branches":${leaves}}]}`
  t.equal((await grow(tree)).body, tree)
  const nameless = await grow('{"name":"a","branches":[{"name":"b","branches":[{"leaves":[]}]}]}')
  const message = '"branches/0/branches/0" in the body must have the member "name".'
  t.match(nameless.json(), { error: 400, message })
  t.match((await grow('{"name":1}')).json(), { error: 400, message: '"name" in the body must be a string, not a number: put it in quotes.' })
})

t.test('`allOf`, `oneOf`, `anyOf`, `not`, `if`', async t => {
  const { check, respond } = await serveSchema(t, `{ type: object, properties: {
      all: { allOf: [
        { type: object, required: [a], properties: { a: { type: string } } },
        { type: object, properties: { b: ${int64} } } ] },
      one: { oneOf: [
        { type: object, required: [a], properties: { a: ${int64}, kind: { const: exact } } },
        { type: object, properties: { a: { type: number }, kind: { const: double } } } ] },
      any: { anyOf: [
        { type: string },
        { type: 'null' },
        { type: object, properties: { deep: { type: string } } } ] },
      not: { type: integer, not: { const: 3 } },
      if: {
        type: object,
        properties: { kind: { type: string } },
        if: { properties: { kind: { const: x } } },
        then: { required: [x], properties: { x: ${int64} } },
        else: { properties: { y: { type: string } } } },
      none: { oneOf: [{ minimum: 3 }, { maximum: 5 }] } } }`)
  await check('all', ['{"a":"x","b":9007199254740993}'], [
    ['{"b":1}', /must have the member "a"/],
    ['{"a":"x","b":"y"}', /must be an integer from/]
  ])
  await check('one', ['{"a":9007199254740993,"kind":"exact"}', '{"a":0.5,"kind":"double"}', '{"kind":"double"}'], [
    ['{"a":1}', /matches more than one of the forms/],
    ['{"a":1,"kind":"x"}', /"value\/one\/kind" in the body must be one of "exact", "double"/]
  ])
  await check('any', ['"a"', 'null', '{"deep":"x"}'], [
    ['{"deep":1}', /"value\/any\/deep" in the body must be a string/],
    ['1', /"value\/any" in the body must be a string or null or an object/]
  ])
  await check('not', ['4'], [['3', /has a form that the contract excludes/]])
  await check('if', ['{"kind":"x","x":9007199254740993}', '{"kind":"y","y":"z"}'], [
    ['{"kind":"x"}', /must have the member "x"/]
  ])
  await check('none', ['2', '6'], [['4', /matches more than one/]])
  const double = { a: 5, kind: 'double', b: 'undeclared' }
  t.strictSame(await respond('one', double), { a: 5, kind: 'double' })
  t.strictSame(await respond('all', { a: 'x', b: 5n, c: 'undeclared' }), { a: 'x', b: 5 })
  t.strictSame(await respond('any', { deep: 'x', c: 'undeclared' }), { deep: 'x' })
  t.strictSame(await respond('if', { kind: 'y', x: 'of the other branch', y: 'z' }), { kind: 'y', y: 'z' })
  t.strictSame(await respond('if', { kind: 'x', x: 1n, y: 'of the other branch' }), { kind: 'x', x: 1 })
})

t.test('`discriminator` beside `oneOf`', async t => {
  const { check, respond } = await serveSchema(t, `{ type: object, properties: {
      pet: ${ref('Pet')},
      cat: ${ref('Cat')},
      same: ${ref('Same')},
      inline: {
        oneOf: [
          { type: object, properties: { kind: { const: a } } },
          { type: object, properties: { kind: { enum: [a, b] } } } ],
        discriminator: { propertyName: kind } } } }`, `
    Pet:
      oneOf: [${ref('Cat')}, ${ref('Dog')}]
      discriminator: { propertyName: kind, mapping: { cat: '#/components/schemas/Cat', tom: Cat } }
    Cat: { type: object, required: [lives], properties: { kind: { type: string }, lives: ${int64} } }
    Dog: { type: object, required: [barks], properties: { kind: { type: string }, barks: { type: boolean } } }
    Same: { oneOf: [${ref('Cat')}, ${ref('Dog')}], discriminator: { propertyName: kind } }`)
  await check('same', ['{"kind":"tom","lives":9}'], [
    ['{"kind":"Cat","lives":9}', /must be one of "cat", "tom", "Dog"/]
  ])
  await check('inline', ['{"kind":"b"}'], [
    ['{"kind":"c"}', /"value\/inline\/kind" in the body must be/],
    ['{"kind":"a"}', /matches more than one of the forms/]
  ])
  const pets = [
    '{"kind":"cat","lives":9}',
    '{"kind":"tom","lives":9007199254740993}',
    '{"kind":"Dog","barks":true}'
  ]
  await check('pet', pets, [
    ['{"kind":"Dog","lives":9}', /"value\/pet" in the body must have the member "barks"/],
    ['{"kind":"tom","lives":"9"}', /"value\/pet\/lives" in the body must be an integer/],
    ['{"kind":"Cat","lives":9}', /"value\/pet\/kind" in the body must be one of "cat", "tom", "Dog"/],
    ['{"lives":9}', /"value\/pet" in the body must have the member "kind"/],
    ['7', /"value\/pet" in the body must be an object/]
  ])
  await check('cat', ['{"kind":"cat","lives":9}'], [
    ['{"kind":"Dog","lives":9}', /must be one of "cat", "tom"/]
  ])
  t.strictSame(await respond('pet', { kind: 'Dog', barks: true, lives: 9n }), { kind: 'Dog', barks: true })

  const contract = await loadContract('test/fixtures/contracts/library.yaml')
  const answers: unknown[] = []
  const handlers = { addItem: ({ body }: Untyped) => ({ status: 200, body: answers.at(-1) ?? body }) }
  const { app } = await serveLoaded(t, contract, { handlers })
  const send = async (payload: string) => {
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/items', headers: json, payload })
    return statusCode === 400 ? JSON.parse(body).message : body
  }
  const valid = ['{"name":"x"}', '{"kind":"tape","name":"x"}', '{"kind":"movie","minutes":9007199254740993}', '{"kind":"Map"}']
  for (const text of valid) t.equal(await send(text), text)
  const refused: Array<[text: string, message: RegExp]> = [
    ['{}', /^The body must have the member "name"/],
    ['{"kind":"tape"}', /^The body must have the member "name"/],
    ['{"kind":"film","name":"x"}', /^The body must have the member "minutes"/],
    ['{"kind":"Map","scale":1,"name":"x"}', /^"scale" in the body must be a string/]
  ]
  for (const [text, message] of refused) t.match(await send(text), message, text)
  answers.push({ kind: 'Map', name: 'x' })
  t.equal(await send('{"name":"x"}'), '{"kind":"Map"}')
})

t.test('`readOnly` and `writeOnly`', async t => {
  const { app, causes } = await serve(t, {
    paths: `
  /users: { post: { operationId: create, ${jsonBody(ref('User'))}, ${jsonResponse(ref('User'))} } }`,
    components: `
  schemas:
    Id: { type: string, readOnly: true }
    Base: { type: object, properties: { id: ${ref('Id')} } }
    User:
      allOf:
        - ${ref('Base')}
        - type: object
          required: [id, name, password]
          properties: { name: { type: string }, password: { type: string, writeOnly: true } }`,
    handlers: {
      create: ({ body: { name, password } }) => {
        return { status: 200, body: { id: '1', name, ...name === 'leak' && { password } } }
      }
    }
  })
  const create = (body: object) => app.inject({ method: 'POST', url: '/users', body })
  t.strictSame((await create({ name: 'a', password: 'b' })).json(), { id: '1', name: 'a' })
  const withReadOnly = await create({ id: '1', name: 'a', password: 'b' })
  t.match(withReadOnly.json(), { error: 400, message: '"id" in the body must not be sent.' })
  const withoutWriteOnly = await create({ name: 'a' })
  t.match(withoutWriteOnly.json(), { error: 400, message: 'The body must have the member "password".' })
  t.equal((await create({ name: 'leak', password: 'b' })).statusCode, 500)
  t.match(causes().at(-1), 'the answer at password must not be sent')
})

t.test('format int64', async t => {
  const { check, respond } = await serveSchema(t, `{ type: object, properties: {
      plain: ${int64},
      list: { type: array, items: ${int64} },
      nullable: { type: [integer, 'null'], format: int64 },
      map: { type: object, additionalProperties: ${int64} },
      bounded: { type: integer, format: int64, minimum: 5, exclusiveMaximum: 10 },
      whole: { type: number, format: int64, minimum: -9223372036854775808, maximum: 9223372036854775807 },
      text: { type: string, format: int64 },
      tuple: { prefixItems: [${int64}] } } }`)
  await check('plain', ['9223372036854775807', '-9223372036854775808', '9007199254740993'], [
    ['9223372036854775808', /must be an integer from/],
    ['"1"', /must be an integer/],
    ['1.5', /must be an integer/]
  ])
  await check('list', ['[1,9007199254740993]'], [['[1,"2"]', /list\/1/]])
  await check('nullable', ['null', '9007199254740993'], [['"1"', /must be an integer/]])
  await check('map', ['{"a":9007199254740993}'], [['{"a":null}', /map\/a/]])
  await check('bounded', ['5', '9'], [['4', /must be at least 5/], ['10', /must be less than 10/]])
  await check('whole', ['9223372036854775807', '-9223372036854775808'], [
    ['9223372036854775808', /must be an integer from/],
    ['1.5', /must be an integer/]
  ])
  await check('text', ['"9007199254740993"'], [['1', /must be a string/]])
  await check('tuple', ['[9007199254740993]'], [['[null]', /tuple\/0/]])
  t.equal(await respond('plain', 2n ** 63n), 500)
  const { app } = await serve(t, {
    paths: `  /whole: { post: { operationId: whole, ${jsonBody(int64)}, ${jsonResponse(int64)} } }`,
    handlers: { whole: ({ body }) => ({ status: 200, body: body as bigint + 0n }) }
  })
  for (const payload of ['9007199254740993', '0', '-9223372036854775808']) {
    const { body } = await app.inject({ method: 'POST', url: '/whole', headers: json, payload })
    t.equal(body, payload, 'the whole body')
  }
})
