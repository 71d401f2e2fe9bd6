// Proves what src/contract/README.md says: each line of its lists has a test of the same name here, and the other way round.
import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { ContractError } from '../../scripts/contract.ts'
import { unsupported } from '../../scripts/supported.ts'
import { listen } from '../fixtures/app.ts'
import { exchange } from '../fixtures/raw.ts'
import { contractText, loadContract, serve, serveLoaded, tableRows } from '../fixtures/contract.ts'
import type { OtherContract, Untyped } from '../fixtures/contract.ts'

const list = 'src/contract/README.md'
/** The responses of an operation that answers what it got. */
const echo = "responses: { '200': { description: fine, content: { application/json: { schema: {} } } } }"
const json = { 'content-type': 'application/json' }

const supported: Record<string, (t: Test) => Promise<void>> = {
  'parameters in a path': async t => {
    const get = (id: string, names: string[]) => `get: { operationId: ${id}, parameters: [${names.map(name => `{ name: '${name}', in: path, required: true, schema: { type: string } }`).join(', ')}], ${echo} }`
    const { app } = await serve(t, {
      paths: `
  /plants/{plantId}: { ${get('one', ['plantId'])} }
  /plants/mine: { put: { operationId: mine, ${echo} } }
  /plants/{plant-id}/parts/{a.b}: { ${get('two', ['plant-id', 'a.b'])} }
  /files/{name}.{type}: { ${get('file', ['name', 'type'])} }
  /users/@{who}:follow: { ${get('follow', ['who'])} }
  /a(b)/{x}(y): { ${get('signs', ['x'])} }
  /grün%20zeug/{x}: { ${get('text', ['x'])} }`
    })
    const found: Array<[string, object]> = [
      ['/plants/7', { plantId: '7' }],
      ['/plants/a%2Fb%2Cc%20d%25+e', { plantId: 'a/b,c d%+e' }],
      [`/plants/${'x'.repeat(500)}`, { plantId: 'x'.repeat(500) }],
      ['/plants/7/parts/leaf', { 'plant-id': '7', 'a.b': 'leaf' }],
      ['/files/a.tar.gz', { name: 'a', type: 'tar.gz' }],
      ['/users/@me:follow', { who: 'me' }],
      ['/a(b)/1(y)', { x: '1' }],
      ['/gr%C3%BCn%20zeug/%C3%BC', { x: 'ü' }]
    ]
    for (const [url, path] of found) {
      const response = await app.inject(url)
      t.strictSame([response.statusCode, response.json()], [200, { path }], url)
    }
    for (const url of ['/plants/', '/plants/7/parts/', '/files/a.', '/files/.gz', '/users/@:follow', '/plants/7/', '/a(b)/1']) t.equal((await app.inject(url)).statusCode, 404, url)
    t.match(await app.inject('/plants/mine'), { statusCode: 405, headers: { allow: 'PUT, OPTIONS' } }, 'GET is not there, though the template has it')
    t.match(await app.inject({ method: 'DELETE', url: '/plants/7' }), { statusCode: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
    const began = performance.now()
    t.equal((await app.inject(`/files/${'a'.repeat(900)}`)).statusCode, 404)
    t.equal((await app.inject(`/files/${'.'.repeat(15_000)}`)).statusCode, 404)
    t.ok(performance.now() - began < 300, 'a segment takes no time that grows with its square')
  },

  'parameters of path and operation': async t => {
    const { app } = await serve(t, {
      paths: `
  /a/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string } }
      - { name: page, in: query, schema: { type: string } }
      - { $ref: '#/components/parameters/Page' }
    get:
      operationId: read
      parameters:
        - { name: page, in: query, schema: { type: integer } }
        - { name: page, in: header, schema: { type: string } }
      ${echo}`,
      components: '  parameters:\n    Page: { name: page, in: cookie, schema: { type: string } }'
    })
    const { body } = await app.inject({ url: '/a/x?page=2', headers: { page: 'three', cookie: 'page=four' } })
    t.strictSame(JSON.parse(body), { path: { id: 'x' }, query: { page: 2 }, cookie: { page: 'four' }, header: { page: 'three' } })
  },

  'parameters in query, header and cookie': async t => {
    const parameter = (name: string, place: string, schema: string, more = '') => `{ name: ${name}, in: ${place}, schema: { ${schema} }${more} }`
    const array = 'type: array, items: { type: string }'
    const { app } = await serve(t, {
      paths: `
  /{list}/{one}:
    get:
      operationId: read
      parameters:
        - ${parameter('list', 'path', array, ', required: true')}
        - ${parameter('one', 'path', 'type: string', ', required: true')}
        - ${parameter('many', 'query', array)}
        - ${parameter('joined', 'query', `${array}, contains: { type: string }`, ', explode: false')}
        - ${parameter('q', 'query', 'type: string')}
        - ${parameter('loose', 'query', 'type: array')}
        - ${parameter('X-List', 'header', array)}
        - ${parameter('X-One', 'header', 'type: string')}
        - ${parameter('theme', 'cookie', 'type: string')}
      ${echo}`
    })
    const read = async (url: string, headers = {}) => (await app.inject({ url, headers })).json()
    t.strictSame(await read('/a,b%2Cc/x,y'), { path: { list: ['a', 'b,c'], one: 'x,y' }, query: {}, header: {}, cookie: {} })
    t.strictSame((await read('/a/b?many=1&many=a%26b&other=x&joined=a,b%2Cc&q=a+b%2B%20?c')).query, { many: ['1', 'a&b'], joined: ['a', 'b,c'], q: 'a b+ ?c' })
    t.strictSame((await read('/a/b?loose=1&loose=x')).query, { loose: ['1', 'x'] }, 'of which nothing is said')
    t.strictSame((await read('/a/b?many=1&q')).query, { many: ['1'], q: '' })
    t.strictSame((await read('/a/b?%71=x')).query, { q: 'x' }, 'an encoded name')
    t.strictSame((await read('/a/b?__proto__=x&constructor=y')).query, {})
    t.strictSame((await read('/a/b', { 'x-list': 'a, b,c', 'X-ONE': 'a, b' })).header, { 'X-List': ['a', 'b', 'c'], 'X-One': 'a, b' })
    t.strictSame((await read('/a/b', { cookie: 'other=1; theme=dark%20red;x' })).cookie, { theme: 'dark red' })
    const refused: Array<[string, Record<string, string>, RegExp]> = [
      ['/a/b?q=1&q=2', {}, /^The query parameter "q" is sent more than once\.$/],
      ['/a/b', { cookie: 'theme=a; theme=b' }, /^The cookie "theme" is sent more than once\.$/],
      ['/a/b?q=%zz', {}, /cannot be decoded/],
      ['/a/b?%zz=1', {}, /cannot be decoded/],
      ['/a/b', { cookie: 'theme=%zz' }, /cannot be decoded/]
    ]
    for (const [url, headers, message] of refused) t.match((await app.inject({ url, headers })).json(), { error: 400, message }, url)
  },

  'numbers and booleans in parameters': async t => {
    const { app } = await serve(t, {
      paths: `
  /{id}:
    post:
      operationId: write
      parameters:
        - { name: id, in: path, required: true, schema: { $ref: '#/components/schemas/Id' } }
        - { name: n, in: query, schema: { type: number, maximum: 10 } }
        - { name: i, in: query, schema: { type: [integer, 'null'] } }
        - { name: b, in: query, schema: { type: boolean } }
        - { name: ids, in: query, schema: { type: array, maxItems: 3, items: { $ref: '#/components/schemas/Id' } } }
        - { name: either, in: query, schema: { anyOf: [{ type: integer, maximum: 10 }, { type: string }] } }
        - { name: X-Id, in: header, schema: { $ref: '#/components/schemas/Id' } }
      requestBody: { content: { application/json: { schema: { type: object, properties: { n: { type: number } } } } } }
      ${echo}`,
      components: '  schemas:\n    Id: { type: integer, format: int64 }',
      handlers: { write: ({ path, query, header }) => ({ status: 200, body: { path, query, header } }) }
    })
    const post = (url: string, headers = {}) => app.inject({ method: 'POST', url, headers })
    t.equal((await post('/9007199254740993?ids=-9223372036854775808&ids=9223372036854775807&ids=1e3', { 'x-id': '9007199254740995' })).body,
      '{"path":{"id":9007199254740993},"query":{"ids":[-9223372036854775808,9223372036854775807,1000]},"header":{"X-Id":9007199254740995}}')
    t.strictSame((await post('/1?n=-1.5e0&i=3&b=true&either=7')).json().query, { n: -1.5, i: 3, b: true, either: 7 })
    t.strictSame((await post('/1?b=false&either=11')).json().query, { b: false, either: '11' }, 'a string where the number is not allowed')
    const refused: Array<[string, RegExp]> = [
      ['/x', /^The path parameter "id" must be an integer from -9223372036854775808 to 9223372036854775807\.$/],
      ['/1.5', /must be an integer/], ['/9223372036854775808', /must be an integer/], ['/0x10', /must be an integer/], ['/+1', /must be an integer/], ['/01', /must be an integer/], ['/%201', /must be an integer/],
      ['/1?n=ten', /^The query parameter "n" must be a number\.$/], ['/1?n=', /must be a number/], ['/1?n=11', /must be <= 10/], ['/1?n=Infinity', /must be a number/], ['/1?i=1.5', /must be an integer/],
      ['/1?b=1', /must be a boolean/], ['/1?b=TRUE', /must be a boolean/],
      ['/1?ids=1&ids=x', /^The query parameter "ids" at 1 must be an integer/], ['/1?ids=1&ids=2&ids=3&ids=4', /must NOT have more than 3 items/]
    ]
    for (const [url, message] of refused) t.match((await post(url)).json(), { error: 400, message }, url)
    t.match((await app.inject({ method: 'POST', url: '/1', headers: json, body: '{"n":"1"}' })).json(), { error: 400, message: '"n" in the body must be a number.' }, 'bodies are never coerced')
  },

  '`required` and `default` of parameters': async t => {
    const { app } = await serve(t, {
      paths: `
  /a:
    get:
      operationId: read
      parameters:
        - { name: q, in: query, required: true, schema: { type: string } }
        - { name: limit, in: query, schema: { type: integer, format: int64, default: 20 } }
        - { name: tags, in: query, schema: { $ref: '#/components/schemas/Tags' } }
        - { name: X-Trace, in: header, required: true, schema: { type: string } }
      ${echo}`,
      components: '  schemas:\n    Tags: { type: array, items: { type: string }, default: [all] }'
    })
    const headers = { 'x-trace': '1' }
    t.equal((await app.inject({ url: '/a?q=', headers })).body, '{"query":{"q":"","limit":20,"tags":["all"]},"header":{"X-Trace":"1"}}')
    t.match((await app.inject({ url: '/a', headers })).json(), { error: 400, message: 'The query parameter "q" is missing.' })
    t.match((await app.inject('/a?q=x')).json(), { error: 400, message: 'The header field "X-Trace" is missing.' })
  },

  'request bodies': async t => {
    const body = (types: string[], more = '') => `requestBody: { ${more}content: { ${types.map(type => `${type}: { schema: { type: object } }`).join(', ')} } }`
    const { app } = await serve(t, {
      paths: `
  /needed: { post: { operationId: needed, ${body(['application/json', 'application/merge-patch+json', 'application/vnd.a.b+json; charset=utf-8'], 'required: true, ')}, ${echo} } }
  /optional: { put: { operationId: optional, ${body(['application/json'])}, ${echo} } }
  /none: { delete: { operationId: none, ${echo} }, post: { operationId: post, ${echo} } }`,
      handlers: Object.fromEntries(['needed', 'optional', 'none', 'post'].map(id => [id, ({ body }: Untyped) => ({ status: 200, body: body ?? 'none' })]))
    })
    const send = async (method: 'POST' | 'PUT' | 'DELETE', url: string, type?: string, payload?: string) => {
      const { statusCode, body } = await app.inject({ method, url, headers: type === undefined ? {} : { 'content-type': type }, ...payload !== undefined && { payload } })
      return [statusCode, JSON.parse(body).message ?? JSON.parse(body)]
    }
    for (const type of ['application/json', 'application/merge-patch+json', 'application/vnd.a.b+json;charset=utf-8']) t.strictSame(await send('POST', '/needed', type, '{"a":1}'), [200, { a: 1 }], type)
    t.strictSame(await send('POST', '/needed', 'application/vnd.axb+json', '{}'), [415, 'The body must be sent as Content-Type: application/json or application/merge-patch+json or application/vnd.a.b+json, in UTF-8.'])
    t.strictSame(await send('POST', '/needed'), [400, 'This operation needs a body, sent as application/json or application/merge-patch+json or application/vnd.a.b+json.'])
    t.strictSame(await send('POST', '/needed', 'application/json', ''), [400, 'This operation needs a body, sent as application/json or application/merge-patch+json or application/vnd.a.b+json.'])
    t.strictSame(await send('PUT', '/optional'), [200, 'none'])
    t.strictSame(await send('PUT', '/optional', 'application/json', ''), [200, 'none'])
    t.strictSame(await send('PUT', '/optional', 'application/json', '[]'), [400, 'The body must be an object.'])
    t.strictSame(await send('DELETE', '/none', 'application/json'), [200, 'none'], 'a media type of nothing')
    t.strictSame(await send('POST', '/none', 'application/json', '{}'), [415, 'This operation takes no body.'])
    t.strictSame(await send('DELETE', '/none', 'text/plain', 'x'), [415, 'This operation takes no body.'])
  },

  'answers by status, range and `default`': async t => {
    const content = (type: string) => `content: { ${type}: { schema: { type: object, required: [a], properties: { a: { type: string } } } } }`
    let answer: Untyped = {}
    const { app, causes } = await serve(t, {
      paths: `
  /a:
    get:
      operationId: read
      responses:
        '200': { description: exact, ${content('application/json')} }
        '202': { description: nothing }
        '204': { description: nothing }
        2XX: { description: range, ${content('application/hal+json')} }
        default: { description: rest, ${content('application/problem+json')} }
  /b: { get: { operationId: strict, responses: { '200': { description: exact } } } }`,
      handlers: { read: () => answer, strict: () => answer }
    })
    const get = async (given: Untyped, url = '/a') => {
      answer = given
      const { statusCode, headers, body } = await app.inject(url)
      return [statusCode, headers['content-type'], body]
    }
    const body = { a: 'x', b: 'undeclared' }
    t.strictSame(await get({ status: 200, body }), [200, 'application/json; charset=utf-8', '{"a":"x"}'])
    t.strictSame(await get({ status: 202 }), [202, undefined, ''])
    t.strictSame(await get({ status: 204 }), [204, undefined, ''])
    t.strictSame(await get({ status: 201, body }), [201, 'application/hal+json; charset=utf-8', '{"a":"x"}'])
    t.strictSame(await get({ status: 404, body }), [404, 'application/problem+json; charset=utf-8', '{"a":"x"}'])
    t.strictSame(await get({ status: 200 }, '/b'), [200, undefined, ''])
    const refused: Array<[Untyped, string, RegExp]> = [
      [{ status: 200 }, '/a', /read answered 200 without its body/],
      [{ status: 200, body: [] }, '/a', /the answer must be an object/],
      [{ status: 200, body: { a: 1 } }, '/a', /the answer at a must be a string/],
      [{ status: 202, body }, '/a', /read answered 202 with a body, which/],
      [{ status: 205, body }, '/a', /read answered 205 with a body, which/],
      [{ status: 99, body }, '/a', /read answered 99, which/],
      [{ status: 600, body }, '/a', /read answered 600, which/],
      [{ status: '200', body }, '/a', /read answered 200, which/],
      [{ body }, '/a', /read answered undefined, which/],
      [{ status: 201 }, '/b', /strict answered 201, which/],
      [{ status: 200, body }, '/b', /strict answered 200 with a body, which/]
    ]
    for (const [given, url, cause] of refused) {
      t.match(await get(given, url), [500, /json/, '{"error":500,"message":"The service failed; its log says why."}'], JSON.stringify(given))
      t.match(causes().at(-1), cause)
    }
  },

  'header fields of answers': async t => {
    let headers: Untyped = {}
    const { app, causes } = await serve(t, {
      paths: `
  /a:
    get:
      operationId: read
      responses:
        '204':
          description: nothing
          headers:
            X-Left: { required: true, schema: { type: integer, format: int64 } }
            X-Tags: { schema: { type: array, items: { type: string } } }
            Set-Cookie: { schema: { type: array, items: { type: string } } }
            Location: { $ref: '#/components/headers/Location' }
            Content-Type: { schema: { type: string } }`,
      components: '  headers:\n    Location: { schema: { type: string, format: uri-reference } }',
      handlers: { read: () => ({ status: 204, headers }) }
    })
    const get = (given: Untyped) => {
      headers = given
      return app.inject('/a')
    }
    t.match((await get({ 'X-Left': 9007199254740993n, 'X-Tags': ['a', 'b'], 'Set-Cookie': ['a=1', 'b=2'], Location: '/b' })).headers,
      { 'x-left': '9007199254740993', 'x-tags': 'a, b', 'set-cookie': ['a=1', 'b=2'], location: '/b' })
    t.notOk('x-tags' in (await get({ 'X-Left': 1n })).headers)
    const refused: Array<[Untyped, RegExp]> = [
      [{}, /read answered with a header field X-Left that must be an integer/],
      [{ 'X-Left': 'x' }, /X-Left that must be an integer/],
      [{ 'X-Left': 1n, 'X-Other': 'x' }, /read answered with the header field X-Other, which the contract does not declare/],
      [{ 'X-Left': 1n, 'Content-Type': 'text/html' }, /Content-Type, which the contract does not declare/],
      [{ 'X-Left': 1n, 'X-Tags': ['a\r\nX-Evil: 1'] }, /Invalid character in header content/]
    ]
    for (const [given, cause] of refused) {
      const response = await get(given)
      t.equal(response.statusCode, 500)
      t.notOk('x-evil' in response.headers)
      t.match(causes().at(-1), cause)
    }
  },

  'JSON Schema 2020-12': async t => {
    const { check } = await shape(t, `{ type: object, properties: {
      tuple: { prefixItems: [{ type: string }, { type: integer }], items: false, minItems: 2 },
      mixed: { type: [string, integer, 'null'] },
      pattern: { type: object, patternProperties: { ^x: { type: integer } }, additionalProperties: false },
      names: { propertyNames: { maxLength: 2 } },
      contains: { type: array, contains: { const: 1 }, minContains: 2 },
      dependent: { dependentRequired: { a: [b] }, dependentSchemas: { c: { required: [d] } } },
      unevaluated: { allOf: [{ properties: { a: {} } }], properties: { b: {} }, unevaluatedProperties: false },
      unique: { type: array, uniqueItems: true },
      date: { type: string, format: date-time }, email: { type: string, format: email }, uuid: { type: string, format: uuid }, int32: { type: integer, format: int32 },
      enum: { enum: [a, 1, null] }, never: false, constructor: { type: string } } }`)
    await check('tuple', ['["a",1]'], [['["a"]', /fewer than 2 items/], ['["a",1,2]', /more than 2 items/], ['[1,1]', /^"value\/tuple\/0" in the body must be a string/]])
    await check('mixed', ['"a"', '1', 'null'], [['1.5', /must be a string or an integer or null/], ['true', /must be a string or an integer or null/]])
    await check('pattern', ['{"xa":1}'], [['{"xa":"1"}', /xa" in the body must be an integer/], ['{"y":1}', /must not have the member "y"/]])
    await check('names', ['{"ab":1}'], [['{"abc":1}', /has the member "abc", whose name must NOT have more than 2 characters/]])
    await check('contains', ['[1,1]'], [['[1]', /contain/]])
    await check('dependent', ['{"a":1,"b":2}', '{"c":1,"d":2}'], [['{"a":1}', /must have property b when property a is present/], ['{"c":1}', /must have the member "d"/]])
    await check('unevaluated', ['{"a":1,"b":2}'], [['{"c":1}', /must not have the member "c"/]])
    await check('unique', ['[1,2]'], [['[1,1]', /duplicate/]])
    await check('date', ['"2026-11-20T10:00:00Z"'], [['"yesterday"', /must match format "date-time"/]])
    await check('email', ['"a@b.de"'], [['"a"', /email/]])
    await check('uuid', ['"123e4567-e89b-12d3-a456-426614174000"'], [['"1"', /uuid/]])
    await check('int32', ['2147483647'], [['2147483648', /int32/]])
    await check('enum', ['"a"', '1', 'null'], [['2', /must be one of "a", 1, null/]])
    await check('never', [], [['1', /must not be sent/]])
    await check('constructor', ['"x"'], [['1', /must be a string/]])
  },

  $ref: async t => {
    const { check } = await shape(t, "{ type: object, properties: { part: { $ref: '#/components/schemas/Whole/properties/part' }, beside: { $ref: '#/components/schemas/Whole', type: object, required: [part] } } }",
      '\n    Whole: { type: object, properties: { part: { type: integer, format: int64 } } }')
    await check('part', ['9007199254740993'], [['"1"', /must be an integer/]])
    await check('beside', ['{"part":1}'], [['{}', /must have the member "part"/]])
    const folder = t.testdir()
    cpSync('test/fixtures/contracts', folder, { recursive: true })
    const contract = await loadContract(join(folder, 'tree.yaml'))
    t.strictSame(Object.keys(contract.schemas).sort(), ['Leaf', 'Tree'])
    const { app } = await serveLoaded(t, contract, { handlers: { growTree: ({ body }) => ({ status: 200, body }) } })
    const grow = (payload: string) => app.inject({ method: 'POST', url: '/trees', headers: json, payload })
    const tree = '{"name":"a","first":{"id":9007199254740993},"branches":[{"name":"b","branches":[{"name":"c","leaves":[{"id":-9007199254740993}]}]}]}'
    t.equal((await grow(tree)).body, tree)
    t.match((await grow('{"name":"a","branches":[{"name":"b","branches":[{"leaves":[]}]}]}')).json(), { error: 400, message: '"branches/0/branches/0" in the body must have the member "name".' })
    t.match((await grow('{"name":1}')).json(), { error: 400, message: '"name" in the body must be a string.' })
  },

  '`allOf`, `oneOf`, `anyOf`, `not`, `if`': async t => {
    const { check, answer } = await shape(t, `{ type: object, properties: {
      all: { allOf: [{ type: object, required: [a], properties: { a: { type: string } } }, { type: object, properties: { b: { type: integer, format: int64 } } }] },
      one: { oneOf: [{ type: object, required: [a], properties: { a: { type: integer, format: int64 }, kind: { const: exact } } }, { type: object, properties: { a: { type: number }, kind: { const: double } } }] },
      any: { anyOf: [{ type: string }, { type: 'null' }, { type: object, properties: { deep: { type: string } } }] },
      not: { type: integer, not: { const: 3 } },
      if: { type: object, properties: { kind: { type: string } }, if: { properties: { kind: { const: x } } }, then: { required: [x], properties: { x: { type: integer, format: int64 } } }, else: { properties: { y: { type: string } } } },
      none: { oneOf: [{ minimum: 3 }, { maximum: 5 }] } } }`)
    await check('all', ['{"a":"x","b":9007199254740993}'], [['{"b":1}', /must have the member "a"/], ['{"a":"x","b":"y"}', /must be an integer from/]])
    await check('one', ['{"a":9007199254740993,"kind":"exact"}', '{"a":0.5,"kind":"double"}', '{"kind":"double"}'], [['{"a":1}', /fits more than one of the forms/], ['{"a":1,"kind":"x"}', /"value\/one\/kind" in the body must be "exact"/]])
    await check('any', ['"a"', 'null', '{"deep":"x"}'], [['{"deep":1}', /"value\/any\/deep" in the body must be a string/], ['1', /"value\/any" in the body must be a string or null or an object/]])
    await check('not', ['4'], [['3', /must NOT be valid/]])
    await check('if', ['{"kind":"x","x":9007199254740993}', '{"kind":"y","y":"z"}'], [['{"kind":"x"}', /must have the member "x"/]])
    await check('none', ['2', '6'], [['4', /fits more than one/]])
    t.strictSame(await answer('one', { a: 5, kind: 'double', b: 'undeclared' }), { a: 5, kind: 'double' })
    t.strictSame(await answer('all', { a: 'x', b: 5n, c: 'undeclared' }), { a: 'x', b: 5 })
    t.strictSame(await answer('any', { deep: 'x', c: 'undeclared' }), { deep: 'x' })
    t.strictSame(await answer('if', { kind: 'y', x: 'of the other branch', y: 'z' }), { kind: 'y', y: 'z' })
    t.strictSame(await answer('if', { kind: 'x', x: 1n, y: 'of the other branch' }), { kind: 'x', x: 1 })
  },

  '`discriminator` beside `oneOf`': async t => {
    const components = `
    Pet: { oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }], discriminator: { propertyName: kind, mapping: { cat: '#/components/schemas/Cat', tom: Cat } } }
    Cat: { type: object, required: [lives], properties: { kind: { type: string }, lives: { type: integer, format: int64 } } }
    Dog: { type: object, required: [barks], properties: { kind: { type: string }, barks: { type: boolean } } }`
    const written = '{ oneOf: [{ type: object, properties: { kind: { const: a } } }, { type: object, properties: { kind: { enum: [a, b] } } }], discriminator: { propertyName: kind } }'
    const { check, answer } = await shape(t, `{ type: object, properties: { pet: { $ref: '#/components/schemas/Pet' }, cat: { $ref: '#/components/schemas/Cat' }, written: ${written} } }`, components)
    await check('written', ['{"kind":"b"}'], [['{"kind":"c"}', /"value\/written\/kind" in the body must be/], ['{"kind":"a"}', /fits more than one of the forms/]])
    await check('pet', ['{"kind":"cat","lives":9}', '{"kind":"tom","lives":9007199254740993}', '{"kind":"Dog","barks":true}'], [
      ['{"kind":"Dog","lives":9}', /"value\/pet" in the body must have the member "barks"/],
      ['{"kind":"tom","lives":"9"}', /"value\/pet\/lives" in the body must be an integer/],
      ['{"kind":"Cat","lives":9}', /"value\/pet\/kind" in the body must be one of "cat", "tom", "Dog"/],
      ['{"lives":9}', /"value\/pet" in the body must have the member "kind"/],
      ['7', /"value\/pet" in the body must be an object/]
    ])
    await check('cat', ['{"kind":"cat","lives":9}'], [['{"kind":"Dog","lives":9}', /must be one of "cat", "tom"/]])
    t.strictSame(await answer('pet', { kind: 'Dog', barks: true, lives: 9n }), { kind: 'Dog', barks: true })
  },

  '`readOnly` and `writeOnly`': async t => {
    const components = `
    Id: { type: string, readOnly: true }
    Base: { type: object, properties: { id: { $ref: '#/components/schemas/Id' } } }
    User: { allOf: [{ $ref: '#/components/schemas/Base' }, { type: object, required: [id, name, password], properties: { name: { type: string }, password: { type: string, writeOnly: true } } }] }`
    const { app, causes } = await serve(t, {
      paths: `
  /users: { post: { operationId: create, requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/User' } } } },
      responses: { '200': { description: fine, content: { application/json: { schema: { $ref: '#/components/schemas/User' } } } } } } }`,
      components: `  schemas:${components}`,
      handlers: { create: ({ body: { name, password } }) => ({ status: 200, body: { id: '1', name, ...name === 'leak' && { password } } }) }
    })
    const create = (body: object) => app.inject({ method: 'POST', url: '/users', body })
    t.strictSame((await create({ name: 'a', password: 'b' })).json(), { id: '1', name: 'a' })
    t.match((await create({ id: '1', name: 'a', password: 'b' })).json(), { error: 400, message: '"id" in the body must not be sent.' })
    t.match((await create({ name: 'a' })).json(), { error: 400, message: 'The body must have the member "password".' })
    t.equal((await create({ name: 'leak', password: 'b' })).statusCode, 500)
    t.match(causes().at(-1), 'the answer at password must not be sent')
  },

  'format int64': async t => {
    const int64 = 'type: integer, format: int64'
    const { check, answer } = await shape(t, `{ type: object, properties: {
      plain: { ${int64} }, list: { type: array, items: { ${int64} } }, nullable: { type: [integer, 'null'], format: int64 },
      map: { type: object, additionalProperties: { ${int64} } }, bounded: { ${int64}, minimum: 5, exclusiveMaximum: 10 },
      text: { type: string, format: int64 }, tuple: { prefixItems: [{ ${int64} }] } } }`)
    await check('plain', ['9223372036854775807', '-9223372036854775808', '9007199254740993'], [['9223372036854775808', /must be an integer from/], ['"1"', /must be an integer/], ['1.5', /must be an integer/]])
    await check('list', ['[1,9007199254740993]'], [['[1,"2"]', /list\/1/]])
    await check('nullable', ['null', '9007199254740993'], [['"1"', /must be an integer/]])
    await check('map', ['{"a":9007199254740993}'], [['{"a":null}', /map\/a/]])
    await check('bounded', ['5', '9'], [['4', /must be >= 5/], ['10', /must be < 10/]])
    await check('text', ['"9007199254740993"'], [['1', /must be a string/]])
    await check('tuple', ['[9007199254740993]'], [['[null]', /tuple\/0/]])
    t.equal(await answer('plain', 2n ** 63n), 500)
    const { app } = await serve(t, {
      paths: `
  /whole: { post: { operationId: whole, requestBody: { required: true, content: { application/json: { schema: { ${int64} } } } }, responses: { '200': { description: fine, content: { application/json: { schema: { ${int64} } } } } } } }`,
      handlers: { whole: ({ body }) => ({ status: 200, body: body as bigint + 0n }) }
    })
    for (const text of ['9007199254740993', '0', '-9223372036854775808']) t.equal((await app.inject({ method: 'POST', url: '/whole', headers: json, payload: text })).body, text, 'the whole body')
  },

  'http bearer and basic, apiKey, oauth2, openIdConnect': async t => {
    const seen: unknown[] = []
    const verify = (credentials: unknown, scopes: readonly string[]) => {
      seen.push([credentials, scopes])
      const text = JSON.stringify(credentials)
      return text.includes('good') ? { name: 'x' } : text.includes('weak') ? 'forbidden' : undefined
    }
    const names = ['bearer', 'basic', 'inHeader', 'inQuery', 'inCookie', 'oauth', 'oidc']
    const { app } = await serve(t, {
      top: '',
      paths: names.map(name => `  /${name}: { get: { operationId: ${name}, security: [{ ${name}: [${name === 'oauth' ? 'read, write' : ''}] }], responses: { '204': { description: fine } } } }`).join('\n'),
      components: `
  securitySchemes:
    bearer: { type: http, scheme: Bearer }
    basic: { type: http, scheme: basic }
    inHeader: { type: apiKey, in: header, name: X-Key }
    inQuery: { type: apiKey, in: query, name: key }
    inCookie: { type: apiKey, in: cookie, name: key }
    oauth: { type: oauth2, flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { read: r, write: w } } } }
    oidc: { type: openIdConnect, openIdConnectUrl: 'https://example.com/.well-known/openid-configuration' }`,
      handlers: Object.fromEntries(names.map(name => [name, ({ principals }: Untyped) => ({ status: principals[name].name === 'x' ? 204 : 500 })])),
      verifiers: Object.fromEntries(names.map(name => [name, verify]))
    })
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    const get = async (name: string, headers: object, query = '') => {
      const { statusCode, headers: { 'www-authenticate': challenge } } = await app.inject({ url: `/${name}${query}`, headers: headers as Record<string, string> })
      return [statusCode, challenge]
    }
    const none = undefined
    const bearer = 'Bearer realm="test"'
    t.strictSame(await get('bearer', { authorization: 'Bearer good' }), [204, none])
    t.strictSame(await get('bearer', { authorization: 'Bearer weak' }), [403, `${bearer}, error="insufficient_scope"`])
    t.strictSame(await get('bearer', { authorization: 'Bearer bad' }), [401, `${bearer}, error="invalid_token"`])
    t.strictSame(await get('bearer', {}), [401, bearer])
    t.strictSame(await get('basic', { authorization: basic('good:pass:word ü') }), [204, none])
    t.strictSame(seen.at(-1), [{ username: 'good', password: 'pass:word ü' }, []])
    t.strictSame(await get('basic', { authorization: basic('weak:') }), [403, none])
    for (const authorization of [basic('bad:x'), basic('good'), 'Basic', 'Basic %%%']) t.strictSame(await get('basic', { authorization }), [401, 'Basic realm="test", charset="UTF-8"'], authorization)
    for (const authorization of ['', 'Bearer good']) t.strictSame(await get('basic', { authorization }), [401, 'Basic realm="test", charset="UTF-8"'], authorization)
    const { port } = await listen(app)
    const twice = `authorization: ${basic('good:x')}\r\n`.repeat(2)
    t.match(await exchange(port, `GET /basic HTTP/1.1\r\nHost: x\r\n${twice}Connection: close\r\n\r\n`), [{ statusCode: 400, body: /more than once/ }])
    t.strictSame(await get('inHeader', { 'x-key': 'good' }), [204, none])
    t.strictSame(await get('inHeader', { 'x-key': 'weak' }), [403, none])
    t.strictSame(await get('inHeader', {}), [401, 'ApiKey realm="test"'])
    t.strictSame(await get('inQuery', {}, '?key=very%20good'), [204, none])
    t.strictSame(seen.at(-1), ['very good', []])
    t.strictSame(await get('inQuery', {}, '?key=good&key=good'), [400, 'ApiKey realm="test"'])
    t.strictSame(await get('inCookie', { cookie: 'a=b; key=good' }), [204, none])
    t.strictSame(await get('inCookie', { cookie: 'key=bad' }), [401, 'ApiKey realm="test"'])
    t.strictSame(await get('oauth', { authorization: 'Bearer good' }), [204, none])
    t.strictSame(seen.at(-1), ['good', ['read', 'write']])
    t.strictSame(await get('oauth', { authorization: 'Bearer weak' }), [403, `${bearer}, error="insufficient_scope", scope="read write"`])
    t.strictSame(await get('oidc', { authorization: 'Bearer good' }), [204, none])
  },

  '`security`': async t => {
    const get = (id: string, security?: string) => `  /${id}: { get: { operationId: ${id}, ${security === undefined ? '' : `security: ${security}, `}responses: { '200': { description: who, content: { application/json: { schema: { type: array, items: { type: string } } } } } } } }`
    const names = ['global', 'open', 'either', 'maybe', 'nobody']
    const { app } = await serve(t, {
      top: 'security: [{ user: [] }]',
      paths: [get('global'), get('open', '[]'), get('either', '[{ user: [], app: [] }, { admin: [] }]'), get('maybe', '[{}, { user: [] }]'), get('nobody', '[{}]')].join('\n'),
      components: '  securitySchemes:\n    user: { type: http, scheme: bearer }\n    app: { type: apiKey, in: header, name: X-App }\n    admin: { type: http, scheme: basic }',
      handlers: Object.fromEntries(names.map(name => [name, ({ principals }: Untyped) => ({ status: 200, body: Object.keys(principals ?? {}) })])),
      verifiers: {
        user: (token: string) => token === 'torn' ? assert.fail('no idea') : token === 'broken' ? Promise.reject(new Error('no answer')) : token === 'u' ? Promise.resolve({ name: 'u' }) : token === 'w' ? 'forbidden' : undefined,
        app: (key: string) => key === 'a' ? { name: 'a' } : undefined,
        admin: ({ username }: { username: string }) => username === 'root' ? { name: 'root' } : undefined
      }
    })
    const as = async (url: string, headers: Record<string, string> = {}) => {
      const { statusCode, body, headers: { 'www-authenticate': challenge } } = await app.inject({ url, headers })
      return statusCode === 200 ? JSON.parse(body) : [statusCode, challenge]
    }
    const user = { authorization: 'Bearer u' }
    t.strictSame(await as('/global', user), ['user'])
    t.strictSame(await as('/global'), [401, 'Bearer realm="test"'])
    t.strictSame(await as('/open'), [])
    t.strictSame(await as('/nobody', { authorization: 'Bearer x' }), [], 'no credentials are asked for')
    t.strictSame(await as('/either', { ...user, 'x-app': 'a' }), ['user', 'app'])
    t.strictSame(await as('/either', { authorization: `Basic ${btoa('root:x')}`, 'x-app': 'a' }), ['admin'], 'only those whose requirement was met')
    t.strictSame(await as('/either', user), [401, 'ApiKey realm="test", Basic realm="test", charset="UTF-8"'])
    t.strictSame(await as('/either', { ...user, 'x-app': 'b' }), [401, 'ApiKey realm="test", Basic realm="test", charset="UTF-8"'])
    t.strictSame(await as('/either', { authorization: 'Bearer w', 'x-app': 'a' }), [403, 'Bearer realm="test", error="insufficient_scope"'])
    t.strictSame(await as('/either', { authorization: 'Bearer broken' }), [500, undefined], 'who cannot tell has not refused')
    t.strictSame(await as('/global', { authorization: 'Bearer torn' }), [500, undefined])
    t.strictSame(await as('/maybe'), [])
    t.strictSame(await as('/maybe', user), ['user'])
    t.strictSame(await as('/maybe', { authorization: 'Bearer x' }), [401, 'Bearer realm="test", error="invalid_token"'], 'bad credentials are not none')
  },

  '`servers`': async t => {
    const paths = `  /a: { get: { operationId: a, ${echo} } }\n  /b: { servers: [{ url: 'https://b.example/own/' }], get: { operationId: b, ${echo} }, put: { operationId: c, servers: [{ url: / }], ${echo} } }`
    const found = async (top: string, urls: string[]) => {
      const { app } = await serve(t, { paths, top: `security: []\n${top}` })
      return Promise.all(urls.map(async url => (await app.inject(url)).statusCode))
    }
    t.strictSame(await found('', ['/a', '/own/b']), [200, 200])
    t.strictSame(await found('servers: [{ url: https://example.org/api/v1 }, { url: /other }]', ['/api/v1/a', '/a', '/other/a', '/own/b', '/b']), [200, 404, 404, 200, 405])
    t.strictSame(await found("servers: [{ url: '/{x}/a:b', variables: { x: { default: v 1 } } }]", ['/v%201/a:b/a']), [200])
    t.strictSame(await found('servers: [{ url: v1 }]', ['/v1/a']), [200])
  },

  'HEAD, OPTIONS and 405': async t => {
    const { app } = await serve(t, {
      paths: `
  /a: { get: { operationId: a, ${echo} }, put: { operationId: b, ${echo} } }
  /b: { get: { operationId: c, ${echo} }, head: { operationId: d, responses: { '204': { description: fine } } }, options: { operationId: e, ${echo} } }`,
      handlers: { d: () => ({ status: 204 }) }
    })
    t.match(await app.inject({ method: 'HEAD', url: '/a' }), { statusCode: 200, body: '', headers: { 'content-length': '2' } })
    t.match(await app.inject({ method: 'OPTIONS', url: '/a' }), { statusCode: 204, headers: { allow: 'GET, HEAD, PUT, OPTIONS' } })
    t.match(await app.inject({ method: 'DELETE', url: '/a' }), { statusCode: 405, headers: { allow: 'GET, HEAD, PUT, OPTIONS' } })
    t.equal((await app.inject({ method: 'HEAD', url: '/b' })).statusCode, 204, 'as the contract says')
    t.equal((await app.inject({ method: 'OPTIONS', url: '/b' })).statusCode, 200, 'as the contract says')
    t.match(await app.inject({ method: 'PUT', url: '/b' }), { statusCode: 405, headers: { allow: 'GET, OPTIONS, HEAD' } })
  },

  'webhooks and callbacks': async t => {
    const { contract } = await serve(t, {
      top: 'security: []\nwebhooks:\n  plantSold: { post: { requestBody: { content: { application/xml: { schema: { type: string } } } }, responses: { 1XX: { description: fine } } } }',
      paths: `
  /a:
    post:
      operationId: a
      ${echo}
      callbacks: { done: { '{$request.body#/url}': { post: { requestBody: { content: { text/plain: { schema: { type: string } } } }, responses: { '200': { description: fine } } } } } }`
    })
    t.strictSame(Object.keys(contract.operations), ['a'])
  }
}

t.test('supported', async t => {
  t.strictSame(tableRows(list, 'Supported').map(([feature = '']) => feature.replace(/^`\$ref`$/, '$ref')), Object.keys(supported))
  for (const [feature, proof] of Object.entries(supported)) await t.test(feature, proof)
})

/** A change of a contract that asks for each feature that is not served. */
const get = (more: string, path = '/a') => ({ paths: `  ${path}: { get: { operationId: a, ${more} } }` })
const none = "responses: { '204': { description: fine } }"
const schema = (text: string): OtherContract => ({ ...get(none), components: `  schemas: { A: ${text}, B: { type: string, $defs: { x: { type: string } } } }` })
const parameter = (text: string) => get(`parameters: [{ name: x, ${text} }], ${none}`)
const asking: Record<keyof typeof unsupported, OtherContract[]> = {
  version: [{ ...get(none), top: 'openapi: 3.0.3\nsecurity: []' }],
  dialect: [{ ...get(none), top: 'security: []\njsonSchemaDialect: https://json-schema.org/draft-07/schema' }, schema('{ $schema: https://json-schema.org/draft-07/schema, type: string }')],
  anchor: [schema('{ $id: a, type: string }'), schema('{ $anchor: a, type: string }'), schema('{ $dynamicAnchor: a, type: string }')],
  schemaReference: [{ ...get(none), components: "  schemas: { A: { $ref: '#/components/responses/R/content/application~1json/schema' } }\n  responses: { R: { description: r, content: { application/json: { schema: { type: string } } } } }" }],
  int64: [schema('{ format: int64 }'), schema('{ type: number, format: int64 }'), schema('{ type: [integer, string], format: int64 }')],
  uniqueInt64: [schema('{ type: array, uniqueItems: true, items: { type: integer, format: int64 } }')],
  loop: [schema("{ anyOf: [{ type: string }, { $ref: '#/components/schemas/A' }] }"), schema("{ oneOf: [{ $ref: '#/components/schemas/C' }], discriminator: { propertyName: kind } }, C: { allOf: [{ $ref: '#/components/schemas/A' }] }")],
  proto: [get(`parameters: [{ name: __proto__, in: query, schema: { type: string } }], ${none}`), { paths: `  /a: { get: { operationId: __proto__, ${none} } }` }, schema('{ type: object, properties: { __proto__: { type: string } } }')],
  discriminator: [schema('{ type: object, discriminator: { propertyName: kind }, required: [kind], properties: { kind: { type: string } } }')],
  operationId: [{ paths: `  /a: { get: { ${none} } }` }],
  noSecurity: [{ ...get(none), top: '' }],
  noResponses: [{ paths: '  /a: { get: { operationId: a } }' }, { paths: '  /a: { head: { operationId: a } }' }],
  ownPath: [get(none, '/docs'), get(none, '/livez'), get(none, '/readyz/x'), get(none, '/%6Civez'), { ...get(none, '/json'), top: 'security: []\nservers: [{ url: /docs }]' }],
  path: [get(none, '/a*'), get(none, "'/a#b'"), get(none, '/a/{b'), get(none, '/a%zz'), { paths: `  '/{x}/{x}': { get: { operationId: a, parameters: [{ name: x, in: path, required: true, schema: { type: string } }], ${none} } }` }],
  adjacent: [{ paths: `  '/{x}{y}': { get: { operationId: a, parameters: [{ name: x, in: path, required: true, schema: { type: string } }, { name: y, in: path, required: true, schema: { type: string } }], ${none} } }` }],
  parameterContent: [parameter('in: query, content: { application/json: { schema: { type: string } } }'), get("responses: { '204': { description: fine, headers: { X-A: { content: { application/json: {} } } } } }")],
  style: [parameter('in: query, style: deepObject, schema: { type: string }'), parameter('in: query, style: pipeDelimited, schema: { type: array, items: { type: string } }'), parameter('in: query, style: spaceDelimited, schema: { type: array, items: { type: string } }')],
  objectParameter: [parameter('in: query, schema: { type: object }'), parameter('in: query, schema: { type: array, items: { type: object } }'), get("responses: { '204': { description: fine, headers: { X-A: { schema: { type: array, items: { type: array } } } } } }"), get("responses: { '204': { description: fine, headers: { X-A: { schema: { anyOf: [{ type: string }, { properties: { a: {} } }] } } } } }")],
  cookieArray: [parameter('in: cookie, schema: { type: array, items: { type: string } }')],
  requestBody: [get(`requestBody: { content: { application/json: {} } }, ${none}`)],
  mediaType: [get("responses: { '200': { description: fine, content: { text/html: {} } } }"), { paths: `  /a: { post: { operationId: a, requestBody: { content: { multipart/form-data: {} } }, ${none} } }` }],
  mediaTypes: [get("responses: { '200': { description: fine, content: {} } }"), get("responses: { '200': { description: fine, content: { application/json: { schema: { type: string } }, application/hal+json: { schema: { type: integer } } } } }")],
  status: [get("responses: { '102': { description: early } }"), get('responses: { 1XX: { description: early } }')],
  bodiless: [get("responses: { '204': { description: nothing, content: { application/json: {} } } }"), { paths: "  /a: { head: { operationId: a, responses: { '200': { description: fine, content: { application/json: {} } } } } }" }],
  securityScheme: [{ ...get(none), components: '  securitySchemes: { d: { type: http, scheme: digest } }' }, { ...get(none), components: '  securitySchemes: { m: { type: mutualTLS } }' }]
}

t.test('not supported', async t => {
  t.strictSame(tableRows(list, 'Not supported').map(([feature]) => feature), Object.values(unsupported))
  for (const [feature, contracts] of Object.entries(asking)) {
    await t.test(unsupported[feature as keyof typeof unsupported], async t => {
      for (const contract of contracts) {
        const file = join(t.testdir(), 'other.yaml')
        writeFileSync(file, contractText(contract).replace(/^openapi: 3\.1\.0\n(?=[^]*^openapi:)/m, ''))
        const { findings } = await loadContract(file).then(() => t.fail(readFileSync(file, 'utf8')), error => error) as ContractError
        const name = RegExp.escape(unsupported[feature as keyof typeof unsupported])
        t.ok(findings.some(finding => new RegExp(`other\\.yaml:\\d+:\\d+ #/.* Not supported: ${name}( \\(.*\\))?\\.`).test(finding)), findings.join('\n'))
      }
    })
  }
})

const ignored: Record<string, (t: Test) => Promise<void>> = {
  'the header parameters Accept, Content-Type and Authorization': async t => {
    const names = ['Accept', 'content-type', 'Authorization']
    const { app } = await serve(t, get(`parameters: [${names.map(name => `{ name: ${name}, in: header, required: true, schema: { type: object } }`).join(', ')}], ${echo}`))
    t.strictSame((await app.inject('/a')).json(), {})
  },
  'the header field Content-Type of an answer': async t => {
    const { contract } = await serve(t, get("responses: { '204': { description: fine, headers: { content-type: { schema: { type: object } } } } }"))
    t.strictSame(contract.operations.a?.responses, { 204: {} })
  },
  'formats that nobody here knows': async t => {
    const { check } = await shape(t, '{ type: object, properties: { a: { type: string, format: snowflake } } }')
    await check('a', ['"anything"'], [['1', /must be a string/]])
  },
  annotations: async t => {
    const { app } = await serve(t, {
      ...get(`x-a: 1, deprecated: true, tags: [t], externalDocs: { url: 'https://example.com' }, parameters: [{ name: q, in: query, allowReserved: true, allowEmptyValue: true, deprecated: true, example: x, schema: { type: string, x-b: {}, xml: { name: y }, externalDocs: { url: 'https://example.com' }, contentMediaType: text/html, example: z } }],
        responses: { '200': { description: fine, links: { next: { operationId: a } }, content: { application/json: { schema: {}, examples: { e: { value: 1 } } } } } }`)
    })
    t.strictSame((await app.inject('/a?q=')).json(), { query: { q: '' } })
  },
  'servers after the first': async t => {
    const { app } = await serve(t, { ...get(echo), top: 'security: []\nservers: [{ url: /v2 }, { url: /v1 }]' })
    t.strictSame([(await app.inject('/v2/a')).statusCode, (await app.inject('/v1/a')).statusCode], [200, 404])
  }
}

t.test('ignored', async t => {
  t.strictSame(tableRows(list, 'Ignored').map(([feature]) => feature), Object.keys(ignored))
  for (const [feature, proof] of Object.entries(ignored)) await t.test(feature, proof)
})

/** A contract with one schema, in the request as in the answer, as the member `value`. */
async function shape (t: Test, schema: string, components = '') {
  let answered: unknown
  const { app } = await serve(t, {
    paths: `
  /echo: { post: { operationId: echo, requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Shape' } } } }, responses: &r { '200': { description: fine, content: { application/json: { schema: { $ref: '#/components/schemas/Shape' } } } } } } }
  /answer: { get: { operationId: answer, responses: *r } }`,
    components: `  schemas:\n    Shape: { type: object, properties: { value: ${schema} } }${components}`,
    handlers: { echo: ({ body }) => ({ status: 200, body }), answer: () => ({ status: 200, body: { value: answered } }) }
  })
  return {
    /** What goes in comes out, to the letter, and what is not valid is refused. */
    async check (member: string, good: string[], bad: Array<[string, RegExp]>) {
      const post = (text: string) => app.inject({ method: 'POST', url: '/echo', headers: json, payload: `{"value":{"${member}":${text}}}` })
      for (const text of good) t.equal((await post(text)).body, `{"value":{"${member}":${text}}}`, `${member} ${text}`)
      for (const [text, message] of bad) t.match((await post(text)).json(), { error: 400, message }, `${member} ${text}`)
    },
    /** What becomes of a member in an answer; the status when it is no answer. */
    async answer (member: string, value: unknown) {
      answered = { [member]: value }
      const { statusCode, body } = await app.inject('/answer')
      return statusCode === 200 ? JSON.parse(body).value[member] : statusCode
    }
  }
}
