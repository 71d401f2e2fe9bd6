import t from 'tap'
import {
  anyResponse, jsonBody, jsonContent, parameter, ref, serve
} from '../../../fixtures/contract.ts'
import { measureGrowth } from '../../../fixtures/cost.ts'
import { int64, json } from '../../../fixtures/features.ts'

t.test('parameters in a path', async t => {
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
  const mine = await app.inject('/plants/mine')
  t.strictSame(mine.json(), { path: { plantId: 'mine' } }, 'the concrete path has no GET')
  const methods = (await app.inject({ method: 'DELETE', url: '/plants/mine' })).headers.allow
  t.strictSame(String(methods).split(', ').toSorted(), ['GET', 'HEAD', 'OPTIONS', 'PUT'])
  const undeclared = await app.inject({ method: 'DELETE', url: '/plants/7' })
  t.match(undeclared, { statusCode: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
  t.equal((await app.inject(`/files/${'a'.repeat(900)}`)).statusCode, 404)
  const growth = await measureGrowth(async size => {
    const { statusCode } = await app.inject(`/files/${'.'.repeat(size)}`)
    if (statusCode !== 404) t.fail(`${size} dots are ${statusCode}`)
  }, 15_000)
  t.ok(growth < 8, `a segment is matched in linear time: ${growth.toFixed(1)}`)
})

t.test('parameters of path and operation', async t => {
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
})

t.test('parameters in query, header and cookie', async t => {
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
})

t.test('styles of parameters', async t => {
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
})

t.test('objects in parameters', async t => {
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
})

t.test('deepObject', async t => {
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
})

t.test('`content` of parameters and header fields', async t => {
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
})

t.test('`querystring` parameters of OpenAPI 3.2', async t => {
  const whole = (schema: string, type: string, more = '') => {
    const content = `content: { ${type}: { schema: ${schema}${more} } }`
    return `parameters: [{ name: x, in: querystring, ${content} }], ${anyResponse}`
  }
  const form = 'application/x-www-form-urlencoded'
  const object = `{ type: object, required: [id], properties: { id: ${int64}, ids: { type: array, items: ${int64} }, text: { type: string } } }`
  const encoding = ', encoding: { ids: { explode: false } }'
  const { app, contract } = await serve(t, {
    openapi: '3.2.0',
    docs: true,
    components: `  schemas: { Object: ${object} }`,
    paths: `
  /form: { get: { operationId: form, ${whole(ref('Object'), form, encoding)} } }
  /any: { get: { operationId: any, ${whole('{}', form).replace('schema: {}', '')} } }
  /json: { get: { operationId: json, ${whole(object, 'application/json')} } }
  /text: { get: { operationId: text, ${whole('{ type: string, maxLength: 9 }', 'application/jsonpath')} } }
  /needed: { get: { operationId: needed, ${whole(object, form).replace('in:', 'required: true, in:')} } }
  /default: { get: { operationId: preset, ${whole('{ type: object, default: { a: 1 } }', 'application/json')} } }`
  })
  t.match(contract.operations.form?.parameters, [{ in: 'querystring', form: { encoding: { ids: { explode: false } } } }])
  const encoded = encodeURIComponent
  const cases: Array<[url: string, status: number, seen: unknown]> = [
    ['/form?id=9007199254740993&ids=1,2&text=a+%2B+b&more=x', 200, '{"ids":[1,2],"id":9007199254740993,"text":"a + b","more":"x"}'],
    ['/form', 200, undefined],
    ['/form?', 200, undefined],
    ['/form?id=x', 400, /The querystring parameter "x" at id must be an integer/],
    ['/form?ids=1', 400, /The querystring parameter "x" must have the member "id"/],
    ['/form?id=1&id=2', 400, /The querystring parameter "x" at id is sent more than once/],
    ['/form?id=%zz', 400, /The querystring parameter "x" has invalid percent-encoding/],
    ['/any?a=1&a=2&b', 200, '{"a":["1","2"],"b":""}'],
    [`/json?${encoded('{"id":1e0,"text":"a+b?"}').replace('%2B', '+')}`, 200, '{"id":1,"text":"a+b?"}'],
    ['/json?{"id":9007199254740993}', 200, '{"id":9007199254740993}'],
    ['/json?id=1', 400, /The querystring parameter "x" is not valid JSON/],
    ['/json?%zz', 400, /invalid percent-encoding/],
    [`/text?${encoded('$.a.b[1:1]').slice(0, -4)}`, 200, '"$.a.b[1:"'],
    ['/text?0123456789', 400, /must have at most 9/],
    ['/needed', 400, /must have the member "id"/],
    ['/default', 200, '{"a":1}']
  ]
  for (const [url, status, seen] of cases) {
    const { statusCode, body } = await app.inject(url)
    t.equal(statusCode, status, url)
    if (status === 200) t.equal(body, seen === undefined ? '{"querystring":{}}' : `{"querystring":{"x":${seen}}}`, url)
    else t.match(JSON.parse(body).message, seen, url)
  }
  t.equal((await app.inject('/docs')).statusCode, 200)
})

t.test('`allowEmptyValue`', async t => {
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
})

t.test('numbers and booleans in parameters', async t => {
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
    ['/1?n=11', /must be at most 10/],
    ['/1?n=Infinity', /must be a number/],
    ['/1?i=1.5', /must be an integer/],
    ['/1?b=1', /must be a boolean: true or false\.$/],
    ['/1?b=TRUE', /must be a boolean/],
    ['/1?ids=1&ids=x', /^The query parameter "ids" at 1 must be an integer/],
    ['/1?ids=1&ids=2&ids=3&ids=4', /must have at most 3 items/]
  ]
  for (const [url, message] of refused) t.match((await post(url)).json(), { error: 400, message }, url)
  const body = await app.inject({ method: 'POST', url: '/1', headers: json, body: '{"n":"1"}' })
  const message = '"n" in the body must be a number, not a string: remove its quotes.'
  t.match(body.json(), { error: 400, message }, 'a string in a body is not coerced')
})

t.test('`required` and `default` of parameters', async t => {
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
})
