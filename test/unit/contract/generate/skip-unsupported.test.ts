import { join } from 'node:path'
import t from 'tap'
import { contractText, jsonResponse, noContent } from '../../../fixtures/contract.ts'
import { emitBuiltInTypes } from '../../../../src/contract/generate/emit/emit-built-in-types.ts'
import { emitTypes } from '../../../../src/contract/generate/emit/emit-types.ts'
import { readContract } from '../../../../src/contract/generate/read-contract.ts'

const head = `openapi: 3.1.0
info: { title: Other, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: / }]
`
const fine = "responses: { '204': { description: fine } }"
/** A body whose schema is the contract. */
const wholeFile = 'requestBody: { content: { application/json: { schema: { $ref: ./main.yaml } } } }'
const wrong = "responses: { '101': { description: other } }"

t.test('additional operations are left out one by one', async t => {
  const text = head.replace('3.1.0', '3.2.0') + `
security: []
paths:
  /a: { get: { ${fine} }, query: { ${fine} }, additionalOperations: { COPY: { ${fine} }, MOVE: { ${wrong} }, NONE: { ${fine} } } }
  /b: { additionalOperations: { NONE: { ${fine} } } }
`
  const file = join(t.testdir({ 'main.yaml': text }), 'main.yaml')
  const { contract, document, served } = await readContract(file, { skipUnsupported: true })
  t.strictSame(contract.skipped.map(({ method, url, isReachable }) => [method, url, isReachable]), [
    ['QUERY', '/a', true], ['MOVE', '/a', true], ['NONE', '/a', false], ['NONE', '/b', false]
  ])
  t.strictSame(Object.keys(contract.operations), ['getA', 'copyA'])
  t.strictSame(Object.keys(served.paths ?? {}), ['/a'])
  const { '/a': { additionalOperations } } = document.paths as Record<'/a', any>
  t.match(additionalOperations.MOVE.description, /^This service does not implement this operation/)
})

t.test('an operation whose schema is null is left out alone', async t => {
  const body = 'requestBody: { content: { application/json: { schema: null } } }'
  const text = `${head}security: []\npaths: { /a: { get: { ${fine} }, put: { ${body}, ${fine} } } }\n`
  const file = join(t.testdir({ 'main.yaml': text }), 'main.yaml')
  const { contract } = await readContract(file, { skipUnsupported: true })
  t.match(contract.skipped, [{ method: 'PUT', reason: /Expected type `Schema` .* but got `null`/ }])
  t.strictSame(Object.keys(contract.operations), ['getA'])
})

t.test('an operation is left out for what it uses, in any file, and no other is', async t => {
  const folder = t.testdir({
    'main.yaml': `${head}
security: [{ key: [] }]
paths:
  /own: { get: { ${wrong} }, put: { ${fine} } }
  /item: { parameters: [{ $ref: 'parts.yaml#/Both' }, { $ref: 'parts.yaml#/Both' }], get: { ${fine} }, put: { ${fine} } }
  /far: { $ref: far.yaml }
  /chain: { post: { requestBody: { $ref: '#/components/requestBodies/Chain' }, ${fine} } }
  /scheme: { get: { security: [{ mutual: [] }], ${fine} }, put: { ${fine} } }
  /schema: { get: { responses: { '200': { description: fine, content: { application/json: { schema: {
    $ref: '#/components/schemas/Compiled' } } } } } } }
  /inner: { get: { responses: { '200': { description: fine, content: { application/json: { schema: {
    type: array, items: { pattern: '[' } } } } } } } }
  '/a{b}{c}': { get: { parameters: &bc [
    { name: b, in: path, required: true, schema: {} }, { name: c, in: path, required: true, schema: {} }], ${fine} } }
components:
  requestBodies: { Chain: { content: { application/json: { schema: { $ref: '#/components/schemas/Chain' } } } } }
  schemas:
    Chain: { type: array, items: { $ref: parts.yaml#/Broken } }
    Compiled: { type: object, properties: { a: { $ref: '#/components/schemas/Pattern' } } }
    Pattern: { type: string, pattern: '[' }
    Unused: { type: strin }
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Key }
    mutual: { type: mutualTLS }
`,
    'parts.yaml': 'Both: { name: b, in: query, schema: {} }\nBroken: { type: string, minLength: three }\n',
    'far.yaml': `get: { ${wrong} }\nput: { ${fine} }\n`
  })
  const file = join(folder, 'main.yaml')
  const { contract, document } = await readContract(file, { skipUnsupported: true })
  const reasons = contract.skipped.map(({ method, url, reason }) => [`${method} ${url}`, reason])
  t.match(reasons, [
    ['GET /own', /^a status other than .* \(101\)$/],
    ['GET /item', /unique/],
    ['PUT /item', /unique/],
    ['GET /far', /^a status other than .* \(101\)$/],
    ['POST /chain', /^Expected type `integer` but got `string`$/],
    ['GET /scheme', /^a security scheme other than .* \(mutualTLS\)$/],
    ['GET /schema', /^cannot be compiled: .*Invalid regular expression/],
    ['GET /inner', /^cannot be compiled: .*Invalid regular expression/],
    ['GET /a{b}{c}', /^two parameters in a path with nothing between them/]
  ])
  t.strictSame(Object.keys(contract.operations), ['putOwn', 'putFar', 'putScheme'])
  t.strictSame(contract.skipped.map(({ isReachable }) => isReachable), [...Array(8).fill(true), false])
  t.strictSame([Object.keys(contract.schemas), Object.keys(contract.securitySchemes)], [[], ['key']])
  const described = document.paths as unknown as Record<string, { get: { description: string } }>
  t.match(described['/own']?.get.description, /^This service does not implement .* 501: a status other than/)
  await t.rejects(readContract(file), /main\.yaml:\d+:\d+ .* Not supported: a status other/, 'refused without the option')
})

t.test('what is not about an operation is refused all the same', async t => {
  const contracts = {
    version: [head.replace('3.1.0', '4.0.0'), /OpenAPI version/],
    info: [head.replace('title: Other, ', ''), /`title` must be present/],
    title: [head.replace('title: Other', 'title: 1'), /#\/info\/title Expected type `string`/],
    scheme: [`${head}security: [{ none: [] }]\npaths: { /a: { get: { ${fine} } } }\n`, /no security scheme none/],
    whole: [`${head}security: [{ none: 1 }]\npaths: { /a: { post: { ${wholeFile}, ${fine} } } }\n`, /Expected type `array`/]
  } as const
  for (const [name, [text, message]] of Object.entries(contracts)) {
    const file = join(t.testdir({ 'main.yaml': text }), 'main.yaml')
    await t.rejects(readContract(file, { skipUnsupported: true }), message, name)
  }
})

t.test('the file of an operation is no info object', async t => {
  const text = head.replace(/info: .*/, 'info: { $ref: a.yaml }')
  const folder = t.testdir({
    'main.yaml': `${text}paths: { /a: { $ref: a.yaml } }\n`,
    'a.yaml': `get: { security: [], ${fine} }\n`
  })
  const file = join(folder, 'main.yaml')
  await t.rejects(readContract(file, { skipUnsupported: true }), /`title` must be present/)
})

t.test('there is one warning about style, and one for each unknown keyword', async t => {
  const schema = "{ type: string, nullable: true, 'x-y': 1, strange: 2, example: 1 }"
  const content = `content: { application/json: { schema: { properties: { a: ${schema}, b: ${schema} } } } }`
  const operation = `get: { security: [], responses: { '200': { ${content} } } }`
  const text = `${head}paths: { /a: { ${operation} }, /b: { ${operation} } }\n`
  const { warnings } = await readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
  t.match(warnings, [
    /main\.yaml:4:\d+ .*`description` must be present .* \(struct\) \(1 more\)$/,
    /main\.yaml:4:\d+ #\/\S+ Matters of style, of which this is the first: operation-summary \(2\), operation-4xx-response \(2\)\. To see all, and examples that break their schema: npx @redocly\/cli lint \S*main\.yaml$/,
    /^\S+:4:\d+ \S+ `nullable` is ignored: .* no such keyword\. In OpenAPI 3\.1 it is `type: \[string, 'null'\]`\. \(3 more\)$/,
    /^\S+:4:\d+ \S+ `strange` is ignored: JSON Schema 2020-12 has no such keyword\. \(3 more\)$/
  ])
})

t.test('an enum of values of another type is a separate warning', async t => {
  const text = `${head}paths: {}\ncomponents: { schemas: { A: { type: integer, enum: [book] } } }\n`
  const { warnings } = await readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
  t.ok(warnings.some(warning => /:5:\d+ \S+ .*\(no-enum-type-mismatch\)$/.test(warning)), warnings.join('\n'))
})

t.test('nullable beside anyOf, a scope that no flow has and an unknown variable are separate warnings', async t => {
  const flows = "{ implicit: { authorizationUrl: 'https://example.com', scopes: { 'books:write': x } } }"
  const text = `${head.replace('3.1.0', '3.0.3').replace('url: /', "url: '/{stage}'")}security: [{ oauth: ['books:wite'] }]
paths: { /a: { get: { ${fine} } } }
components:
  schemas: { A: { nullable: true, anyOf: [{ type: string }] }, B: { nullable: true, allOf: [{ type: string }] } }
  securitySchemes: { oauth: { type: oauth2, flows: ${flows} } }
`
  const { warnings } = await readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
  const nullable = /:7:\d+ #\/components\/schemas\/A\/nullable `nullable` is ignored without `type` .* in a branch of a union\.$/
  t.match(warnings.filter(warning => warning.includes('`nullable`')), [nullable])
  for (const rule of ['security-scopes-defined', 'no-undefined-server-variable']) {
    t.ok(warnings.some(warning => warning.endsWith(`(${rule})`)), warnings.join('\n'))
  }
  t.match(warnings.find(warning => warning.includes('stage')), 'The paths of operations keep it in braces.')
})

t.test('a required member without a schema is a separate warning', async t => {
  const text = `${head}paths: {}\ncomponents: { schemas: { A: { required: [titel], properties: { title: {} } } } }\n`
  const { warnings } = await readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
  t.ok(warnings.some(warning => /:5:\d+ \S+ .*titel.*\(no-required-schema-properties-undefined\)$/.test(warning)), warnings.join('\n'))
})

t.test('an unknown keyword beside a $ref is a warning, too', async t => {
  const schemas = "A: { type: string }, B: { $ref: '#/components/schemas/A', nullable: true, descripion: x }"
  const file = join(t.testdir({ 'main.yaml': `${head}paths: {}\ncomponents: { schemas: { ${schemas} } }\n` }), 'main.yaml')
  const { warnings } = await readContract(file)
  t.match(warnings.filter(warning => warning.includes('is ignored')), [
    /^\S+:5:\d+ #\/components\/schemas\/B\/nullable `nullable` is ignored/, /\/B\/descripion `descripion` is ignored/
  ])
})

t.test('a misspelt format is a warning, and a format without a meaning is none', async t => {
  const formats = ['int46', 'int46', 'duoble', 'int64', 'int16', 'cents']
  const schemas = formats.map((format, index) => `s${index}: { type: [number, 'null'], format: ${format} }`)
  schemas.push('t: { type: string, format: int46 }', 'u: { type: number }')
  for (const format of ['datetime', 'iri', 'cents', 'email', 'idn-email', 'file']) schemas.push(`'${format}': { type: string, format: ${format} }`)
  const content = `content: { application/json: { schema: { properties: { ${schemas.join(', ')} } } } }`
  const operation = `get: { security: [], responses: { '200': { description: x, ${content} } } }`
  const file = join(t.testdir({ 'main.yaml': `${head}paths: { /a: { ${operation} } }\n` }), 'main.yaml')
  const { warnings } = await readContract(file)
  t.match(warnings.filter(warning => warning.includes('The format')), [
    /^\S+:4:\d+ \S+ The format `int46` is unknown, and validates nothing\. Did you mean int64\? \(1 more\)$/,
    /^\S+:4:\d+ \S+ The format `duoble` is unknown, and validates nothing\. Did you mean double\?$/,
    /^\S+:4:\d+ \S+ The format `datetime` is unknown, and validates nothing\. Did you mean date-time\?$/,
    /^\S+:4:\d+ \S+ The format `file` is unknown, and validates nothing\. Did you mean binary\?$/
  ])
  t.equal(warnings.filter(warning => warning.includes('The format')).length, 4)
})

t.test('a pattern of repeated repetitions for more than 16 characters is a warning', async t => {
  const warningsOf = async (patterns: string[], more = {}) => {
    const schemas = patterns.map(pattern => ({ type: 'string', pattern, ...more }))
    const text = contractText({ paths: `  /a: { get: { ${jsonResponse(JSON.stringify({ anyOf: schemas }))} } }` })
    const { warnings } = await readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
    return warnings.filter(warning => warning.includes('This pattern'))
  }
  const slow = ['^(a+)+$', '^(?:[a-z]*)*$', String.raw`^(\w+\s?){2,}$`]
  for (const pattern of slow) t.equal((await warningsOf([pattern])).length, 1, pattern)
  t.match(await warningsOf(slow), [
    /main\.yaml:5:\d+ #\S+\/anyOf\/0\/pattern This pattern may take seconds for 30 characters, .* \(2 more\)$/
  ])
  t.equal((await warningsOf(slow, { maxLength: 17 })).length, 1)
  t.strictSame(await warningsOf(slow, { maxLength: 16 }), [])
  t.strictSame(await warningsOf(['^(a+b)+$', '^(-[a-z]+)*$', '^(a+)?$', '^(ab)+$', String.raw`^(\(a+\))+$`]), [])
})

t.test('keywords of another version of OpenAPI have one warning, and their faults stay', async t => {
  const read = (openapi: string, schema: string) => {
    const text = contractText({ openapi, paths: `  /a: { get: { ${jsonResponse(schema)} } }` })
    return readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
  }
  const warningsOf = async (openapi: string, schema: string) => {
    const { warnings } = await read(openapi, schema)
    return warnings.filter(line => line.includes('read as in OpenAPI'))
  }
  t.match(await warningsOf('3.0.3', "{ anyOf: [{ exclusiveMinimum: 0, type: [number] }, { type: 'null' }] }"), [
    /:5:\d+ #\S+\/anyOf\/0\/exclusiveMinimum This is read as in OpenAPI 3\.1: in 3\.0, `exclusiveMinimum` is true beside `minimum`\.$/,
    /\/anyOf\/0\/type .* in 3\.0, `type` is one type, and `nullable: true` beside it\. \(1 more\)$/
  ])
  t.match(await warningsOf('3.1.0', '{ maximum: 5, exclusiveMaximum: true }'), [
    /\/exclusiveMaximum This is read as in OpenAPI 3\.0: in 3\.1, `exclusiveMaximum` is the bound, in place of `maximum`\.$/
  ])
  await t.rejects(read('3.0.3', '{ type: [strin] }'), /main\.yaml:5:\d+ .*\/type\/0 `type` can be one of/)
  await t.rejects(read('3.0.3', "{ exclusiveMinimum: '0' }"), /Expected type `number` but got `string`/)
  await t.rejects(read('3.1.0', "{ exclusiveMinimum: '0' }"), /Expected type `number` but got `string`/)
})

t.test('a schema that contains itself is one finding, and its operation is left out', async t => {
  const folder = t.testdir({
    'main.yaml': `${head}
security: []
paths:
  /loop: { get: { operationId: getLoop, responses: { '200': { description: fine, content: {
    application/json: { schema: { $ref: '#/components/schemas/Loop' } } } } } } }
  /fine: { get: { operationId: getFine, ${fine} } }
components:
  schemas: { Loop: { allOf: [{ $ref: '#/components/schemas/Loop' }, {}] } }
`
  })
  const file = join(folder, 'main.yaml')
  // One line: the fault of the operation is that of the schema.
  const message = /^\S+main\.yaml:11:14 #\/components\/schemas\/Loop Not supported: .*contains itself.*$/
  await t.rejects(readContract(file, { allowOpen: true }), { message })
  const { contract } = await readContract(file, { allowOpen: true, skipUnsupported: true })
  t.strictSame(Object.keys(contract.operations), ['getFine'])
})

t.test('an operationId that is not unique has a warning', async t => {
  const get = (id: string) => `{ get: { operationId: ${id}, ${noContent} } }`
  const text = contractText({ paths: `  /a: ${get('a')}\n  /b: ${get('same')}\n  /c: ${get('same')}` })
  const { contract, warnings } = await readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
  t.strictSame(Object.keys(contract.operations), ['a', 'getB', 'getC'])
  t.match(warnings.filter(line => line.includes('have the operationId')), [
    /:\d+ #\/paths\/~1b\/get\/operationId 2 operations have the operationId `same`: each is named by its method and path\.$/
  ])
})

t.test('a body that is ignored has a warning', async t => {
  const body = `requestBody: { content: { application/json: {} } }, ${noContent}`
  const text = contractText({ paths: `  /a: { get: { operationId: a, ${body} }, head: { operationId: b, ${body} }, put: { operationId: c, ${body} } }` })
  const { served, warnings } = await readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
  for (const types of [await emitTypes(served), emitBuiltInTypes(served)]) {
    t.equal(types.match(/requestBody\??: \{/g)?.length, 1, 'only that of PUT has types')
  }
  const sentence = /:\d+ #\/paths\/~1a\/get\/requestBody The body of GET, HEAD or TRACE is ignored: .* \(1 more\)$/
  t.match(warnings.filter(line => line.includes('requestBody')), [sentence])
})

t.test('a list that contains itself is served with built-in types, and leaves no type where it is left out', async t => {
  const list = "{ $ref: '#/components/schemas/List' }"
  const body = `responses: { '200': { description: fine, content: { application/json: { schema: ${list} } } } }`
  const folder = t.testdir({
    'main.yaml': `${head}
security: []
paths:
  /list: { get: { operationId: list, ${body} } }
  /other: { get: { operationId: other, ${fine} } }
components:
  schemas: { List: { type: array, items: ${list} } }
`
  })
  const file = join(folder, 'main.yaml')
  await t.rejects(readContract(file), /#\/components\/schemas\/List Not supported: a list that contains itself/)
  const whole = await readContract(file, { types: 'built-in' })
  t.strictSame(Object.keys(whole.contract.operations), ['list', 'other'])
  const { contract, served } = await readContract(file, { skipUnsupported: true })
  t.strictSame(Object.keys(contract.operations), ['other'])
  // Its type would not compile.
  t.notMatch(await emitTypes(served), /List/)
})

t.test('a schema that cannot be compiled counts only if an operation needs it', async t => {
  const schema = "schema: { $ref: '#/components/schemas/Odd' }"
  const body = `requestBody: { content: { application/json: { ${schema} } } }`
  const text = (ofPath: string, ofWebhook: string) => `${head}
security: []
paths: { /a: { put: { ${ofPath}, ${fine} } } }
webhooks: { changed: { post: { ${ofWebhook}, ${fine} } } }
components: { schemas: { Odd: { type: string, pattern: '(' } } }
`
  const folder = t.testdir({
    'path.yaml': text(body, 'summary: none'), 'webhook.yaml': text('summary: none', body)
  })
  await t.rejects(readContract(join(folder, 'path.yaml')), /schemas\/Odd\/pattern cannot be compiled/)
  const { contract, served } = await readContract(join(folder, 'webhook.yaml'))
  t.strictSame([Object.keys(contract.schemas), contract.skipped], [[], []])
  t.match(await emitTypes(served), 'Odd: string;')
})

t.test('a webhook that needs a schema without a type has no types', async t => {
  const body = "requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Loop' } } } }"
  const text = `${head}
security: []
paths: { /a: { get: { ${fine} } } }
webhooks: { grown: { post: { ${body}, ${fine} } }, noted: { post: { operationId: noted, ${fine} } } }
components: { schemas: { Loop: { oneOf: [{ type: string }, { allOf: [{ $ref: '#/components/schemas/Loop' }] }] } } }
`
  const file = join(t.testdir({ 'main.yaml': text }), 'main.yaml')
  await t.rejects(readContract(file), /schemas\/Loop Not supported: a schema that contains itself/)
  const { served } = await readContract(file, { skipUnsupported: true })
  t.strictSame(Object.keys(served.webhooks ?? {}), ['noted'])
  t.notMatch(await emitTypes(served), 'Loop')
})

t.test('an operation that is no object is refused', async t => {
  const text = `${head}
security: []
paths: { /a: { get: [], put: { operationId: put, ${fine} } } }
`
  const file = join(t.testdir({ 'main.yaml': text }), 'main.yaml')
  await t.rejects(readContract(file, { skipUnsupported: true }), /#\/paths\/~1a\/get Expected type `Operation`/)
})

t.test('an operation is left out whose discriminator maps to a schema without a type', async t => {
  const ref = (name: string) => `{ $ref: '#/components/schemas/${name}' }`
  const text = `${head}
security: []
paths:
  /pets: { get: { responses: { '200': { description: fine, content: { application/json: { schema: ${ref('Pet')} } } } } } }
  /b: { get: { responses: { '101': { description: other } } } }
components:
  schemas:
    Pet: { oneOf: [${ref('Cat')}], discriminator: { propertyName: kind, mapping: { cat: Cat, loop: '#/components/schemas/Loop' } } }
    Cat: { type: object, required: [kind], properties: { kind: { type: string } } }
    Loop: { allOf: [${ref('Loop')}, { type: object }] }
`
  const file = join(t.testdir({ 'main.yaml': text }), 'main.yaml')
  const { contract, served } = await readContract(file, { skipUnsupported: true })
  t.strictSame(contract.skipped.map(({ url }) => url), ['/pets', '/b'])
  t.notMatch(await emitTypes(served), 'Loop')
})
