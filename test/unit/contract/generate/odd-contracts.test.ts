// Contracts that are odd or broken in a way that no feature describes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type ContractError, unreadable } from '../../../../src/contract/generate/files/findings.ts'
import { readContract } from '../../../../src/contract/generate/read-contract.ts'
import type { Leniency } from '../../../../src/contract/generate/read-options.ts'
import { emitTypes } from '../../../../src/contract/generate/emit/emit-types.ts'
import { generate } from '../../../../src/contract/generate/index.ts'

const head = `openapi: 3.1.0
info: { title: Other, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: / }]
security: []
`
const fine = "responses: { '204': { description: fine } }"

function write (t: Test, text: string): string {
  return join(t.testdir({ 'main.yaml': text }), 'main.yaml')
}

const read = (t: Test, text: string, leniency: Leniency = {}) => readContract(write(t, head + text), leniency)

t.test('a document of no version, a loop of references and too many members are refused at their place', async t => {
  const members = Array.from({ length: 4000 }, (_, index) => `p${index}: { type: integer, format: int64 }`)
  const body = (schema: string) => `requestBody: { content: { application/json: { schema: ${schema} } } }, ${fine}`
  const refused: Array<[string, RegExp]> = [
    [`${head}---\n`, /^\S+:1:1 #\/ cannot be compiled: expected a single document/],
    ['', /^\S+:1:1 #\/ The file is empty: begin it with `openapi: 3\.1\.0`\.$/],
    ['# a comment\n', / The file is empty: /],
    ...['{}', '- a', 'text', 'openapi:'].map((text): [string, RegExp] => [
      text, /^\S+:1:1 #\/(?:openapi)? The contract must be an object with a version: begin it with `openapi: 3\.1\.0`\.$/
    ]),
    ['openapi: 3.0', / \(3\.0\): write 3\.0\.0\.$/],
    ['openapi: 3.2', /^\S+:1:1 #\/openapi Not supported: an OpenAPI version other than .* \(3\.2\): write 3\.2\.0\.$/],
    [head.replace('3.1.0', "'3.1.0 '"), / \(3\.1\.0 \): write 3\.1\.0\.$/],
    ['openapi: 3.10.0', / \(3\.10\.0\)\.$/],
    ['swagger: 2.0', /^\S+:1:1 #\/swagger .* \(2\.0\): convert the contract to OpenAPI 3\.$/],
    ["swagger: '2.0'", / \(2\.0\): convert the contract to OpenAPI 3\.$/],
    [`${head}paths: {}\ncomponents: { schemas: { A: { $ref: '#/components/schemas/A' } } }\n`, /^\S+:6:\d+ #\/components\/schemas\/A Not supported: a schema that contains itself/],
    [`${head}paths: {}\ncomponents: { schemas: { A: { $ref: '#/components/schemas/A' }, B: { $ref: '#/%' }, C: { $ref: '#/none' } } }\n`, /a schema that contains itself/],
    [`${head}paths: {}\ncomponents: { schemas: { A: { properties: { hasOwnProperty: { type: string } } } } }\n`, /main\.yaml:\d+:\d+ #\/.*hasOwnProperty/],
    [`${head}paths: {}\ncomponents: { securitySchemes: { A: { type: { a: 1 } } } }\n`, /a security scheme other than .* \(\{"a":1\}\)/],
    [`${head}x-a: !!binary aGk=\npaths: { /a: { get: { ${"responses: { '101': { description: other } }"} } } }\n`, /main\.yaml:1:1 #\/paths.* Not supported: a status/],
    [`${head}paths: { /a: { post: { ${body(`{ properties: { ${members.join(', ')} } }`)} } } }\n`, /cannot be compiled: it has too many members, or is nested too deeply$/]
  ]
  for (const [text, message] of refused) await t.rejects(readContract(write(t, text)), message)
})

t.test('a pattern that is no regular expression is reported at its line', async t => {
  const text = `${head}paths:
  /a:
    post:
      requestBody:
        content:
          application/json:
            schema: { properties: { b: { type: string, pattern: '(a' } } }
      ${fine}
    put:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/B' } } } }
      ${fine}
components:
  schemas:
    B:
      properties:
        a: { type: string, pattern: '^a' }
        b:
          type: string
          pattern: '('
`
  const { findings } = await readContract(write(t, text)).catch(error => error)
  t.match(findings, [
    /:23:20 #\/components\/schemas\/B\/properties\/b\/pattern cannot be compiled: .* \/\(\/u: Unterminated group$/,
    /:11:65 #\/paths\/.*\/schema\/properties\/b\/pattern cannot be compiled: .* \/\(a\/u: Unterminated group$/
  ])
})

t.test('a contract that is too deep, or a loop of references over two files, is refused', async t => {
  // With a thousand, code that V8 has optimized sometimes has enough stack.
  const length = 3000
  const chain = Array.from({ length }, (_, index) => {
    return `    A${index}: { properties: { next: { $ref: '#/components/schemas/A${(index + 1) % length}' } } }\n`
  })
  const loop = "  schemas: { A: { $ref: 'other.yaml#/B' } }\n"
  const folder = t.testdir({
    'deep.yaml': `${head}paths: {}\ncomponents:\n  schemas:\n${chain.join('')}`,
    'loop.yaml': `${head}paths: {}\ncomponents:\n${loop}`,
    'other.yaml': "B: { $ref: 'loop.yaml#/components/schemas/A' }\n"
  })
  const refused: Array<[string, RegExp]> = [
    ['deep.yaml', /deep\.yaml:1:1 #\/ cannot be compiled: it is nested too deeply$/],
    ['loop.yaml', /loop\.yaml:1:1 #\/ cannot be compiled: Self-referencing circular pointer$/]
  ]
  for (const [name, message] of refused) await t.rejects(readContract(join(folder, name)), message)
})

t.test('operations of one path, of an address that is none, and webhooks that cannot be typed are left out', async t => {
  const { contract, served } = await read(t, `
paths:
  /a/{x}: { get: { parameters: [{ name: x, in: path, required: true, schema: {} }], ${fine} } }
  /a/{y}: { get: { parameters: [{ name: y, in: path, required: true, schema: {} }], ${fine} } }
  /b: { get: { servers: [{ url: 'http://' }], ${fine} } }
webhooks:
  good: { post: { operationId: getAByX, ${fine} } }
  bad: { post: { requestBody: { content: { application/json: { schema: { type: strin } } } }, ${fine} } }
`, { skipUnsupported: true })
  t.strictSame(Object.keys(contract.operations), ['getAByX'])
  t.match(contract.skipped, [{ url: '/a/{y}', isReachable: true }, { url: '/b', isReachable: false }])
  t.strictSame(Object.keys(served.webhooks ?? {}), ['good'])
})

t.test('generate lists what it leaves out', async t => {
  const warn = t.capture(console, 'warn')
  t.capture(console, 'log')
  const file = write(t, `${head}paths: { /a: { get: { responses: { '101': { description: other } } } } }\n`)
  t.equal(await generate({ contract: file, out: `${file}.out`, command: 'x', check: false, skipUnsupported: true }), true)
  const lines = warn.args().map(([line]) => String(line))
  t.match(lines.at(-1), /^not served: GET \/a: a status other than .* \(101\)$/)
})

t.test('a discriminator that selects two schemas by one value only describes', async t => {
  const { served } = await read(t, `
paths: { /a: { get: { ${fine} } } }
components:
  schemas:
    A: { type: object, properties: { kind: { const: x } } }
    B: { type: object, properties: { kind: { const: x } } }
    C: { type: object }
    Same: { oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }], discriminator: { propertyName: kind } }
    Own: { oneOf: [{ $ref: '#/components/schemas/A' }], discriminator: { propertyName: kind } }
    Named: { oneOf: [{ $ref: '#/components/schemas/C' }, { type: object }], discriminator: { propertyName: kind } }
`)
  const schemas = served.components?.schemas as Record<string, { discriminator?: object }>
  t.equal(schemas.Same?.discriminator, undefined)
  t.strictSame(schemas.Own?.discriminator, { propertyName: 'kind', mapping: { x: '#/components/schemas/A' } })
  t.strictSame(schemas.Named?.discriminator, { propertyName: 'kind' })
})

t.test('a number of format int64 is a bigint in the types', async t => {
  const { served } = await read(t, `
paths: { /a: { get: { parameters: [{ name: q, in: query, schema: { type: number, format: int64 } }], ${fine} } } }
`)
  t.match(await emitTypes(served), /q\?: bigint;/)
})

t.test('what is so malformed that nothing can be left out is refused at its place', async t => {
  const text = `paths: { /a: { get: { security: {}, ${fine} } } }\n`
  await t.rejects(read(t, text, { skipUnsupported: true }), /main\.yaml:\d+:\d+ #\/paths\/~1a\/get\/security .*struct/)
})

t.test('an enum admits no value without any, and takes a value that it has twice', async t => {
  const { contract } = await read(t, `
paths: { /a: { get: { responses: { '200': { description: fine, content: {
  application/json: { schema: { properties: { none: { enum: [] }, twice: { enum: [x, x] } } } } } } } } } }
`)
  t.match(contract.operations.getA?.responses[200]?.content?.['application/json']?.schema, {
    properties: { none: { not: {} }, twice: { enum: ['x'] } }
  })
})

t.test('an operation that uses a sound part of a broken schema is left out, as the schema is compiled as a whole', async t => {
  const response = "responses: { '200': { description: fine, content: { application/json: { schema: SCHEMA } } } }"
  const part = response.replace('SCHEMA', "{ $ref: '#/components/schemas/Broken/properties/id' }")
  const { contract, served } = await read(t, `
paths: { /a: { get: { operationId: a, ${part} } }, /b: { get: { operationId: b, security: [{ used: [] }], ${fine} } } }
components:
  schemas:
    Id: { type: string }
    Broken: { type: object, properties: { id: { $ref: '#/components/schemas/Id' }, other: { $ref: [] } } }
  securitySchemes:
    used: { type: http, scheme: bearer, description: '#/components/schemas/Broken' }
    unused: { type: http, scheme: bearer, x: { $ref: '#/components/schemas/Broken' } }
`, { skipUnsupported: true })
  t.strictSame(Object.keys(contract.operations), ['b'])
  await emitTypes(served)
})

t.test('a file that cannot be parsed is refused at its place, also one that another refers to', async t => {
  const folder = t.testdir({
    'main.yaml': `${head}paths: { /a: { $ref: other.yaml } }\n`,
    'other.yaml': 'get:\n  - a: b\n c'
  })
  await t.rejects(readContract(join(folder, 'main.yaml')), /^\S+other\.yaml:3:2 bad indentation of a mapping entry, here or/)
})

t.test('a byte order mark is no column', async t => {
  const text = `${head}paths: {}\n`.replace('openapi', 'opnapi: 1\nopenapi')
  await t.rejects(readContract(write(t, `\uFEFF${text}`)), /main\.yaml:1:1 #\/opnapi /)
})

t.test('a file that is not UTF-8 is a warning, or an error that says so', async t => {
  const file = join(t.testdir(), 'main.yaml')
  writeFileSync(file, Buffer.from(`${head}paths: {}\nx-größe: 1\n`, 'latin1'))
  const { warnings } = await readContract(file)
  const line = head.split('\n').length + 1
  t.match(warnings[0], new RegExp(`main\\.yaml:${line}:1 It has the character U\\+FFFD: save the file as UTF-8\\.$`))
  writeFileSync(file, Buffer.from(`${head}paths: {}\n`, 'utf16le'))
  await t.rejects(readContract(file), /main\.yaml:1:\d+ null byte .*: save the file as UTF-8$/)
})

t.test('a security scheme may be called description', async t => {
  const file = write(t, `${head.replace('[]', '[{ description: x }]')}paths: { /a: { get: { ${fine} } } }\n`)
  await t.rejects(readContract(file), /#\/security\/0\/description Expected type `array` but got `string`/)
})

t.test('a line break in a name does not break the line of a finding', async t => {
  await t.rejects(read(t, `paths: { "/a\\nb": { get: { ${fine} } } }\n`), /~1a\\nb Not supported: .*\(\/a\\nb\)/)
})

t.test('an operation with tags that are no list has none', async t => {
  const { contract } = await read(t, `paths: { /a: { get: { tags: null, ${fine} } } }\n`)
  t.equal(contract.operations.getA?.tags, undefined)
})

t.test('any part of a contract may be in a file of its own', async t => {
  const folder = t.testdir({
    'main.yaml': `${head}x-a: { b: { $ref: '#/info' } }
tags: [{ name: a, description: { $ref: about.md } }]
paths: { /a: { get: { $ref: get.yaml } } }
components: { schemas: { A: { type: object, properties: { $ref: 'members.yaml#/all' } } } }
`,
    'about.md': '# About',
    'get.yaml': fine,
    'members.yaml': 'all: { a: { type: string } }'
  })
  const { contract, document } = await readContract(join(folder, 'main.yaml'))
  t.strictSame(Object.keys(contract.operations), ['getA'])
  t.strictSame(document.tags, [{ name: 'a', description: '# About' }])
})

t.test('a parameter and a header field may be called schema', async t => {
  const { contract, served } = await read(t, `
paths:
  /a:
    get:
      operationId: a
      parameters: [{ $ref: '#/components/parameters/schema' }]
      responses: { '200': { description: fine, headers: { schema: { required: true, schema: { type: integer } } } } }
components: { parameters: { schema: { name: schema, in: query, required: true, schema: { type: string } } } }
`)
  t.match(contract.operations.a, {
    parameters: [{ name: 'schema', in: 'query', required: true, schema: { type: 'string' } }],
    responses: { 200: { headers: { schema: { required: true, schema: { type: 'integer' } } } } }
  })
  t.match(await emitTypes(served), /schema: components\["parameters"\]\["schema"\];/)
})

t.test('a reference to a file that does not exist is refused at its place', async t => {
  const schema = '{ $ref: none.yaml }'
  const parameter = `{ name: q, in: query, schema: ${schema} }`
  const text = `paths: { /a: { get: { parameters: [${parameter}], ${fine} } } }\n`
  await t.rejects(read(t, text), /main\.yaml:5:\d+ #\/paths\/~1a\/.*\/schema Can't resolve \$ref: there is no file \S*none\.yaml\. \(/)
  const withoutFragment = read(t, text.replace('none.yaml', '/components/schemas/Plant'))
  await t.rejects(withoutFragment, /there is no file \S*Plant\. Within a file it begins with #\/components\/\. \(/)
})

t.test('brackets and quotes may continue on lines with less indentation, and findings keep their places', async t => {
  const text = (status: string) => `paths:
  /a:
    get:
      description: "Reads
  a."
      tags: [
        x, 'y
z'
      ]
      responses: {
${'# what it answers'}
'${status}': { description: fine }
      }
`
  const { document } = await read(t, text('204'))
  const paths = document.paths as Record<string, { get: object }>
  t.strictSame(paths['/a']?.get, {
    description: 'Reads a.', tags: ['x', 'y z'], responses: { 204: { description: 'fine' } }
  })
  await t.rejects(read(t, text('101')), /main\.yaml:16:1 #\/paths\/~1a\/get\/responses\/101 Not supported: a status/)
  await t.rejects(read(t, 'paths: {\na: [ }'), /main\.yaml:6:6 missed comma.*, here or in a line before: .*#, in quotes$/)
  await t.rejects(read(t, 'paths\n  /a: {}\n'), /main\.yaml:6:5 can not read.*, here or in a line before: write `key: value`/)
})

t.test('a reference to what does not exist is refused with its target, and with a similar one', async t => {
  const schema = (name: string) => `schema: { $ref: '#/components/schemas/${name}' }`
  const folder = t.testdir({
    'main.yaml': `${head}paths:
  /a: { get: { parameters: [{ name: q, in: query, ${schema('plnt')} }], ${fine} } }
  /b: { get: { parameters: [{ name: q, in: query, ${schema('Tree')} }], ${fine} } }
  /c: { $ref: 'parts.yaml#/c' }
  /d: { get: { security: [{ kez: [] }], ${fine} } }
  /e: { get: { parameters: { $ref: '#/none' }, ${fine} } }
  /f: { get: { parameters: [{ $ref: '#/components/parameter/limit' }], ${fine} } }
components:
  parameters: { limit: { name: limit, in: query, schema: { type: string } } }
  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }
  schemas:
    Plan: { type: string }
    Plant: { type: string }
    Any: { oneOf: [{ $ref: '#/components/schemas/Plant' }], discriminator: { propertyName: a, mapping: { b: Palnt } } }
`,
    'parts.yaml': `c: { get: { parameters: [{ name: q, in: query, ${schema('Plnt')} }], ${fine} } }\n`
  })
  const loaded = readContract(join(folder, 'main.yaml')).then(() => t.fail(), error => error)
  const error = await loaded as ContractError
  const about = (sentence: string) => new RegExp(`^\\S+:\\d+:\\d+ #/\\S+ ${RegExp.escape(sentence)} \\([\\w/-]+\\)$`)
  t.match(error.findings.sort(), [
    about("Can't resolve $ref: there is no #/none."),
    about("Can't resolve $ref: there is no #/components/parameter/limit. Did you mean parameters?"),
    about('There is no schema Palnt. Did you mean Plant?'),
    about("Can't resolve $ref: there is no #/components/schemas/plnt. Did you mean Plant?"),
    about("Can't resolve $ref: there is no #/components/schemas/Tree."),
    about('There is no security scheme kez. Did you mean key?'),
    about("Can't resolve $ref: there is no #/components/schemas/Plnt.")
  ])
  t.equal(error.findings.length, 7, 'a target that is missing is not one of another kind')
})

t.test('what refers to a schema in place of its own kind has one finding', async t => {
  const refused = read(t, `
paths:
  /a:
    post:
      operationId: a
      parameters: [{ $ref: '#/components/schemas/A' }]
      requestBody: { $ref: '#/components/schemas/A' }
      responses:
        '200': { $ref: '#/components/schemas/A' }
        '201': { description: fine, content: { application/json: { $ref: '#/components/schemas/A' } } }
components: { schemas: { A: { type: object, properties: { b: { type: string } } } } }
`)
  const { findings } = await refused.then(() => t.fail(), error => error) as ContractError
  t.match(findings, ['Parameter', 'RequestBody', 'Response', 'MediaType'].map(kind => {
    return new RegExp(`This \\$ref leads to a schema, not to a ${kind}: name it in \`schema\`\\. `)
  }))
  t.equal(findings.length, 4)
})

t.test('a body among the parameters, and a parameter that its path does not have, have a way out', async t => {
  const parameters = (path: string, parameter: string) => `${head}
paths: { ${path}: { get: { operationId: a, parameters: [{ name: id, required: true, schema: {}, ${parameter} }], ${fine} } } }
`
  for (const [path, parameter, hint] of [
    ['/a', 'in: body', /can be one of the following only: .* The body is `requestBody`, beside `parameters`\./],
    ['/a/:id', 'in: path', /`id` is not used in the path `\/a\/:id`\. A path has the names of its parameters in braces: \/plants\/\{id\}\./]
  ] as const) {
    const refused = readContract(write(t, parameters(path, parameter)))
    const { message } = await refused.then(() => t.fail(), error => error) as ContractError
    t.match(message, hint)
  }
})

t.test('a text that YAML reads as another type has a way out', async t => {
  const contract = (version: string) => {
    return `${head.replace('1.0.0', version)}\npaths: { /a: { get: { operationId: a, ${fine} } } }\n`
  }
  await t.rejects(readContract(write(t, contract('1.0'))), /`string` but got `integer`\. Put it in quotes\. \(/)
  await t.rejects(readContract(write(t, contract('[1]'))), /`string` but got `array`\. \(/)
})

t.test('a type beside the name of a parameter or header field has a way out', async t => {
  const header = 'headers: { X: { type: string } }'
  const typed = [
    'parameters: [{ name: a, in: query, type: integer }], responses: { 200: { description: fine } }',
    `responses: { 200: { description: fine, ${header} } }`
  ]
  for (const operation of typed) {
    const refused = readContract(write(t, `${head}\npaths: { /a: { get: { operationId: a, ${operation} } } }\n`))
    const { message } = await refused.then(() => t.fail(), error => error) as ContractError
    t.match(message, /Property `type` is not expected here\. It belongs into `schema`\./)
  }
})

t.test('a property that is required like a parameter has a way out', async t => {
  const schemas = 'A: { type: object, properties: { b: { type: string, required: true } } }'
  const refused = readContract(write(t, `${head}
paths: { /a: { get: { operationId: a, ${fine} } } }
components: { schemas: { ${schemas} } }
`))
  const { message } = await refused.then(() => t.fail(), error => error) as ContractError
  t.match(message, /Expected type `array` but got `boolean`\. List the name of the property in `required` of its object\./)
})

t.test('null without quotes and a format are no types, and a server without a scheme is a path', async t => {
  const typed = (type: string) => `${head.replace('{ url: / }', '{ url: api.example.com/v1 }, { url: /v1.example }')}
paths: { /a: { get: { operationId: a, ${fine} } } }
components: { schemas: { A: { type: ${type} } } }
`
  for (const type of ['[string, null]', '~']) {
    const error = await readContract(write(t, typed(type))).then(() => t.fail(), error => error) as ContractError
    t.match(error.findings, [/`type` can be one of the following only: .* Write null in quotes: 'null'\. \(struct\)$/])
  }
  for (const [type, hint] of [
    ['int64', 'Write `type: integer` with `format: int64`. '],
    ["'float'", 'Write `type: number` with `format: float`. '],
    ['date-time', 'Write `type: string` with `format: date-time`. ']
  ] as const) {
    await t.rejects(readContract(write(t, typed(type))), { message: hint })
  }
  const misspelt = await readContract(write(t, typed('strng'))).then(() => t.fail(), error => error) as ContractError
  t.notMatch(misspelt.message, 'Write')
  const { warnings } = await readContract(write(t, typed('string')))
  t.equal(warnings.filter(warning => /\/servers\/0\/url This address is a path, .*: write https:\/\/api\.example\.com\/v1\.$/.test(warning)).length, 1)
  t.equal(warnings.join().match(/This address is a path/g)?.length, 1)
})

t.test('a text that YAML takes for more gets the hint to quote it', async t => {
  const refused = read(t, 'paths: {}\nx-a:\n  description: The ticket: all of it\n')
  await t.rejects(refused, { message: /main\.yaml:7:26 bad indentation of a mapping entry, here or in a line before: write `key: value` below .*quotes$/ })
})

t.test('a file that cannot be parsed is reported once, however many references lead to it', async t => {
  const schema = (name: string) => `schema: { $ref: 'all.yaml#/${name}' }`
  const folder = t.testdir({
    'main.yaml': `${head}paths:
  /a: { get: { parameters: [{ name: q, in: query, ${schema('A')} }, { name: r, in: query, ${schema('B')} }], ${fine} } }
`,
    'all.yaml': 'A: { type: integer }\nB:\n  type: integer\n  description: a: b\n'
  })
  const message = /^\S+all\.yaml:4:17 bad indentation of a mapping entry, here or in a line before: [^\n]*quotes$/
  await t.rejects(readContract(join(folder, 'main.yaml')), { message })
})

t.test('a malformed pattern of a parameter is named at its place', async t => {
  const parameters = "[{ name: b, in: query, schema: {} }, { $ref: '#/components/parameters/C' }]"
  const refused = read(t, `
paths: { /a: { get: { operationId: a, parameters: ${parameters}, ${fine} } } }
components: { parameters: { C: { name: c, in: query, schema: { type: string, pattern: '(' } } } }
`)
  await t.rejects(refused, { message: /:7:\d+ #\/components\/parameters\/C\/schema\/pattern cannot be compiled: .*Invalid regular expression/ })
})

t.test('a malformed pattern in a schema that refers to a part of itself is refused', async t => {
  const refused = read(t, `
paths: { /a: { post: { operationId: a, requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }, ${fine} } } }
components: { schemas: { A: { properties: { b: { $ref: '#/components/schemas/A/properties/c' }, c: {}, d: { type: string, pattern: '[a-' } } } } }
`)
  await t.rejects(refused, { message: /:7:\d+ #\/components\/schemas\/A\/properties\/d\/pattern cannot be compiled: .*Invalid regular expression/ })
})

t.test('a required member that no schema describes has a type', async t => {
  const schema = '{ required: [id, owner], properties: { id: { type: string } } }'
  const { served } = await read(t, `
paths: { /a: { get: { operationId: a, ${fine} } } }
components: { schemas: { A: ${schema}, B: { type: string, example: { allOf: [{ required: true }] } } } }
`)
  t.match(await emitTypes(served), /A: \{\s+id: string;\s+owner: unknown;\s+\};/)
})

t.test('an unknown field is refused with a similar name, or with what a reader may not see', async t => {
  const lines = 'application/jsonl: { itemSchema: { type: string } }'
  const refused = read(t, `
paths:
  /a: { get: { sumary: x, responses: { '200': { description: fine, content: { ${lines} } } } } }
  /c: { get: { toString: x, ${fine} } }
  d: { get: { ${fine} } }
  /e: { POST: { ${fine} } }
  /b:
    get:
      parameters:
        - name: limit
          in: query
          schema:
            $ref: #/components/schemas/Limit
      ${fine}
`)
  const { findings } = await refused.then(() => t.fail(), error => error) as ContractError
  t.match(findings, [
    /Property `d` is not expected here\. A path begins with a slash\. \(struct\)$/,
    /Property `sumary` is not expected here\. Did you mean summary\? /,
    /Property `itemSchema` is not expected here\. OpenAPI 3\.2 has it\. /,
    /Property `toString` is not expected here\. \(struct\)$/,
    /Property `POST` is not expected here\. Did you mean post\? /,
    /Property `\$ref` is not expected here\. It has no text: YAML reads # outside of quotes as a comment\. /
  ])
})

t.test('a description stays below the note that its operation is not served', async t => {
  const { document } = await read(t, `
paths:
  /a: { get: { description: Reads a., responses: { '101': { description: other } } } }
`, { skipUnsupported: true })
  const paths = document.paths as Record<string, { get: { description: string } }>
  const noted = /^This service does not implement this operation, .*\.\n\nReads a\.$/
  t.match(paths['/a']?.get.description, noted)
})

t.test('a discriminator may have no mapping beside a schema that gets another name', async t => {
  const { contract } = await read(t, `
paths:
  /a:
    post:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }
      ${fine}
components:
  schemas:
    A: { oneOf: [{ $ref: '#/components/schemas/B<X>' }], discriminator: { propertyName: kind } }
    B<X>: { type: object, required: [kind], properties: { kind: { const: x } } }
`)
  t.strictSame(Object.keys(contract.schemas).sort(), ['A', 'B_X_'])
})

t.test('the types of a parameter do not depend on where its schema is', async t => {
  const int64 = '{ type: integer, format: int64 }'
  const content = `{ name: q, in: query, content: { application/json: { schema: ${int64} } } }`
  const { served } = await read(t, `
paths: { /a: { get: { parameters: [${content}, { name: p, in: query, schema: ${int64} }], ${fine} } } }
`)
  const types = await emitTypes(served)
  t.match(types, /q\?: bigint;/)
  t.match(types, /p\?: bigint;/)
})

t.test('parameters have the types that handlers get', async t => {
  const parameters = '{ name: Accept, in: header, schema: { type: string } }, ' +
    '{ name: page, in: query, schema: { type: integer, default: 1 } }'
  const id = "{ name: id, in: query, schema: { type: [integer, 'null'], format: int64 } }"
  const { served } = await read(t, `
paths: { /a: { parameters: [${parameters}], get: { parameters: [${id}], ${fine} } } }
`)
  const types = await emitTypes(served)
  t.notMatch(types, 'Accept')
  t.match(types, /page: number;/)
  t.match(types, /id\?: bigint \| null;/)
})

t.test('a file of a form is a Blob in the types', async t => {
  const form = '{ type: object, properties: { photo: { type: string, format: binary } } }'
  const { served } = await read(t, `
paths: { /a: { post: { requestBody: { content: { multipart/form-data: { schema: ${form} } } }, ${fine} } } }
`)
  t.match(await emitTypes(served), /photo\?: Blob;/)
})

t.test('a webhook keeps an operationId that no operation has', async t => {
  const { served } = await read(t, `
paths: { /a: { get: { operationId: a, ${fine} } } }
webhooks: { sent: { post: { operationId: b, ${fine} } } }
`)
  t.match(served.webhooks, { sent: { post: { operationId: 'b' } } })
})

t.test('a file may be a schema with an $id, with unknown keywords and with odd names inside', async t => {
  const operation = (file: string) => {
    const content = `{ application/json: { schema: { $ref: ${file} } } }`
    return `${head}paths: { /a: { post: { requestBody: { content: ${content} }, ${fine} } } }\n`
  }
  const folder = t.testdir({
    'main.yaml': operation('fern.yaml'),
    'odd.yaml': operation('other.yaml'),
    'fern.yaml': `$id: https://example.com/fern.yaml
type: object
properties: { pot: { $ref: pot.yaml }, size: { $ref: '#/$defs/a~0b' } }
dependencies: {}
$defs: { a~b: { type: integer } }`,
    'pot.yaml': '{ $id: https://example.com/pot.yaml, type: string }',
    'other.yaml': '{ $id: https://example.com/x/other.yaml, items: { $ref: pot.yaml } }'
  })
  const { contract, document, warnings } = await readContract(join(folder, 'main.yaml'))
  t.strictSame(contract.schemas.fern, {
    type: 'object', properties: { pot: { $ref: 'pot#' }, size: { $ref: 'a_0b#' } }, $defs: { 'a~b': { type: 'integer' } }
  })
  t.notMatch(JSON.stringify(document), '$id')
  t.ok(warnings.some(line => /fern\.yaml:4:1 .*`dependencies` is ignored/.test(line)), warnings.join('\n'))
  const refused = /other\.yaml:\d+:\d+ #\/\$id Not supported: an \$id by which a \$ref/
  await t.rejects(readContract(join(folder, 'odd.yaml')), refused)
})

t.test('a description may refer to a member that every object of JavaScript has', async t => {
  const { contract } = await read(t, `
paths: { /a: { get: { operationId: a, ${fine} } } }
components: { schemas: { A: { description: { $ref: '#/constructor' } } } }
`)
  t.strictSame(Object.keys(contract.operations), ['a'])
})

t.test('a range of statuses may be in lower case', async t => {
  const { contract, served } = await read(t, `
paths: { /a: { get: { operationId: a, responses: { '204': { description: fine }, 4xx: { description: other } } } } }
`)
  t.strictSame(Object.keys(contract.operations.a?.responses ?? {}), ['204', '4XX'])
  t.match(await emitTypes(served), /"4XX": \{/)
})

t.test('a pattern may lack the flag u, and a required member may be named twice', async t => {
  const schema = "{ required: [a, b, a], pattern: '^\\:', patternProperties: { '^\\@': { pattern: ']' } } }"
  const { contract } = await read(t, `
paths: { /a: { get: { operationId: a, parameters: [{ name: q, in: query, content: { application/json: { schema: ${schema} } } }], ${fine} } } }
`)
  t.match(contract.operations.a?.parameters, [
    { schema: { required: ['a', 'b'], pattern: '^:', patternProperties: { '^@': { pattern: '\\]' } } } }
  ])
})

t.test('two patterns that only differ in a needless escape apply both', async t => {
  const schema = "{ patternProperties: { 'a\\-b': { type: string }, 'a-b': { maxLength: 2 } } }"
  const { contract } = await read(t, `
paths: { /a: { get: { operationId: a, parameters: [{ name: q, in: query, content: { application/json: { schema: ${schema} } } }], ${fine} } } }
`)
  t.match(contract.operations.a?.parameters, [
    { schema: { patternProperties: { 'a-b': { allOf: [{ type: 'string' }, { maxLength: 2 }] } } } }
  ])
})

t.test('the property of a discriminator may have any value', async t => {
  const { contract } = await read(t, `
paths: { /a: { get: { operationId: a, parameters: [{ name: q, in: query, content: { application/json: { schema: { $ref: '#/components/schemas/Either' } } } }], ${fine} } } }
components:
  schemas:
    Either: { oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }], discriminator: { propertyName: kind } }
    A: { properties: { kind: true } }
    B: { properties: { kind: { $ref: '#/components/schemas/Any' } } }
    Any: true
`)
  t.match(contract.schemas, {
    A: { allOf: [{ properties: { kind: { enum: ['A'] } } }] }, B: { allOf: [{ properties: { kind: { enum: ['B'] } } }] }
  })
})

t.test('the default of a discriminator may have a name that OpenAPI does not allow', async t => {
  for (const name of ['List<B>', '#/components/schemas/List<B>', '#/components/schemas/List%3CB%3E']) {
    const text = `${head}
paths: { /a: { get: { operationId: a, parameters: [{ name: q, in: query, content: { application/json: { schema: { $ref: '#/components/schemas/Either' } } } }], ${fine} } } }
components:
  schemas:
    Either: { oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/List%3CB%3E' }], discriminator: { propertyName: kind, defaultMapping: '${name}' } }
    A: { type: object }
    List<B>: { type: object }
`
    const { contract } = await readContract(write(t, text.replace('3.1', '3.2')))
    t.match(contract.schemas, { List_B_: { allOf: [{ properties: { kind: { not: { enum: ['A'] } } } }] } }, name)
  }
})

t.test('the data of events may be anything', async t => {
  for (const items of ['true', '{ oneOf: [true] }']) {
    const content = `content: { text/event-stream: { schema: { type: array, items: ${items} } } }`
    const { contract } = await read(t, `
paths: { /a: { get: { operationId: a, responses: { '200': { description: fine, ${content} } } } } }
`)
    t.match(contract.operations.a?.responses, { 200: { content: { 'text/event-stream': { schema: { type: 'array' } } } } })
  }
})

t.test('an example may refer to a file, or to nothing', async t => {
  const paths = `paths: { /a: { get: { operationId: a, ${fine} } } }`
  const schema = "{ type: object, examples: [{ $ref: '#/components/schemas/A/oneOf/0' }] }"
  const components = `components: { examples: { E: { value: { $ref: e.json } } }, schemas: { A: ${schema} } }`
  const folder = t.testdir({ 'main.yaml': `${head}${paths}\n${components}\n`, 'e.json': '{}' })
  const { served } = await readContract(join(folder, 'main.yaml'))
  t.match(await emitTypes(served), /A: Record<string, never>;/)
})

t.test('the types of an allOf may require members of what may be null', async t => {
  const { served } = await read(t, `
paths: {}
components:
  schemas:
    A: { type: [object, 'null'], properties: { a: { type: string } } }
    B: { allOf: [{ $ref: '#/components/schemas/A' }], required: [a] }
`)
  const types = await emitTypes(served)
  t.match(types, /B: WithRequired<components\["schemas"\]\["A"\], "a">;/)
  t.match(types, /^type WithRequired<T, K extends keyof NonNullable<T>> = T & \{$/m)
})

t.test('what a direction hides is compiled, too', async t => {
  const member = (marker: string) => `schema: { properties: { a: { ${marker}: true, pattern: '(' } } }`
  const body = `requestBody: { content: { application/json: { ${member('readOnly')} } } }`
  const answer = `'200': { description: fine, content: { application/json: { ${member('writeOnly')} } } }`
  for (const operation of [`${body}, ${fine}`, `responses: { ${answer} }`]) {
    await t.rejects(read(t, `paths: { /a: { post: { ${operation} } } }\n`), /cannot be compiled: Invalid regular/)
  }
})

t.test('a contract that may not be read has no fault in its first line', async t => {
  // Root may read each file, so the error of the parser is imitated.
  const error = new Error("EACCES: permission denied, open 'openapi.yaml'")
  t.equal(unreadable('test', error).message, `test: ${error.message}`)
})
