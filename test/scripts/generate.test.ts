import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'

interface Run { code: number, stdout: string, stderr: string }

function run (command: string, args: string[], cwd = '.'): Promise<Run> {
  return new Promise(resolve => {
    execFile(command, args, { cwd, timeout: 30_000 }, (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }))
  })
}

const generate = (...args: string[]) => run(process.execPath, [resolve('scripts/generate.ts'), ...args])
const contract = readFileSync('openapi.yaml', 'utf8')

/** A folder with a contract of its own, made from ours. */
function folderWith (t: Test, text: string): { path: string, out: string } {
  const folder = t.testdir({ 'openapi.yaml': text })
  return { path: join(folder, 'openapi.yaml'), out: join(folder, 'generated') }
}

t.test('the committed files are what the contract says', async t => {
  t.strictSame(await generate('--check'), { code: 0, stdout: 'generated/ matches openapi.yaml.\n', stderr: '' })
})

t.test('the same contract makes the same bytes, under a banner, and writes only what differs', async t => {
  const { path, out } = folderWith(t, contract)
  const first = await generate('--contract', path, '--out', out)
  t.equal(first.code, 0)
  t.equal(first.stdout.match(/^wrote /gm)?.length, 3)
  t.strictSame(readdirSync(out).sort(), readdirSync('generated').sort())
  for (const name of readdirSync(out)) {
    const text = readFileSync(join(out, name), 'utf8')
    t.equal(text, readFileSync(join('generated', name), 'utf8'))
    t.match(text, /^\/\/ Generated from openapi\.yaml .* Do not edit/)
  }
  t.match(await generate('--contract', path, '--out', out), { code: 0, stdout: /generated\/ matches .*openapi\.yaml\.\n$/, stderr: '' })
})

t.test('--check names what differs and writes nothing', async t => {
  const { path, out } = folderWith(t, contract)
  await generate('--contract', path, '--out', out)
  writeFileSync(path, contract.replace('The name of the plant.', 'What the plant is called.'))
  const before = readFileSync(join(out, 'types.ts'), 'utf8')
  const { code, stderr } = await generate('--contract', path, '--out', out, '--check')
  t.equal(code, 1)
  t.match(stderr, /generated\/document\.ts does not match .*openapi\.yaml\. Run `npm run generate`/)
  t.match(stderr, /generated\/types\.ts does not match .*openapi\.yaml\. Run `npm run generate`/)
  t.equal(readFileSync(join(out, 'types.ts'), 'utf8'), before)
})

t.test('a contract that cannot be served is refused with file, line and feature, all at once, and nothing is written', async t => {
  const broken: Array<[string, (text: string) => string, RegExp[]]> = [
    ['a syntax error', text => text.replace('operationId: createPlant', 'operationId: [createPlant'), [/^\S*openapi\.yaml:\d+:\d+ \S/]],
    ['no file', () => '', [/openapi\.yaml/]],
    ['an unresolved reference', text => text.replaceAll('schemas/Plant', 'schemas/Plnt'), [...contract.matchAll(/schemas\/Plant'/g)].map(({ index }) => new RegExp(`openapi\\.yaml:${contract.slice(0, index).split('\n').length}:\\d+ .*resolve \\$ref`))],
    ['an unresolved reference of a parameter', text => text.replace('      requestBody:', "      parameters: [{ name: n, in: query, schema: { $ref: '#/components/schemas/None' } }]\n      requestBody:"), [/parameters\/0\/schema Can't resolve \$ref/]],
    ['Swagger 2.0', () => 'swagger: "2.0"\ninfo: { title: x, version: "1", license: { name: MIT, url: https://example.com } }\nhost: example.org\npaths: {}\n', [/openapi\.yaml:\d+:\d+ .*Not supported: an OpenAPI version other than 3\.1\./]],
    ['a version that is a number', text => text.replace('openapi: 3.1.0', 'openapi: 3.1'), [/openapi\.yaml: Invalid OpenAPI version: should be a string/]],
    ['a parameter whose schema is nothing', text => text.replace('      requestBody:', '      parameters: [{ name: n, in: query, schema: }]\n      requestBody:'), [/openapi\.yaml:\d+:\d+ #\/paths\/~1plants\/post\/parameters\/0\/schema /]],
    ['a server that is no address', text => text.replace("- url: '{base_url}'", "- url: 'https://{base_url}.x'").replace('default: /', 'default: a b'), [/openapi\.yaml:\d+:\d+ #\/paths\/~1plants\/post cannot be compiled: Invalid URL/]],
    ['two spellings of a path', text => text.replace('components:\n', "  /ä: { get: { operationId: a, responses: { '204': { description: fine } } } }\n  /%C3%A4: { get: { operationId: b, responses: { '204': { description: fine } } } }\ncomponents:\n"), [/openapi\.yaml:\d+:\d+ #\/paths\/~1%C3%A4\/get cannot be compiled: .*already declared/]],
    ['a wrong type', text => text.replace('type: string\n          description: The name', 'type: strin\n          description: The name'), [/openapi\.yaml:\d+:\d+ #\/components\/schemas\/Plant\/properties\/name\/type .*type/]],
    ['an operation without operationId', text => text.replace('operationId: createPlant', 'x-id: createPlant'), [/openapi\.yaml:\d+:\d+ #\/paths\/~1plants\/post.*operationId/]],
    ['OpenAPI 3.0', text => text.replace('openapi: 3.1.0', 'openapi: 3.0.3'), [/:3:\d+ #\/openapi Not supported: an OpenAPI version other than 3\.1 \(3\.0\.3\)\./]],
    ['bounds that were rounded', text => text.replace('format: int64', 'format: int64\n              minimum: 9007199254740993'), [/NewPlant cannot be compiled: 9007199254740992 beside format int64 is not an integer between/]],
    ['a rule that is none', text => text.replace('format: int64', 'format: int64\n              multipleOf: 0'), [/NewPlant cannot be compiled: schema is invalid: .*\/multipleOf must be > 0/]],
    ['an operationId twice', text => text.replace('components:\n', "  /other: { get: { operationId: createPlant, responses: { '204': { description: fine } } } }\ncomponents:\n"), [/openapi\.yaml:\d+:\d+ #\/paths\/~1other\/get\/createPlant .*unique/]],
    ['two paths that collide', text => text.replace('components:\n', ['x', 'y'].map(name => `  /a/{${name}}: { get: { operationId: ${name}, parameters: [{ name: ${name}, in: path, required: true, schema: { type: string } }], responses: { '204': { description: fine } } } }\n`).join('') + 'components:\n'), [/openapi\.yaml:\d+:\d+ #\/paths\/~1a~1\{y\} .*already exists/]],
    ['a path parameter that is missing', text => text.replace('  /plants:', '  /plants/{id}:'), [/openapi\.yaml:\d+:\d+ #\/paths\/~1plants~1\{id\}\/post\/parameters .*path parameter `\{id\}`/]],
    ['a discriminator that maps to nothing', text => `${text}    Any:\n      oneOf: [{ $ref: '#/components/schemas/Plant' }]\n      discriminator: { propertyName: name, mapping: { a: Plant, b: Plnt } }\n`, [/openapi\.yaml:\d+:\d+ #\/components\/schemas\/Any\/discriminator\/mapping\/b There is no schema Plnt\./]],
    ['an unknown security scheme', text => text.replace('- bearerAuth: []', '- bearerAuth: []\n  - keyAuth: []'), [/openapi\.yaml:\d+:\d+ #\/security\/1\/keyAuth There is no security scheme keyAuth\./]],
    ['a default that is none', text => text.replace('      requestBody:', '      parameters: [{ name: n, in: query, schema: { type: integer, default: x } }]\n      requestBody:'), [/openapi\.yaml:\d+:\d+ #\/paths\/~1plants\/post\/parameters cannot be compiled: The query parameter "n" must be an integer\./]],
    ['a schema that does not compile', text => text.replace("pattern: '^[^\\x00]*$'", "pattern: '['"), [/^.*openapi\.yaml:\d+:\d+ #\/components\/schemas\/Plant cannot be compiled: .*regular expression/m]],
    ['a schema that is none', text => text.replace('        - error\n        - message', '        - error\n        - error'), [/openapi\.yaml:\d+:\d+ #\/components\/schemas\/Error cannot be compiled: schema is invalid: data\/required must NOT have duplicate items/]],
    ['two mistakes', text => text.replace("'400':", "'199':").replace('scheme: bearer', 'scheme: digest'), [/Not supported: a status other .* \(199\)/, /Not supported: a security scheme other .* \(digest\)/]]
  ]
  for (const [name, change, messages] of broken) {
    const { path, out } = folderWith(t, change(contract))
    if (name === 'no file') await run('rm', [path])
    else t.not(readFileSync(path, 'utf8'), contract, `${name} is a change`)
    const { code, stderr } = await generate('--contract', path, '--out', out)
    t.equal(code, 1, name)
    for (const message of messages) t.match(stderr, message, name)
    t.notMatch(stderr, /\n {4}at /, 'no stack')
    t.throws(() => readdirSync(out), { code: 'ENOENT' }, 'nothing written')
  }
})

t.test('what the linter only warns of is told, and does not hinder', async t => {
  const { path, out } = folderWith(t, contract.replace('  license:\n    name: MIT\n    identifier: MIT\n', ''))
  const { code, stderr } = await generate('--contract', path, '--out', out)
  t.match({ code, stderr }, { code: 0, stderr: /^warning: .*openapi\.yaml:\d+:\d+ #\/info .*license/ })
})

t.test('an operation may be open, and may have no body to send or to answer', async t => {
  const { path, out } = folderWith(t, contract.replace('components:\n', `  /health:
    get:
      operationId: readHealth
      summary: Read health
      security: []
      responses:
        '204':
          description: alive
        '400':
          description: bad
components:
`))
  t.match(await generate('--contract', path, '--out', out), { code: 0, stderr: '' })
  const { operations } = await import(join(out, 'operations.ts'))
  t.strictSame(operations.readHealth, { method: 'GET', url: '/health', security: [], parameters: [], responses: { 204: {}, 400: {} } })
})

t.test('a contract may be as small as OpenAPI allows', async t => {
  const head = 'openapi: 3.1.0\ninfo:\n  title: Small\n  version: 1.0.0\n  license: { name: MIT, identifier: MIT }\nservers: [{ url: / }]\n'
  const { path, out } = folderWith(t, `${head}components: {}\n`)
  t.match(await generate('--contract', path, '--out', out), { code: 0, stderr: '' })
  writeFileSync(path, `${head}paths:
  /a:
    put:
      operationId: putA
      summary: Put
      security: []
      requestBody: { content: { application/json: {} } }
      responses:
        '200': { description: fine, content: { application/json: {} } }
        '400': { description: bad }
`)
  t.match(await generate('--contract', path, '--out', out), { code: 0, stderr: '' })
  const { operations } = await import(join(out, 'operations.ts'))
  t.strictSame(operations.putA, { method: 'PUT', url: '/a', security: [], parameters: [], body: { required: false, types: ['application/json'], schema: {} }, responses: { 200: { type: 'application/json', schema: {} }, 400: {} } })
})

t.test('an unknown option is told in a sentence', async t => {
  t.match(await generate('--bogus'), { code: 2, stdout: '', stderr: /^Unknown option '--bogus'/ })
})

t.test('a folder that cannot be written is told in a line', async t => {
  const folder = t.testdir({ generated: 'a file' })
  const { code, stderr } = await generate('--out', join(folder, 'generated'))
  t.match({ code, stderr }, { code: 1, stderr: /^E[A-Z]+: .*generated'\n$/ })
})

t.test('a folder that cannot be made is reported in a line', async t => {
  const { code, stderr } = await generate('--out', '/proc/x/generated')
  t.match({ code, stderr }, { code: 1, stderr: /^E[A-Z]+: .* mkdir '\/proc(\/x)?'\n$/ })
})

t.test('int64 is a bigint in the types, nullable or not', async t => {
  const { path, out } = folderWith(t, contract.replace('              format: int64\n              description: Identification number of the plant, -9223372036854775808 to 9223372036854775807.\n', "              format: int64\n            parent:\n              type: [integer, 'null']\n              format: int64\n"))
  t.equal((await generate('--contract', path, '--out', out)).code, 0)
  const types = readFileSync(join(out, 'types.ts'), 'utf8')
  t.match(types, /id: bigint;/)
  t.match(types, /parent\?: bigint \| null;/)
})

t.test('a change of the contract makes the compiler point at the code that no longer fits', async t => {
  const folder = t.testdir()
  for (const name of ['src', 'generated', 'tsconfig.json', 'package.json']) cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const compile = async (...changes: Array<[from: string, to: string]>): Promise<string> => {
    writeFileSync(join(folder, 'openapi.yaml'), changes.reduce((text, [from, to]) => text.replaceAll(from, to), contract))
    t.equal((await generate('--contract', join(folder, 'openapi.yaml'), '--out', join(folder, 'generated'))).code, 0)
    return (await run(process.execPath, [resolve('node_modules/typescript/bin/tsc')], folder)).stdout
  }
  const shapes = await compile(
    ['              type: integer\n              format: int64', '              type: string'],
    ['        - name\n      properties:', '        - name\n        - tag\n      properties:'],
    ["        '409':", "        '422':"],
    ['- error\n        - message', '- error\n        - message\n        - hint'],
    ['        message:\n', '        hint:\n          type: string\n        message:\n']
  )
  t.match(shapes, /^src\/stores\/memory\.ts\(.*'string' is not assignable to .*'bigint'/m, 'another type of id')
  t.match(shapes, /^src\/plants\/create-plant\.ts\(.*error TS/m, 'a member more that is required, a status less')
  t.match(shapes, /^src\/plants\/error-body\.ts\(.*'hint' is missing/m, 'another shape of errors')
  const names = await compile(['createPlant', 'addPlant'], ['bearerAuth', 'tokenAuth'])
  t.match(names, /^src\/app\.ts\(.*'createPlant' does not exist/m, 'an operation without a handler, and a handler without an operation')
  t.match(names, /^src\/app\.ts\(.*'bearerAuth' does not exist/m, 'a scheme without a verifier')
})
