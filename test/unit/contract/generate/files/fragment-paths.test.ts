// Paths that differ by a fragment only become one.
import { Source } from '@redocly/openapi-core'
import { join } from 'node:path'
import t from 'tap'
import { withoutFragments } from '../../../../../src/contract/generate/files/fragment-paths.ts'
import { OverlaidSource } from '../../../../../src/contract/generate/files/overlaid-source.ts'
import { readContract } from '../../../../../src/contract/generate/read-contract.ts'
import { contractText, jsonBody, jsonResponse, noContent, parameter } from '../../../../fixtures/contract.ts'

type Part = Record<string, any>

const fine = { 204: { description: 'fine' } }
const string = { type: 'string' }
const strings = { type: 'array', items: string }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const inQuery = (name: string, more: object = {}) => ({ name, in: 'query', schema: string, ...more })

/** The paths of a contract without fragments, the notices, and why fragments stay. */
function withPaths (paths: Part, root: Part = {}) {
  const parsed = { paths, ...root }
  const source = new OverlaidSource(new Source('openapi.json', JSON.stringify(parsed)))
  const { document, notices, differences } = withoutFragments({ parsed, source })
  return { paths: Object(document.parsed).paths as Part, notices, differences: Object.fromEntries(differences) }
}

/** The operation that two of POST are united to. */
function united (one: object, other: object, root?: Part): Part {
  const post = (operation: object) => ({ post: { responses: fine, ...operation } })
  const { paths, differences } = withPaths({ '/a#b': post(other), '/a': post(one) }, root)
  t.strictSame([Object.keys(paths), differences], [['/a'], {}])
  return paths['/a'].post
}

t.test('a contract without fragments stays as it is', async t => {
  for (const parsed of [null, { paths: null }, { paths: { '/a': {}, 'x-a#b': 1 } }]) {
    const contract = { parsed, source: new OverlaidSource(new Source('a', '')) }
    t.strictSame(withoutFragments(contract), { document: contract, notices: [], differences: new Map() })
    t.equal(withoutFragments(contract).document, contract)
  }
})

t.test('an operation without another one of its method moves, with what it inherits', async t => {
  const servers = [{ url: '/v2' }]
  const x = inQuery('x', { required: true })
  const item = { summary: 'B', servers, parameters: [x, inQuery('y')] }
  const { paths, notices } = withPaths({
    '/a': { parameters: [inQuery('z')], get: { responses: fine } },
    '/c': { get: {} },
    '/a#b': { ...item, put: { parameters: [{ $ref: '#/components/parameters/X' }], responses: fine } },
    '/d#e': { get: { security: [] } }
  }, { security: [{ key: [] }], components: { parameters: { X: inQuery('x') } } })
  t.strictSame(paths, {
    '/a': {
      get: { parameters: [inQuery('z')], responses: fine, security: [{ key: [] }] },
      put: {
        parameters: [{ $ref: '#/components/parameters/X' }, inQuery('y')],
        responses: fine,
        security: [{ key: [] }],
        servers
      }
    },
    '/c': { get: {} },
    '/d': { get: { parameters: [], security: [] } }
  })
  t.match(notices, [/^openapi\.json:1:\d+ #\/paths\/~1a#b HTTP sends no fragment .*: PUT \/a#b, GET \/d#e\.$/])
})

t.test('a parameter is required where each operation requires it, and has the schemas of all', t => {
  const page = inQuery('page', { required: true, description: 'Of A' })
  const { parameters } = united({
    parameters: [page, inQuery('both', { required: true }), { name: 'X-Id', in: 'header', schema: string }]
  }, {
    parameters: [
      { name: 'x-id', in: 'header', schema: { type: 'integer' }, 'x-word': 1 },
      { name: 'page', in: 'path', schema: string },
      { $ref: '#/components/parameters/Both' },
      inQuery('other', { required: true, deprecated: true })
    ]
  }, { components: { parameters: { Both: inQuery('both', { required: true, description: 'B' }) } } })
  t.strictSame(parameters, [
    { ...page, required: false },
    inQuery('both', { required: true, description: 'B' }),
    { name: 'X-Id', in: 'header', schema: { anyOf: [string, { type: 'integer' }] } },
    { name: 'page', in: 'path', schema: string },
    inQuery('other', { required: false, deprecated: true })
  ])
  t.end()
})

t.test('explode of a text means nothing, that of lists must be the same', t => {
  const list = { ...inQuery('a', { explode: false }), schema: strings }
  const anyOf = [strings, string]
  t.match(united({ parameters: [list] }, { parameters: [inQuery('a')] }).parameters, [
    { explode: false, schema: { anyOf } }
  ])
  const [texts] = united({ parameters: [inQuery('a')] }, { parameters: [inQuery('a', { explode: true })] }).parameters
  t.strictSame(texts, inQuery('a'))
  t.end()
})

t.test('a body has the media types of all, and the differing schemas of each', t => {
  const number = { type: 'number' }
  const body = (schema: object, more: object = {}) => ({ requestBody: { required: true, ...json(schema), ...more } })
  t.strictSame(united(body(string), body(string)).requestBody, body(string).requestBody)
  t.strictSame(united(body(string), {}).requestBody, { required: false, ...json(string) })
  t.strictSame(united(body(string), body(number, { required: false })).requestBody, {
    required: false, ...json({ anyOf: [string, number] })
  })
  const put = (schema: object) => ({ put: body(schema) })
  const { paths } = withPaths({ '/a#b': put(string), '/a#c': put(number), '/a#d': put(string) })
  t.strictSame(paths['/a'].put.requestBody, { required: true, ...json({ anyOf: [string, number] }) })
  t.strictSame(united(body(string), body({})).requestBody, body({ anyOf: [string, {}] }).requestBody)
  const csv = { 'text/csv': { schema: string } }
  t.strictSame(united(body(string), { requestBody: { required: true, content: csv } }).requestBody, {
    required: true, content: { ...json(string).content, ...csv }
  })
  t.end()
})

t.test('an answer is one that any of the operations declares for its status', t => {
  const response = (schema: object, more: object = {}) => ({ description: 'fine', ...json(schema), ...more })
  const [error, other] = [{ title: 'error' }, { title: 'other' }]
  const field = (schema: object) => ({ required: true, schema })
  const { responses } = united({
    responses: {
      200: response(string, { headers: { Both: field(string), One: field(string) } }),
      204: { description: 'nothing' },
      404: response(string, { headers: { One: field(string) } }),
      503: response(string),
      'x-word': 1
    }
  }, {
    responses: {
      200: response(strings, { headers: { Both: field(strings) }, description: 'B' }),
      '4XX': response(other),
      default: response(error)
    }
  })
  t.strictSame(responses, {
    200: {
      ...response({ anyOf: [string, strings] }),
      description: 'fine\n\nB',
      headers: { Both: field({ anyOf: [string, strings] }), One: { required: false, schema: string } }
    },
    204: { description: 'nothing' },
    404: response({ anyOf: [string, other] }, { headers: { One: { required: false, schema: string } } }),
    503: response({ anyOf: [string, error] }),
    '4XX': response(other),
    default: response(error)
  })
  t.end()
})

t.test('the first operation gives what only describes', t => {
  const one = { operationId: 'one', tags: ['a'], description: 'One.', 'x-rate': 1, deprecated: true }
  const other = { operationId: 'other', tags: ['b'], description: 'Other.', 'x-rate': 2, 'x-b': 1, summary: 'B' }
  t.strictSame(united(one, other), { ...one, description: 'One.\n\nOther.', deprecated: false, parameters: [], responses: fine })
  t.end()
})

t.test('operations that differ in anything else keep their paths', t => {
  const form = (encoding: object) => ({ requestBody: { content: { 'a/b': { schema: string, encoding } } } })
  const parameters = (...list: object[]) => ({ parameters: list })
  const list = inQuery('x', { schema: strings })
  const jsonIn = { name: 'x', in: 'query', ...json(string) }
  const differing: Record<string, [one: Part, other: Part]> = {
    security: [{ security: [] }, {}],
    servers: [{ servers: [{ url: '/v2' }] }, {}],
    encoding: [form({ a: {} }), form({ b: {} })],
    style: [parameters({ ...list, style: 'form' }), parameters(list)],
    explode: [parameters({ ...list, explode: true }), parameters(list)],
    schema: [parameters(list), parameters({ ...jsonIn, schema: undefined })],
    content: [parameters(jsonIn), parameters({ ...jsonIn, ...json(strings) })],
    responses: [{ responses: {} }, {}],
    parameters: [parameters(list, list), {}],
    'the form of its parts': [{ parameters: [null] }, {}],
    'references to other files': [{ requestBody: { $ref: 'b.yaml' } }, { requestBody: json(string) }]
  }
  for (const [member, [one, other]] of Object.entries(differing)) {
    const post = (operation: object) => ({ post: { responses: fine, ...operation } })
    const given = { '/a': post(one), '/a#b': post(other) }
    const { paths, notices, differences } = withPaths(given, { security: [{ key: [] }] })
    t.strictSame([paths, notices], [given, []], member)
    t.equal(differences['/a#b'], `/a#b differs in ${member}`)
  }
  t.end()
})

t.test('findings about moved parts have the places of the contract', async t => {
  const body = (type: string) => jsonBody(`{ type: object, properties: { a: { type: ${type} } } }`)
  const text = contractText({
    paths: `
  /a#b:
    parameters: [${parameter('x', 'query', '{ type: strin }')}]
    post: { operationId: b, ${body('strin')}, ${noContent} }
    get: { operationId: none, parameters: [${parameter('y', 'query', '{ pattern: 1 }')}], ${noContent} }
  /a:
    post: { operationId: a, parameters: [${parameter('z', 'query')}], ${body('string')}, ${noContent} }
  /c#d: { put: { operationId: c, ${noContent} } }
  /e#f: { put: { operationId: e, security: [], ${noContent} } }
  /e: { put: { operationId: f, security: [{ k: [] }], ${noContent} } }
`,
    components: '  securitySchemes: { k: { type: http, scheme: basic } }'
  })
  const overlay = `overlay: 1.0.0
info: { title: Changes, version: 1.0.0 }
actions:
  - { target: "$.paths['/c#d'].put", update: { deprecated: 1 } }
`
  const folder = t.testdir({ 'a.yaml': text, 'overlay.yaml': overlay })
  const overlays = [join(folder, 'overlay.yaml')]
  const { findings } = await readContract(join(folder, 'a.yaml'), { overlays })
    .then(() => t.fail('is read'), error => error)
  const found = findings.map((finding: string) => finding.replace(/^\S*fixtures\/[^/]*\//, ''))
  t.match(found, [
    /^a\.yaml:7:\d+ #\/paths\/~1a#b\/parameters\/0\/schema\/type /,
    /^a\.yaml:9:\d+ #\/paths\/~1a#b\/get\/parameters\/0\/schema\/pattern /,
    /^a\.yaml:8:\d+ #\/paths\/~1a#b\/post\/requestBody\/content\/application~1json\/schema\/properties\/a\/type /,
    /^overlay\.yaml:4:\d+ #\/actions\/0\/update\/deprecated /,
    /^a\.yaml:13:3 #\/paths\/~1e#f Not supported: paths that differ by a fragment, .* \(\/e#f differs in security\)\./
  ])
})

t.test('a schema that does not compile leaves out the operation that it is a part of', async t => {
  const answer = (method: string, pattern: string) => {
    return `${method}: { ${jsonResponse(`{ type: string, pattern: '${pattern}' }`)} }`
  }
  const text = contractText({
    paths: `
  /a: { ${answer('get', 'a')} }
  /a#b: { ${answer('get', '[')}, put: { ${noContent} } }
  /a#c: { ${answer('post', '(')} }`
  })
  const file = join(t.testdir({ 'a.yaml': text }), 'a.yaml')
  await t.rejects(readContract(file), /a\.yaml:8:\d+ #\/paths\/~1a#c\/post\/responses\/200\/\S+\/pattern cannot be compiled/)
  const { contract, document, warnings } = await readContract(file, { skipUnsupported: true })
  t.match(contract.skipped, [
    { method: 'GET', url: '/a', isReachable: true }, { method: 'POST', url: '/a', isReachable: true }
  ])
  t.strictSame(Object.keys(contract.operations), ['putA'])
  t.match(document.paths, { '/a': { get: { description: /answers 501/ }, post: { description: /answers 501/ } } })
  t.match(warnings[0], /a\.yaml:7:\d+ #\/paths\/~1a#b HTTP sends no fragment .*: GET \/a#b, PUT \/a#b, POST \/a#c\.$/)
})
