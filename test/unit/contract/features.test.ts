// Proves src/contract/README.md: each row of its tables has a test of the same name here, and each test has a row.
import assert from 'node:assert/strict'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { readContract } from '../../../src/contract/generate/read.ts'
import type { ContractError } from '../../../src/contract/generate/findings.ts'
import { unsupported } from '../../../src/contract/generate/unsupported.ts'
import { stubs } from '../../../src/contract/index.ts'
import { listen } from '../../fixtures/app.ts'
import { serveBodies } from '../../fixtures/bodies.ts'
import {
  anyResponse, contractText, jsonBody, jsonContent, jsonResponse, loadContract, noContent, parameter, ref, serve,
  serveLoaded, tableRows
} from '../../fixtures/contract.ts'
import type { TestContract, Untyped } from '../../fixtures/contract.ts'
import { measureGrowth } from '../../fixtures/cost.ts'
import { exchange, requestText } from '../../fixtures/raw.ts'

const readme = 'src/contract/README.md'
const json = { 'content-type': 'application/json' }
const int64 = '{ type: integer, format: int64 }'

const supported: Record<string, (t: Test) => Promise<void>> = {
  'OpenAPI 3.0': async t => {
    const { check } = await serveSchema(t, `{ type: object, properties: {
      typed: { type: string, nullable: true },
      ref: { nullable: true, $ref: '#/components/schemas/Text' },
      all: { nullable: true, allOf: [${ref('Text')}] },
      above: { type: integer, minimum: 5, exclusiveMinimum: true },
      least: { type: integer, minimum: 5, exclusiveMinimum: false },
      int64: { type: integer, format: int64, nullable: true, maximum: 9, exclusiveMaximum: true },
      example: { type: string, nullable: true, example: { nullable: true } },
      byte: { type: string, format: byte } } }`, `
    Text: { type: string, nullable: false }`, '3.0.3')
    for (const member of ['typed', 'ref', 'all', 'example']) {
      await check(member, ['null', '"x"'], [['1', /must be a string/]])
    }
    await check('above', ['6'], [['5', /must be > 5/]])
    await check('least', ['5'], [['4', /must be >= 5/]])
    await check('int64', ['null', '8'], [['9', /must be < 9/]])
    await check('byte', ['"eA=="'], [['1', /must be a string/]])
  },

  'OpenAPI 3.2': async t => {
    const { check } = await serveSchema(t, "{ type: object, properties: { a: { type: [string, 'null'] } } }", '', '3.2.0')
    await check('a', ['null'], [['1', /must be a string or null/]])
  },

  'parameters in a path': async t => {
    const get = (id: string, names: string[]) => {
      const parameters = names.map(name => parameter(name, 'path'))
      return `get: { operationId: ${id}, parameters: [${parameters.join(', ')}], ${anyResponse} }`
    }
    const { app } = await serve(t, {
      paths: `
  /plants/{plantId}: { ${get('one', ['plantId'])} }
  /plants/mine: { put: { operationId: mine, ${anyResponse} } }
  /plants/{plant-id}/parts/{a.b}: { ${get('two', ['plant-id', 'a.b'])} }
  /files/{name}.{type}: { ${get('file', ['name', 'type'])} }
  /users/@{who}:follow: { ${get('follow', ['who'])} }
  /a(b)/{x}(y): { ${get('parentheses', ['x'])} }
  /grün%20zeug/{x}: { ${get('encoded', ['x'])} }`
    })
    const known: Array<[string, object]> = [
      ['/plants/7', { plantId: '7' }],
      ['/plants/a%2Fb%2Cc%20d%25+e', { plantId: 'a/b,c d%+e' }],
      [`/plants/${'x'.repeat(500)}`, { plantId: 'x'.repeat(500) }],
      ['/plants/7/parts/leaf', { 'plant-id': '7', 'a.b': 'leaf' }],
      ['/files/a.tar.gz', { name: 'a', type: 'tar.gz' }],
      ['/files/a%2Fb.c%2Fd', { name: 'a/b', type: 'c/d' }],
      ['/users/@a%2Fb:follow', { who: 'a/b' }],
      ['/users/@me:follow', { who: 'me' }],
      ['/a(b)/1(y)', { x: '1' }],
      ['/gr%C3%BCn%20zeug/%C3%BC', { x: 'ü' }]
    ]
    for (const [url, path] of known) {
      const response = await app.inject(url)
      t.strictSame([response.statusCode, response.json()], [200, { path }], url)
    }
    const unknown = [
      '/plants/',
      '/plants/7/parts/',
      '/files/a.',
      '/files/.gz',
      '/users/@:follow',
      '/plants/7/',
      '/a(b)/1'
    ]
    for (const url of unknown) t.equal((await app.inject(url)).statusCode, 404, url)
    const concrete = await app.inject('/plants/mine')
    t.match(concrete, { statusCode: 405, headers: { allow: 'PUT, OPTIONS' } }, 'GET of the template does not apply')
    const undeclared = await app.inject({ method: 'DELETE', url: '/plants/7' })
    t.match(undeclared, { statusCode: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
    t.equal((await app.inject(`/files/${'a'.repeat(900)}`)).statusCode, 404)
    const growth = await measureGrowth(async size => {
      const { statusCode } = await app.inject(`/files/${'.'.repeat(size)}`)
      if (statusCode !== 404) t.fail(`${size} dots are ${statusCode}`)
    }, 15_000)
    t.ok(growth < 8, `a segment is matched in linear time: ${growth.toFixed(1)}`)
  },

  'parameters of path and operation': async t => {
    const { app } = await serve(t, {
      paths: `
  /a/{id}:
    parameters:
      - ${parameter('id', 'path')}
      - ${parameter('page', 'query')}
      - { $ref: '#/components/parameters/Page' }
    get:
      operationId: read
      parameters:
        - ${parameter('page', 'query', '{ type: integer }')}
        - ${parameter('page', 'header')}
      ${anyResponse}`,
      components: `  parameters:\n    Page: ${parameter('page', 'cookie')}`
    })
    const { body } = await app.inject({ url: '/a/x?page=2', headers: { page: 'three', cookie: 'page=four' } })
    t.strictSame(JSON.parse(body), {
      path: { id: 'x' },
      query: { page: 2 },
      cookie: { page: 'four' },
      header: { page: 'three' }
    })
  },

  'parameters in query, header and cookie': async t => {
    const array = '{ type: array, items: { type: string } }'
    const arrayWithContains = '{ type: array, items: { type: string }, contains: { type: string } }'
    const { app } = await serve(t, {
      paths: `
  /{list}/{one}:
    get:
      operationId: read
      parameters:
        - ${parameter('list', 'path', array)}
        - ${parameter('one', 'path')}
        - ${parameter('many', 'query', array)}
        - ${parameter('joined', 'query', arrayWithContains, ', explode: false')}
        - ${parameter('q', 'query')}
        - ${parameter('loose', 'query', '{ type: array }')}
        - ${parameter('X-List', 'header', array)}
        - ${parameter('X-One', 'header')}
        - ${parameter('theme', 'cookie')}
      ${anyResponse}`
    })
    const read = async (url: string, headers = {}) => (await app.inject({ url, headers })).json()
    const parameters = { path: { list: ['a', 'b,c'], one: 'x,y' }, query: {}, header: {}, cookie: {} }
    t.strictSame(await read('/a,b%2Cc/x,y'), parameters)
    const { query } = await read('/a/b?many=1&many=a%26b&other=x&joined=a,b%2Cc&q=a+b%2B%20?c')
    t.strictSame(query, { many: ['1', 'a&b'], joined: ['a', 'b,c'], q: 'a b+ ?c' })
    const loose = await read('/a/b?loose=1&loose=x')
    t.strictSame(loose.query, { loose: ['1', 'x'] }, 'items without a schema are strings')
    t.strictSame((await read('/a/b?many=1&q')).query, { many: ['1'], q: '' })
    t.strictSame((await read('/a/b?%71=x')).query, { q: 'x' }, 'a percent-encoded name')
    t.strictSame((await read('/a/b?__proto__=x&constructor=y')).query, {})
    const { header } = await read('/a/b', { 'x-list': 'a, b,c', 'X-ONE': 'a, b' })
    t.strictSame(header, { 'X-List': ['a', 'b', 'c'], 'X-One': 'a, b' })
    t.strictSame((await read('/a/b', { cookie: 'other=1; theme=dark%20red;x' })).cookie, { theme: 'dark red' })
    const refused: Array<[string, Record<string, string>, RegExp]> = [
      ['/a/b?q=1&q=2', {}, /^The query parameter "q" is sent more than once\.$/],
      ['/a/b', { cookie: 'theme=a; theme=b' }, /^The cookie "theme" is sent more than once\.$/],
      ['/a/b?q=%zz', {}, /has invalid percent-encoding/],
      ['/a/b?%zz=1', {}, /has invalid percent-encoding/],
      ['/a/b', { cookie: 'theme=%zz' }, /has invalid percent-encoding/]
    ]
    for (const [url, headers, message] of refused) t.match(await read(url, headers), { error: 400, message }, url)
  },

  'styles of parameters': async t => {
    const list = '{ type: array, items: { type: integer } }'
    const { app } = await serve(t, {
      paths: `
  /{label}/{matrix}:
    get:
      operationId: read
      parameters:
        - ${parameter('label', 'path', list, ', style: label')}
        - ${parameter('matrix', 'path', list, ', style: matrix')}
        - ${parameter('piped', 'query', list, ', style: pipeDelimited')}
        - ${parameter('list', 'cookie', list)}
      ${anyResponse}`
    })
    const { body } = await app.inject({ url: '/.1,2/;matrix=3,4?piped=5%7c6|7', headers: { cookie: 'list=8; list=9' } })
    t.equal(body, '{"path":{"label":[1,2],"matrix":[3,4]},"query":{"piped":[5,6,7]},"cookie":{"list":[8,9]}}')
  },

  'objects in parameters': async t => {
    const object = '{ properties: { id: { $ref: "#/components/schemas/Id" }, on: { type: boolean } } }'
    const { app } = await serve(t, {
      paths: `
  /a:
    get:
      operationId: read
      parameters:
        - ${parameter('named', 'query', object)}
        - ${parameter('rest', 'query', '{ type: object, additionalProperties: { type: integer } }')}
        - ${parameter('X-Object', 'header', object)}
      ${anyResponse}`,
      components: `  schemas:\n    Id: ${int64}`
    })
    const { body } = await app.inject({
      url: '/a?id=9007199254740993&more=1&on=true',
      headers: { 'x-object': 'id,9007199254740995, on,false' }
    })
    const named = '{"id":9007199254740993,"on":true}'
    const header = '{"X-Object":{"id":9007199254740995,"on":false}}'
    t.equal(body, `{"query":{"named":${named},"rest":{"more":1}},"header":${header}}`)
  },

  deepObject: async t => {
    const object = '{ properties: { a: { type: array, items: { type: integer } }, b: { properties: { c: {} } } } }'
    const { app } = await serve(t, {
      paths: `
  /a:
    get:
      operationId: read
      parameters: [${parameter('q', 'query', object, ', style: deepObject')}]
      ${anyResponse}`
    })
    const { query } = (await app.inject('/a?q[a]=1&q%5Ba%5D=2&q[b][c]=3&q[d]=4')).json()
    t.strictSame(query, { q: { a: [1, 2], b: { c: '3' }, d: '4' } })
  },

  '`content` of parameters and header fields': async t => {
    const { app } = await serve(t, {
      paths: `
  /a:
    get:
      operationId: read
      parameters:
        - { name: json, in: query, ${jsonContent(int64)} }
        - { name: text, in: query, ${jsonContent('{ type: string }', 'text/plain')} }
      responses: { '200': { description: fine, headers: { X-Json: { ${jsonContent(int64)} } } } }`,
      handlers: { read: ({ query }) => ({ status: 200, headers: { 'X-Json': query.json + BigInt(query.text) } }) }
    })
    t.match(await app.inject('/a?json=9007199254740993&text=2'), { headers: { 'x-json': '9007199254740995' } })
  },

  '`allowEmptyValue`': async t => {
    const { app } = await serve(t, {
      paths: `
  /a:
    get:
      operationId: read
      parameters:
        - ${parameter('a', 'query', '{ type: integer, default: 1 }', ', allowEmptyValue: true')}
        - ${parameter('b', 'query', '{ type: string }', ', allowEmptyValue: true')}
        - ${parameter('c', 'query', '{ type: string }', ', allowEmptyValue: true, required: true')}
      ${anyResponse}`
    })
    t.strictSame((await app.inject('/a?a=&b&c')).json(), { query: { a: 1, c: '' } })
  },

  'numbers and booleans in parameters': async t => {
    const { app } = await serve(t, {
      paths: `
  /{id}:
    post:
      operationId: write
      parameters:
        - ${parameter('id', 'path', ref('Id'))}
        - ${parameter('n', 'query', '{ type: number, maximum: 10 }')}
        - ${parameter('i', 'query', "{ type: [integer, 'null'] }")}
        - ${parameter('b', 'query', '{ type: boolean }')}
        - ${parameter('ids', 'query', `{ type: array, maxItems: 3, items: ${ref('Id')} }`)}
        - ${parameter('either', 'query', '{ anyOf: [{ type: integer, maximum: 10 }, { type: string }] }')}
        - ${parameter('X-Id', 'header', ref('Id'))}
      ${jsonBody('{ type: object, properties: { n: { type: number } } }', false)}
      ${anyResponse}`,
      components: `  schemas:\n    Id: ${int64}`,
      handlers: { write: ({ path, query, header }) => ({ status: 200, body: { path, query, header } }) }
    })
    const post = (url: string, headers = {}) => app.inject({ method: 'POST', url, headers })
    const exact = await post(
      '/9007199254740993?ids=-9223372036854775808&ids=9223372036854775807&ids=1e3',
      { 'x-id': '9007199254740995' }
    )
    t.equal(exact.body, '{' + [
      '"path":{"id":9007199254740993}',
      '"query":{"ids":[-9223372036854775808,9223372036854775807,1000]}',
      '"header":{"X-Id":9007199254740995}'
    ].join() + '}')
    t.strictSame((await post('/1?n=-1.5e0&i=3&b=true&either=7')).json().query, { n: -1.5, i: 3, b: true, either: 7 })
    const { query } = (await post('/1?b=false&either=11')).json()
    t.strictSame(query, { b: false, either: '11' }, 'a number over the maximum is read as the string')
    const refused: Array<[string, RegExp]> = [
      ['/x', /^The path parameter "id" must be an integer from -9223372036854775808 to 9223372036854775807\.$/],
      ['/1.5', /must be an integer/],
      ['/9223372036854775808', /must be an integer/],
      ['/0x10', /must be an integer/],
      ['/+1', /must be an integer/],
      ['/01', /must be an integer/],
      ['/%201', /must be an integer/],
      ['/1?n=ten', /^The query parameter "n" must be a number\.$/],
      ['/1?n=', /must be a number/],
      ['/1?n=11', /must be <= 10/],
      ['/1?n=Infinity', /must be a number/],
      ['/1?i=1.5', /must be an integer/],
      ['/1?b=1', /must be a boolean/],
      ['/1?b=TRUE', /must be a boolean/],
      ['/1?ids=1&ids=x', /^The query parameter "ids" at 1 must be an integer/],
      ['/1?ids=1&ids=2&ids=3&ids=4', /must NOT have more than 3 items/]
    ]
    for (const [url, message] of refused) t.match((await post(url)).json(), { error: 400, message }, url)
    const body = await app.inject({ method: 'POST', url: '/1', headers: json, body: '{"n":"1"}' })
    const message = '"n" in the body must be a number.'
    t.match(body.json(), { error: 400, message }, 'a string in a body is not coerced')
  },

  '`required` and `default` of parameters': async t => {
    const { app } = await serve(t, {
      paths: `
  /a:
    get:
      operationId: read
      parameters:
        - ${parameter('q', 'query', '{ type: string }', ', required: true')}
        - ${parameter('limit', 'query', '{ type: integer, format: int64, default: 20 }')}
        - ${parameter('tags', 'query', ref('Tags'))}
        - ${parameter('X-Trace', 'header', '{ type: string }', ', required: true')}
      ${anyResponse}`,
      components: '  schemas:\n    Tags: { type: array, items: { type: string }, default: [all] }'
    })
    const headers = { 'x-trace': '1' }
    const { body } = await app.inject({ url: '/a?q=', headers })
    t.equal(body, '{"query":{"q":"","limit":20,"tags":["all"]},"header":{"X-Trace":"1"}}')
    const withoutQuery = await app.inject({ url: '/a', headers })
    t.match(withoutQuery.json(), { error: 400, message: 'The query parameter "q" is missing.' })
    const withoutHeader = await app.inject('/a?q=x')
    t.match(withoutHeader.json(), { error: 400, message: 'The header field "X-Trace" is missing.' })
  },

  'request bodies': async t => {
    const objectOf = (type: string) => `${type}: { schema: { type: object } }`
    const types = ['application/json', 'application/merge-patch+json', 'application/vnd.a.b+json; charset=utf-8']
    const needed = `requestBody: { required: true, content: { ${types.map(objectOf).join(', ')} } }`
    const respond = ({ body }: Untyped) => ({ status: 200, body: body ?? 'none' })
    const { app } = await serve(t, {
      paths: `
  /needed: { post: { operationId: needed, ${needed}, ${anyResponse} } }
  /optional: { put: { operationId: optional, ${jsonBody('{ type: object }', false)}, ${anyResponse} } }
  /none: { delete: { operationId: none, ${anyResponse} }, post: { operationId: post, ${anyResponse} } }`,
      handlers: { needed: respond, optional: respond, none: respond, post: respond }
    })
    const send = async (method: 'POST' | 'PUT' | 'DELETE', url: string, type?: string, payload?: string) => {
      const headers = type === undefined ? {} : { 'content-type': type }
      const { statusCode, body } = await app.inject({ method, url, headers, ...payload !== undefined && { payload } })
      return [statusCode, JSON.parse(body).message ?? JSON.parse(body)]
    }
    for (const type of [...types.slice(0, 2), 'application/vnd.a.b+json;charset=utf-8']) {
      t.strictSame(await send('POST', '/needed', type, '{"a":1}'), [200, { a: 1 }], type)
    }
    const names = 'application/json or application/merge-patch+json or application/vnd.a.b+json'
    const wrongType = [415, `The body must be sent as Content-Type: ${names}, in UTF-8.`]
    t.strictSame(await send('POST', '/needed', 'application/vnd.axb+json', '{}'), wrongType)
    const missing = [400, `This operation needs a body, sent as ${names}.`]
    t.strictSame(await send('POST', '/needed'), missing)
    t.strictSame(await send('POST', '/needed', 'application/json', ''), missing)
    t.strictSame(await send('PUT', '/optional'), [200, 'none'])
    t.strictSame(await send('PUT', '/optional', 'application/json', ''), [200, 'none'])
    t.strictSame(await send('PUT', '/optional', 'application/json', '[]'), [400, 'The body must be an object.'])
    t.strictSame(await send('DELETE', '/none', 'application/json'), [200, 'none'], 'a media type without a body')
    t.strictSame(await send('POST', '/none', 'application/json', '{}'), [415, 'This operation accepts no body.'])
    t.strictSame(await send('DELETE', '/none', 'text/plain', 'x'), [415, 'This operation accepts no body.'])
  },

  'request bodies of any media type': async t => {
    const { send } = await serveBodies(t)
    const type = 'application/xml'
    t.strictSame(await send('/any', type, '<a/>'), [200, { contentType: type, body: 'bytes <a/>' }])
    t.strictSame(await send('/maybe', 'text/csv', 'a,b'), [200, { contentType: 'text/csv', body: 'a,b' }])
    t.match(await send('/maybe', type, '<a/>'), [415, /text\/csv or application\/json/])
  },

  forms: async t => {
    const { send } = await serveBodies(t)
    const form = 'id=9007199254740993&ids=1&ids=2&place={"name":"x"}&filter[size]=3&pipes=1|2&tags=a,b&words=a%20b'
    t.strictSame(await send('/form', 'application/x-www-form-urlencoded', form), [200, {
      body: {
        id: '9007199254740993n',
        ids: ['1n', '2n'],
        place: { name: 'x' },
        filter: { size: 3 },
        pipes: [1, 2],
        tags: ['a', 'b'],
        words: ['a', 'b']
      }
    }])
  },

  'multipart/form-data': async t => {
    const { send } = await serveBodies(t)
    const form = new FormData()
    form.append('id', '1')
    form.append('avatar', new Blob(['x'], { type: 'image/png' }), 'a.png')
    t.strictSame(await send('/upload', undefined, form), [200, {
      body: [
        { name: 'id', value: '1n' },
        { name: 'avatar', filename: 'a.png', contentType: 'image/png', file: 'bytes x' }
      ]
    }])
    form.delete('id')
    t.strictSame(await send('/upload', undefined, form), [400, 'The body must have the member "id".'])
  },

  'every fault of a body': async t => {
    const list = '{ type: array, items: { type: integer } }'
    const { app } = await serve(t, {
      paths: `\n  /a: { post: { operationId: add, ${jsonBody(list, true)}, ${anyResponse} } }`,
      handlers: { add: () => ({ status: 200, body: 1 }) }
    })
    const send = async (payload: string) => (await app.inject({ method: 'POST', url: '/a', headers: json, payload })).json()
    const fault = (index: number) => `"${index}" in the body must be an integer.`
    t.strictSame(await send('["x",1,"y"]'), { error: 400, message: `${fault(0)} ${fault(2)}` })
    const ten = Array.from({ length: 10 }, (_, index) => fault(index)).join(' ')
    t.equal((await send(JSON.stringify(Array(10).fill('x')))).message, ten)
    t.equal((await send(JSON.stringify(Array(11).fill('x')))).message, `${ten} There are more faults.`)
    t.equal((await send(JSON.stringify(Array(70).fill('x')))).message, fault(0), 'looking for all would take long')
  },

  'answers by status, range and `default`': async t => {
    const content = (type: string) => {
      return jsonContent('{ type: object, required: [a], properties: { a: { type: string } } }', type)
    }
    let response: Untyped = {}
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
      handlers: { read: () => response, strict: () => response }
    })
    const get = async (returned: Untyped, url = '/a') => {
      response = returned
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
    const failure = [500, /json/, '{"error":500,"message":"The service failed. Its log records the cause."}']
    for (const [returned, url, cause] of refused) {
      t.match(await get(returned, url), failure, JSON.stringify(returned))
      t.match(causes().at(-1), cause)
    }
  },

  // More of these three: test/unit/contract/answers/media-answers.test.ts and streams.test.ts.
  'media types of answers': async t => {
    const bodies: Array<[type: string, body: string | Uint8Array, sent: string]> = [
      ['application/problem+json', 'x', 'application/problem+json; charset=utf-8'],
      ['text/html', '<p>', 'text/html; charset=utf-8'],
      ['image/png', Uint8Array.of(65), 'image/png']
    ]
    for (const [type, body, sent] of bodies) {
      const members = `responses: { '200': { description: fine, content: { ${type}: {} } } }`
      const { app } = await serve(t, { ...getOperation(members), handlers: { a: () => ({ status: 200, body }) } })
      t.equal((await app.inject('/a')).headers['content-type'], sent)
    }
  },

  'several media types of an answer': async t => {
    const members = "responses: { '200': { description: fine, content: { text/csv: {}, image/*: {} } } }"
    const handlers = { a: ({ accept }: Untyped) => ({ status: 200, contentType: 'text/csv', body: accept }) }
    const { app } = await serve(t, { ...getOperation(members), handlers })
    const get = (accept: string) => app.inject({ url: '/a', headers: { accept } })
    t.match(await get('image/png'), { statusCode: 200, headers: { vary: 'Accept' }, body: 'image/*' })
    t.match(await get('text/html'), { statusCode: 406 })
  },

  'server-sent events': async t => {
    const schema = `{ type: object, properties: { id: ${int64} } }`
    const members = `responses: { '200': { description: fine, content: { text/event-stream: { schema: ${schema} } } } }`
    const events = async function * () {
      yield { event: 'added', data: { id: 2n ** 62n } }
    }
    const { app } = await serve(t, { ...getOperation(members), handlers: { a: () => ({ status: 200, body: events() }) } })
    t.equal((await app.inject('/a')).body, `event: added\ndata: {"id":${2n ** 62n}}\n\n`)
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
            X-Left: { required: true, schema: ${int64} }
            X-Tags: { schema: { type: array, items: { type: string } } }
            Set-Cookie: { schema: { type: array, items: { type: string } } }
            Location: { $ref: '#/components/headers/Location' }
            Content-Type: { schema: { type: string } }`,
      components: '  headers:\n    Location: { schema: { type: string, format: uri-reference } }',
      handlers: { read: () => ({ status: 204, headers }) }
    })
    const get = (returned: Untyped) => {
      headers = returned
      return app.inject('/a')
    }
    const setCookie = ['a=1', 'b=2']
    const all = { 'X-Left': 9007199254740993n, 'X-Tags': ['a', 'b'], 'Set-Cookie': setCookie, Location: '/b' }
    t.match((await get(all)).headers, {
      'x-left': '9007199254740993',
      'x-tags': 'a, b',
      'set-cookie': setCookie,
      location: '/b'
    })
    t.notOk('x-tags' in (await get({ 'X-Left': 1n })).headers)
    const undeclared = /read answered with the header field X-Other, which the contract does not declare/
    const refused: Array<[Untyped, RegExp]> = [
      [{}, /read answered with a header field X-Left that must be an integer/],
      [{ 'X-Left': 'x' }, /X-Left that must be an integer/],
      [{ 'X-Left': 1n, 'X-Other': 'x' }, undeclared],
      [{ 'X-Left': 1n, 'Content-Type': 'text/html' }, /Content-Type, which the contract does not declare/],
      [{ 'X-Left': 1n, 'X-Tags': ['a\r\nX-Evil: 1'] }, /Invalid character in header content/]
    ]
    for (const [returned, cause] of refused) {
      const response = await get(returned)
      t.equal(response.statusCode, 500)
      t.notOk('x-evil' in response.headers)
      t.match(causes().at(-1), cause)
    }
  },

  'JSON Schema 2020-12': async t => {
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
      ['["a"]', /fewer than 2 items/],
      ['["a",1,2]', /more than 2 items/],
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
      ['{"abc":1}', /has the member "abc", whose name must NOT have more than 2 characters/]
    ])
    await check('contains', ['[1,1]'], [['[1]', /contain/]])
    await check('dependent', ['{"a":1,"b":2}', '{"c":1,"d":2}'], [
      ['{"a":1}', /must have property b when property a is present/],
      ['{"c":1}', /must have the member "d"/]
    ])
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
    t.match((await grow('{"name":1}')).json(), { error: 400, message: '"name" in the body must be a string.' })
  },

  '`allOf`, `oneOf`, `anyOf`, `not`, `if`': async t => {
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
      ['{"a":1,"kind":"x"}', /"value\/one\/kind" in the body must be "exact"/]
    ])
    await check('any', ['"a"', 'null', '{"deep":"x"}'], [
      ['{"deep":1}', /"value\/any\/deep" in the body must be a string/],
      ['1', /"value\/any" in the body must be a string or null or an object/]
    ])
    await check('not', ['4'], [['3', /must NOT be valid/]])
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
  },

  '`discriminator` beside `oneOf`': async t => {
    const { check, respond } = await serveSchema(t, `{ type: object, properties: {
      pet: ${ref('Pet')},
      cat: ${ref('Cat')},
      inline: {
        oneOf: [
          { type: object, properties: { kind: { const: a } } },
          { type: object, properties: { kind: { enum: [a, b] } } } ],
        discriminator: { propertyName: kind } } } }`, `
    Pet:
      oneOf: [${ref('Cat')}, ${ref('Dog')}]
      discriminator: { propertyName: kind, mapping: { cat: '#/components/schemas/Cat', tom: Cat } }
    Cat: { type: object, required: [lives], properties: { kind: { type: string }, lives: ${int64} } }
    Dog: { type: object, required: [barks], properties: { kind: { type: string }, barks: { type: boolean } } }`)
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
  },

  '`readOnly` and `writeOnly`': async t => {
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
  },

  'format int64': async t => {
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
    await check('bounded', ['5', '9'], [['4', /must be >= 5/], ['10', /must be < 10/]])
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
  },

  'http bearer and basic, apiKey, oauth2, openIdConnect': async t => {
    const seen: unknown[] = []
    const verify = (credentials: unknown, scopes: readonly string[]) => {
      seen.push([credentials, scopes])
      const text = JSON.stringify(credentials)
      if (text.includes('weak')) return 'forbidden'
      return text.includes('good') ? { name: 'x' } : undefined
    }
    const names = ['bearer', 'basic', 'inHeader', 'inQuery', 'inCookie', 'oauth', 'oidc']
    const pathOf = (name: string) => {
      const scopes = name === 'oauth' ? '[read, write]' : '[]'
      return `  /${name}: { get: { operationId: ${name}, security: [{ ${name}: ${scopes} }], ${noContent} } }`
    }
    const handlerOf = (name: string) => ({ principals }: Untyped) => {
      return { status: principals[name].name === 'x' ? 204 : 500 }
    }
    const { app } = await serve(t, {
      root: '',
      paths: names.map(pathOf).join('\n'),
      components: `
  securitySchemes:
    bearer: { type: http, scheme: Bearer }
    basic: { type: http, scheme: basic }
    inHeader: { type: apiKey, in: header, name: X-Key }
    inQuery: { type: apiKey, in: query, name: key }
    inCookie: { type: apiKey, in: cookie, name: key }
    oauth:
      type: oauth2
      flows: { clientCredentials: { tokenUrl: 'https://example.com/token', scopes: { read: r, write: w } } }
    oidc: { type: openIdConnect, openIdConnectUrl: 'https://example.com/.well-known/openid-configuration' }`,
      handlers: Object.fromEntries(names.map(name => [name, handlerOf(name)])),
      verifiers: Object.fromEntries(names.map(name => [name, verify]))
    })
    const get = async (name: string, headers: Record<string, string>, query = '') => {
      const response = await app.inject({ url: `/${name}${query}`, headers })
      return [response.statusCode, response.headers['www-authenticate']]
    }
    const accepted = [204, undefined]
    const bearer = 'Bearer realm="test"'
    t.strictSame(await get('bearer', { authorization: 'Bearer good' }), accepted)
    t.strictSame(await get('bearer', { authorization: 'Bearer weak' }), [403, `${bearer}, error="insufficient_scope"`])
    t.strictSame(await get('bearer', { authorization: 'Bearer bad' }), [401, `${bearer}, error="invalid_token"`])
    t.strictSame(await get('bearer', {}), [401, bearer])

    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    t.strictSame(await get('basic', { authorization: basic('good:pass:word ü') }), accepted)
    t.strictSame(seen.at(-1), [{ username: 'good', password: 'pass:word ü' }, []])
    t.strictSame(await get('basic', { authorization: basic('weak:') }), [403, undefined])
    for (const authorization of [basic('bad:x'), basic('good'), 'Basic', 'Basic %%%', '', 'Bearer good']) {
      const unauthorized = [401, 'Basic realm="test", charset="UTF-8"']
      t.strictSame(await get('basic', { authorization }), unauthorized, authorization)
    }
    const { port } = await listen(app)
    const authorization = `authorization: ${basic('good:x')}`
    const twice = requestText('GET /basic', ['Host: x', authorization, authorization, 'Connection: close'])
    t.match(await exchange(port, twice), [{ statusCode: 400, body: /more than once/ }])

    t.strictSame(await get('inHeader', { 'x-key': 'good' }), accepted)
    t.strictSame(await get('inHeader', { 'x-key': 'weak' }), [403, undefined])
    t.strictSame(await get('inHeader', {}), [401, 'ApiKey realm="test"'])
    t.strictSame(await get('inQuery', {}, '?key=very%20good'), accepted)
    t.strictSame(seen.at(-1), ['very good', []])
    t.strictSame(await get('inQuery', {}, '?key=good&key=good'), [400, 'ApiKey realm="test"'])
    t.strictSame(await get('inCookie', { cookie: 'a=b; key=good' }), accepted)
    t.strictSame(await get('inCookie', { cookie: 'key=bad' }), [401, 'ApiKey realm="test"'])

    t.strictSame(await get('oauth', { authorization: 'Bearer good' }), accepted)
    t.strictSame(seen.at(-1), ['good', ['read', 'write']])
    const insufficient = `${bearer}, error="insufficient_scope", scope="read write"`
    t.strictSame(await get('oauth', { authorization: 'Bearer weak' }), [403, insufficient])
    t.strictSame(await get('oidc', { authorization: 'Bearer good' }), accepted)
  },

  '`security`': async t => {
    const strings = jsonResponse('{ type: array, items: { type: string } }')
    const get = (id: string, security = '') => `  /${id}: { get: { operationId: ${id}, ${security}${strings} } }`
    const verdicts: Record<string, () => unknown> = {
      good: async () => ({ name: 'u' }),
      weak: () => 'forbidden',
      throws: () => assert.fail('no idea'),
      rejects: async () => { throw new Error('no answer') }
    }
    const respond = ({ principals }: Untyped) => ({ status: 200, body: Object.keys(principals ?? {}) })
    const { app } = await serve(t, {
      root: 'security: [{ user: [] }]',
      paths: [
        get('global'),
        get('open', 'security: [], '),
        get('either', 'security: [{ user: [], app: [] }, { admin: [] }], '),
        get('maybe', 'security: [{}, { user: [] }], '),
        get('nobody', 'security: [{}], ')
      ].join('\n'),
      components: `
  securitySchemes:
    user: { type: http, scheme: bearer }
    app: { type: apiKey, in: header, name: X-App }
    admin: { type: http, scheme: basic }`,
      handlers: { global: respond, open: respond, either: respond, maybe: respond, nobody: respond },
      verifiers: {
        user: (token: string) => verdicts[token]?.(),
        app: (key: string) => key === 'a' ? { name: 'a' } : undefined,
        admin: ({ username }: { username: string }) => username === 'root' ? { name: 'root' } : undefined
      }
    })
    /** The schemes that recognised the caller, or the status and the challenge of a refusal. */
    const admitted = async (url: string, headers: Record<string, string> = {}) => {
      const { statusCode, body, headers: { 'www-authenticate': challenge } } = await app.inject({ url, headers })
      return statusCode === 200 ? JSON.parse(body) : [statusCode, challenge]
    }
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
    const admin = { authorization: `Basic ${btoa('root:x')}` }
    t.strictSame(await admitted('/global', bearer('good')), ['user'])
    t.strictSame(await admitted('/global'), [401, 'Bearer realm="test"'])
    t.strictSame(await admitted('/open'), [])
    t.strictSame(await admitted('/nobody', bearer('bad')), [], 'the operation asks for no credentials')

    t.strictSame(await admitted('/either', { ...bearer('good'), 'x-app': 'a' }), ['user', 'app'])
    const either = await admitted('/either', { ...admin, 'x-app': 'a' })
    t.strictSame(either, ['admin'], 'only the principals of the requirement that was met')
    const challenges = [401, 'ApiKey realm="test", Basic realm="test", charset="UTF-8"']
    t.strictSame(await admitted('/either', bearer('good')), challenges)
    t.strictSame(await admitted('/either', { ...bearer('good'), 'x-app': 'b' }), challenges)
    const forbidden = [403, 'Bearer realm="test", error="insufficient_scope"']
    t.strictSame(await admitted('/either', { ...bearer('weak'), 'x-app': 'a' }), forbidden)
    const rejected = await admitted('/either', bearer('rejects'))
    t.strictSame(rejected, [500, undefined], 'a verifier that failed might have accepted')
    t.strictSame(await admitted('/global', bearer('throws')), [500, undefined])

    t.strictSame(await admitted('/maybe'), [])
    t.strictSame(await admitted('/maybe', bearer('good')), ['user'])
    const invalid = [401, 'Bearer realm="test", error="invalid_token"']
    t.strictSame(await admitted('/maybe', bearer('bad')), invalid, 'bad credentials are not anonymous')
  },

  '`servers`': async t => {
    const paths = `
  /a: { get: { operationId: a, ${anyResponse} } }
  /b:
    servers: [{ url: 'https://b.example/own/' }]
    get: { operationId: b, ${anyResponse} }
    put: { operationId: c, servers: [{ url: / }], ${anyResponse} }`
    const statuses = async (servers: string, urls: string[]) => {
      const { app } = await serve(t, { paths, root: `security: []\n${servers}` })
      return Promise.all(urls.map(async url => (await app.inject(url)).statusCode))
    }
    t.strictSame(await statuses('', ['/a', '/own/b']), [200, 200])
    const several = 'servers: [{ url: https://example.org/api/v1 }, { url: /other }]'
    const urls = ['/api/v1/a', '/a', '/other/a', '/own/b', '/b']
    t.strictSame(await statuses(several, urls), [200, 404, 404, 200, 405])
    const withVariable = "servers: [{ url: '/{x}/a:b', variables: { x: { default: v 1 } } }]"
    t.strictSame(await statuses(withVariable, ['/v%201/a:b/a']), [200])
    t.strictSame(await statuses('servers: [{ url: v1 }]', ['/v1/a']), [200])
  },

  'HEAD, OPTIONS and 405': async t => {
    const { app } = await serve(t, {
      paths: `
  /a:
    get: { operationId: a, ${anyResponse} }
    put: { operationId: b, ${anyResponse} }
  /b:
    get: { operationId: c, ${anyResponse} }
    head: { operationId: d, ${noContent} }
    options: { operationId: e, ${anyResponse} }`,
      handlers: { d: () => ({ status: 204 }) }
    })
    const allow = 'GET, HEAD, PUT, OPTIONS'
    const head = await app.inject({ method: 'HEAD', url: '/a' })
    t.match(head, { statusCode: 200, body: '', headers: { 'content-length': '2' } })
    t.match(await app.inject({ method: 'OPTIONS', url: '/a' }), { statusCode: 204, headers: { allow } })
    t.match(await app.inject({ method: 'DELETE', url: '/a' }), { statusCode: 405, headers: { allow } })
    t.equal((await app.inject({ method: 'HEAD', url: '/b' })).statusCode, 204, 'the contract declares HEAD')
    t.equal((await app.inject({ method: 'OPTIONS', url: '/b' })).statusCode, 200, 'the contract declares OPTIONS')
    const put = await app.inject({ method: 'PUT', url: '/b' })
    t.match(put, { statusCode: 405, headers: { allow: 'GET, OPTIONS, HEAD' } })
  },

  'an operation without `operationId`, or with that of another': async t => {
    const item = "/{user_id}/a-b.c': { get: { " + `parameters: [${parameter('user_id', 'path')}]`
    const { contract } = await serve(t, {
      paths: `
  '/a${item}, ${anyResponse} } }
  '/b${item}, operationId: same, ${anyResponse} }, put: { ${anyResponse} } }
  '/c${item}, operationId: same, ${anyResponse} } }
  '/D${item}, operationId: getABC, ${anyResponse} } }
  /a/b.c: { get: { ${anyResponse} } }`.replaceAll('put: {', `put: { parameters: [${parameter('user_id', 'path')}],`)
    })
    t.strictSame(Object.keys(contract.operations), [
      'getAByUserIdABC', 'getBByUserIdABC', 'putBByUserIdABC', 'getCByUserIdABC', 'getABC', 'getABC2'
    ])
  },
  'an operation without responses': async t => {
    const handlers = { a: () => ({ status: 202 }), b: () => ({ status: 202, body: 'x' }) }
    const { app, causes } = await serve(t, {
      paths: '  /a: { get: { operationId: a } }\n  /b: { get: { operationId: b, responses: {} } }',
      handlers
    })
    t.match(await app.inject('/a'), { statusCode: 202, payload: '' })
    t.equal((await app.inject('/b')).statusCode, 500)
    t.match(causes(), ['b answered 202 with a body, which the contract does not declare'])
  },
  'operations without security': async t => {
    const parts = { ...getOperation(anyResponse), root: '' }
    const { app } = await serve(t, { ...parts, leniency: { allowOpen: true } })
    t.equal((await app.inject('/a')).statusCode, 200)
  },
  'operations that cannot be served': async t => {
    const { app, contract } = await serve(t, {
      paths: `
  /a: { get: { operationId: a, responses: { '101': { description: other } } } }
  /b: { get: { operationId: b, ${anyResponse} } }`,
      leniency: { skipUnsupported: true }
    })
    t.match(contract.skipped, [{ method: 'GET', url: '/a', reason: /^a status other than .* \(101\)$/ }])
    t.equal((await app.inject('/a')).statusCode, 501)
    t.equal((await app.inject('/b')).statusCode, 200)
  },
  tags: async t => {
    const { contract } = await serve(t, { paths: `  /a: { get: { operationId: a, tags: [x, y], ${anyResponse} } }` })
    t.strictSame(contract.operations.a?.tags, ['x', 'y'], 'tagged-handlers.test.ts tests the types')
  },

  'extensions of operations': async t => {
    const { app } = await serve(t, {
      paths: `  /a: { get: { operationId: a, x-hidden: true, ${anyResponse} } }`,
      hooks: ({ extensions }) => ({
        onRequest: async (_request, reply) => { if (extensions['x-hidden'] === true) await reply.code(404).send('') }
      })
    })
    t.equal((await app.inject('/a')).statusCode, 404)
  },

  examples: async t => {
    const folder = t.testdir({
      'other.yaml': contractText({
        paths: `
  /a: { get: { operationId: a, ${jsonResponse('{ type: string, example: fern }')} } }`
      })
    })
    const { contract, document } = await readContract(join(folder, 'other.yaml'), {})
    const { app } = await serveLoaded(t, contract, { handlers: stubs(contract, document) })
    t.equal((await app.inject('/a')).json(), 'fern')
  },

  'contracts of any size': async t => {
    const operations = Array.from({ length: 60 }, (_, n) => `  /a${n}: { post: { operationId: a${n}, ${
      jsonBody('{ type: integer }')}, ${anyResponse} } }`)
    const { app } = await serve(t, { paths: operations.join('\n') })
    const send = async (payload: string) => {
      return (await app.inject({ method: 'POST', url: '/a59', headers: json, payload })).statusCode
    }
    t.strictSame([await send('1'), await send('"1"')], [200, 400])
  },

  'webhooks and callbacks': async t => {
    const content = (type: string) => `requestBody: { ${jsonContent('{ type: string }', type)} }`
    const { contract } = await serve(t, {
      root: `
security: []
webhooks:
  plantSold: { post: { ${content('application/xml')}, responses: { 1XX: { description: fine } } } }`,
      paths: `
  /a:
    post:
      operationId: a
      ${anyResponse}
      callbacks:
        done:
          '{$request.body#/url}':
            post: { ${content('text/plain')}, responses: { '200': { description: fine } } }`
    })
    t.strictSame(Object.keys(contract.operations), ['a'])
  }
}

t.test('supported', async t => {
  const features = tableRows(readme, 'Supported').map(([feature = '']) => feature.replace(/^`\$ref`$/, '$ref'))
  t.strictSame(features, Object.keys(supported))
  for (const [feature, proof] of Object.entries(supported)) await t.test(feature, proof)
})

/** By feature, contracts that use it and must be refused. */
const refusedContracts: Record<keyof typeof unsupported, TestContract[]> = {
  version: ['4.0.0', '3.3.0', '3.1', '[]'].map(openapi => ({ ...getOperation(noContent), openapi })),
  newIn32: [
    withOpenApi32({ paths: `  /a: { query: { operationId: a, ${noContent} } }` }),
    withOpenApi32({ paths: `  /a: { additionalOperations: { COPY: { operationId: a, ${noContent} } } }` }),
    withOpenApi32(withParameter(`in: querystring, ${jsonContent('{}')}`)),
    ...['itemSchema: {}', 'prefixEncoding: []', 'itemEncoding: {}', '$ref: "#/components/mediaTypes/A"'].map(media => {
      const response = `responses: { '200': { description: fine, content: { application/json: { ${media} } } } }`
      return withOpenApi32({ ...getOperation(response), components: '  mediaTypes: { A: {} }' })
    }),
    withOpenApi32(withSchema(`{ discriminator: { propertyName: a, defaultMapping: B }, oneOf: [${ref('B')}] }`))
  ],
  dialect: [
    {
      ...getOperation(noContent),
      root: 'security: []\njsonSchemaDialect: https://json-schema.org/draft-07/schema'
    },
    withSchema('{ $schema: https://json-schema.org/draft-07/schema, type: string }')
  ],
  anchor: [
    withSchema('{ $id: a, type: string }'),
    withSchema('{ $anchor: a, type: string }'),
    withSchema('{ $dynamicAnchor: a, type: string }')
  ],
  schemaReference: [{
    ...getOperation(noContent),
    components: `
  schemas: { A: { $ref: '#/components/responses/R/content/application~1json/schema' } }
  responses: { R: { description: r, ${jsonContent('{ type: string }')} } }`
  }],
  reference: [withSchema("{ properties: { $ref: '#/components/schemas/B' } }")],
  int64: [
    withSchema('{ format: int64 }'),
    withSchema('{ type: [integer, string], format: int64 }')
  ],
  uniqueInt64: [
    withSchema(`{ type: array, uniqueItems: true, items: ${int64} }`),
    withSchema(`{ uniqueItems: true, allOf: [{ type: array, items: { properties: { a: ${int64} } } }] }`)
  ],
  loop: [
    withSchema(ref('A')),
    withSchema(`${ref('C')}, C: ${ref('A')}`),
    withSchema(`{ anyOf: [{ type: string }, ${ref('A')}] }`),
    withSchema(`{ oneOf: [${ref('C')}], discriminator: { propertyName: kind } }, C: { allOf: [${ref('A')}] }`)
  ],
  listLoop: [
    withSchema(`{ type: array, items: ${ref('A')} }`),
    withSchema(`{ type: array, prefixItems: [{ oneOf: [{ type: string }, ${ref('A')}] }] }`),
    withSchema(`{ properties: { x: { type: array, items: ${ref('A/properties/x')} } } }`),
    withSchema(`{ properties: { list: ${ref('C')} } }, C: { anyOf: [{ type: string }, { type: array, items: ${ref('C')} }] }`)
  ],
  proto: [
    getOperation(`parameters: [${parameter('__proto__', 'query')}], ${noContent}`),
    { paths: `  /a: { get: { operationId: __proto__, ${noContent} } }` },
    withSchema('{ type: object, properties: { __proto__: { type: string } } }'),
    withSchema('{ type: object, properties: { valueOf: { type: string } } }'),
    withSchema('{ type: string }, constructor: { type: string }')
  ],
  noSecurity: [{ ...getOperation(noContent), root: '' }],
  ownPath: [
    getOperation(noContent, '/docs'),
    getOperation(noContent, '/livez'),
    getOperation(noContent, '/readyz/x'),
    getOperation(noContent, '/%6Civez'),
    { ...getOperation(noContent, '/json'), root: 'security: []\nservers: [{ url: /docs }]' },
    { ...getOperation(noContent, '/livez'), root: 'security: []\nservers: [{ url: /api }]' }
  ],
  path: [
    getOperation(noContent, '/a*'),
    getOperation(noContent, "'/a#b'"),
    getOperation(noContent, '/a/{b'),
    getOperation(noContent, '/a%zz'),
    getOperation(noContent, '/a/../b'),
    getOperation(noContent, '/%2E/b'),
    getOperation(noContent, '/a%2Fb'),
    getOperation(noContent, '/a\\b'),
    getOperation(noContent, '"/a\\nb"'),
    getOperation(`parameters: [${parameter('x', 'path')}], ${noContent}`, "'/{x}/{x}'")
  ],
  adjacent: [
    getOperation(`parameters: [${parameter('x', 'path')}, ${parameter('y', 'path')}], ${noContent}`, "'/{x}{y}'")
  ],
  parameterContent: [
    withParameter(`in: query, ${jsonContent('{ type: object }', 'application/xml')}`),
    withResponseHeader(`{ ${jsonContent('{ type: array }', 'text/csv')} }`)
  ],
  style: [
    withParameter('in: header, style: form, schema: { type: string }'),
    withParameter('in: query, style: deepObject, schema: { type: string }'),
    withParameter('in: query, style: deepObject, schema: { type: array }'),
    withParameter('in: query, style: deepObject, explode: false, schema: { type: object }'),
    withParameter('in: query, style: pipeDelimited, schema: { type: string }'),
    withParameter('in: query, style: pipeDelimited, explode: true, schema: { type: array }'),
    withParameter('in: query, style: spaceDelimited, explode: true, schema: { type: object }')
  ],
  nestedParameter: [
    withParameter('in: query, schema: { type: array, items: { type: object } }'),
    withParameter('in: query, schema: { properties: { a: { anyOf: [{ type: string }, { type: object }] } } }'),
    withParameter('in: query, explode: false, schema: { properties: { a: { type: array } } }'),
    withParameter('in: query, style: deepObject, schema: { properties: { a: { type: array, items: { type: object } } } }'),
    withResponseHeader('{ schema: { type: array, items: { type: array } } }'),
    withResponseHeader('{ schema: { anyOf: [{ type: string }, { additionalProperties: { type: array } }] } }')
  ],
  headerName: [
    getOperation(`parameters: [${parameter("'a b'", 'header')}], ${noContent}`),
    getOperation(`parameters: [${parameter("'a;b'", 'cookie')}], ${noContent}`),
    getOperation("responses: { '204': { description: fine, headers: { '': { schema: {} } } } }"),
    { ...getOperation(noContent), components: "  securitySchemes: { k: { type: apiKey, in: header, name: 'ä' } }" }
  ],
  mediaType: [
    getOperation(`responses: { '200': { description: fine, ${jsonContent('{}', "'text/ä'")} } }`),
    getOperation(`responses: { '200': { description: fine, ${jsonContent('{}', "''")} } }`),
    getOperation(`responses: { '200': { description: fine, ${jsonContent('{}', 'json')} } }`)
  ],
  requestBody: [getOperation(`requestBody: { content: { application/json: {} } }, ${noContent}`)],
  status: [
    getOperation("responses: { '102': { description: early } }"),
    getOperation('responses: { 1XX: { description: early } }')
  ],
  securityScheme: [
    { ...getOperation(noContent), components: '  securitySchemes: { d: { type: http, scheme: digest } }' },
    { ...getOperation(noContent), components: '  securitySchemes: { m: { type: mutualTLS } }' }
  ]
}

t.test('not supported', async t => {
  t.strictSame(tableRows(readme, 'Not supported').map(([feature]) => feature), Object.values(unsupported))
  for (const [key, contracts] of Object.entries(refusedContracts)) {
    const feature = unsupported[key as keyof typeof unsupported]
    await t.test(feature, async t => {
      const finding = new RegExp(`other\\.yaml:\\d+:\\d+ #/.* Not supported: ${RegExp.escape(feature)}( \\(.*\\))?\\.`)
      for (const contract of contracts) {
        const file = join(t.testdir(), 'other.yaml')
        writeFileSync(file, contractText(contract))
        const loaded = loadContract(file).then(() => t.fail(readFileSync(file, 'utf8')), error => error)
        const { findings } = await loaded as ContractError
        t.ok(findings.some(text => finding.test(text)), findings.join('\n'))
      }
    })
  }
})

const ignored: Record<string, (t: Test) => Promise<void>> = {
  'the header parameters Accept, Content-Type and Authorization': async t => {
    const parameters = ['Accept', 'content-type', 'Authorization'].map(name => {
      return parameter(name, 'header', '{ type: object }', ', required: true')
    })
    const { app } = await serve(t, getOperation(`parameters: [${parameters.join(', ')}], ${anyResponse}`))
    t.strictSame((await app.inject('/a')).json(), {})
  },
  'the header field Content-Type of an answer': async t => {
    const headers = '{ content-type: { schema: { type: object } } }'
    const responses = `responses: { '204': { description: fine, headers: ${headers} } }`
    const { contract } = await serve(t, getOperation(responses))
    t.strictSame(contract.operations.a?.responses, { 204: {} })
  },
  'the header fields of an answer that frame it': async t => {
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
  },
  'formats that ajv-formats does not define': async t => {
    const { check } = await serveSchema(t, '{ type: object, properties: { a: { type: string, format: snowflake } } }')
    await check('a', ['"anything"'], [['1', /must be a string/]])
  },
  annotations: async t => {
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
  },
  'keywords that JSON Schema 2020-12 does not have': async t => {
    const { check } = await serveSchema(t, '{ type: object, properties: { a: { type: string, nullable: true } } }')
    await check('a', ['"x"'], [['null', /must be a string/]])
  },
  'a discriminator without `oneOf`': async t => {
    const { check } = await serveSchema(t, `{
      type: object, properties: { a: { anyOf: [${ref('B')}], discriminator: { propertyName: kind } } } }`, `
    B: { type: object, discriminator: { propertyName: kind }, properties: { kind: { type: string } } }`)
    await check('a', ['{"kind":"C"}', '{}'], [])
  },
  'the body of an answer to HEAD or with status 204, 205 or 304': async t => {
    const { contract } = await serve(t, {
      paths: `
  /a:
    get: { operationId: a, responses: { '204': { $ref: '#/components/responses/R' } } }
    head: { operationId: b, responses: { '200': { $ref: '#/components/responses/R' } } }`,
      components: `  responses: { R: { description: r, ${jsonContent('{ type: string }')} } }`
    })
    t.strictSame(contract.operations.a?.responses, { 204: {} })
    t.strictSame(contract.operations.b?.responses, { 200: {} })
  },
  'servers after the first': async t => {
    const root = 'security: []\nservers: [{ url: /v2 }, { url: /v1 }]'
    const { app } = await serve(t, { ...getOperation(anyResponse), root })
    t.strictSame([(await app.inject('/v2/a')).statusCode, (await app.inject('/v1/a')).statusCode], [200, 404])
  },
  '`$self` of OpenAPI 3.2': async t => {
    const root = 'security: []\n$self: https://example.com/api'
    const { app } = await serve(t, { ...getOperation(anyResponse), root, openapi: '3.2.0' })
    t.equal((await app.inject('/a')).statusCode, 200)
  }
}

t.test('ignored', async t => {
  t.strictSame(tableRows(readme, 'Ignored').map(([feature]) => feature), Object.keys(ignored))
  for (const [feature, proof] of Object.entries(ignored)) await t.test(feature, proof)
})

/** A contract with the operation GET /a and these members of it, or with another path. */
function getOperation (members: string, path = '/a'): TestContract {
  return { paths: `  ${path}: { get: { operationId: a, ${members} } }` }
}

function withOpenApi32 (contract: TestContract): TestContract {
  return { ...contract, openapi: '3.2.0' }
}

/** A contract with the component schema A. */
function withSchema (schema: string): TestContract {
  const components = `  schemas: { A: ${schema}, B: { type: string, $defs: { x: { type: string } } } }`
  return { ...getOperation(noContent), components }
}

/** A contract with a parameter that has these members. */
function withParameter (members: string): TestContract {
  return getOperation(`parameters: [{ name: x, ${members} }], ${noContent}`)
}

/** A contract with this header field of a response. */
function withResponseHeader (header: string): TestContract {
  return getOperation(`responses: { '204': { description: fine, headers: { X-A: ${header} } } }`)
}

/** Serves a contract whose request and response both have this schema, as the member `value`. */
async function serveSchema (t: Test, schema: string, components = '', openapi = '3.1.0') {
  let returned: unknown
  const { app } = await serve(t, {
    openapi,
    paths: `
  /echo:
    post:
      operationId: echo
      ${jsonBody(ref('Shape'))}
      responses: &fine { '200': { description: fine, ${jsonContent(ref('Shape'))} } }
  /respond: { get: { operationId: respond, responses: *fine } }`,
    components: `
  schemas:
    Shape: { type: object, properties: { value: ${schema} } }${components}`,
    handlers: {
      echo: ({ body }) => ({ status: 200, body }),
      respond: () => ({ status: 200, body: { value: returned } })
    }
  })
  return {
    /** A valid member comes back unchanged; an invalid one is answered 400 with its message. */
    async check (member: string, valid: string[], invalid: Array<[string, RegExp]>) {
      const bodyWith = (text: string) => `{"value":{"${member}":${text}}}`
      const post = (payload: string) => app.inject({ method: 'POST', url: '/echo', headers: json, payload })
      for (const text of valid) t.equal((await post(bodyWith(text))).body, bodyWith(text), `${member} ${text}`)
      for (const [text, message] of invalid) {
        t.match((await post(bodyWith(text))).json(), { error: 400, message }, `${member} ${text}`)
      }
    },
    /** The member in the response when a handler returns it, or the status of the error. */
    async respond (member: string, value: unknown) {
      returned = { [member]: value }
      const { statusCode, body } = await app.inject('/respond')
      return statusCode === 200 ? JSON.parse(body).value[member] : statusCode
    }
  }
}
