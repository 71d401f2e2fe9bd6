import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { generate } from '../../../../src/contract/generate/index.ts'
import { ownPaths } from '../../../../src/service/service-paths.ts'
import { compile } from '../../../fixtures/compiler.ts'

interface Run { code: number, stdout: string, stderr: string }

/** Runs the command in a process, which takes a second: for what only a process has. */
function runCommand (...args: string[]): Promise<Run> {
  const command = ['scripts/generate.ts', ...args]
  return new Promise(resolve => {
    execFile(process.execPath, command, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    })
  })
}

/** Generates in this process as the command does, and returns what the command would print. */
async function run (t: Test, contract: string, out: string, check = false): Promise<Run> {
  const printed = { stdout: '', stderr: '' }
  const collect = (stream: keyof typeof printed) => (line: string) => {
    printed[stream] += `${line}\n`
  }
  const captures = [
    t.capture(console, 'log', collect('stdout')),
    t.capture(console, 'warn', collect('stderr')),
    t.capture(console, 'error', collect('stderr'))
  ]
  const isGood = await generate({ contract, out, command: 'npm run generate', check, ownPaths })
  for (const capture of captures) capture.restore()
  return { code: isGood ? 0 : 1, ...printed }
}

const contract = readFileSync('test/fixtures/contracts/plants.yaml', 'utf8')

/** A folder with this contract; `generateHere` writes the generated files to `out`. */
function folderWith (t: Test, text: string) {
  const folder = t.testdir({ 'openapi.yaml': text })
  const path = join(folder, 'openapi.yaml')
  const out = join(folder, 'generated')
  return { path, out, generateHere: (check = false) => run(t, path, out, check) }
}

t.test('the committed files match the contract', async t => {
  const matches = { code: 0, stdout: 'generated/ matches openapi.yaml.\n', stderr: '' }
  t.strictSame(await runCommand('--check'), matches)
})

t.test('the command writes the files, and exits with 1 for a contract that is refused', async t => {
  const { path, out } = folderWith(t, contract)
  const overlay = `${path}.overlay`
  const action = '{ target: $.info, update: { title: Other } }'
  writeFileSync(overlay, `overlay: 1.0.0\ninfo: { title: A, version: 1.0.0 }\nactions: [${action}]\n`)
  const written = await runCommand('--contract', path, '--overlay', overlay, '--out', out)
  t.match(written, { code: 0, stdout: /^(wrote .*\n){4}$/, stderr: /^$/ })
  const document = readFileSync(join(out, 'document.ts'), 'utf8')
  t.ok(document.includes(`by \`npm run generate -- --overlay ${overlay}\``))
  t.match(document, /"title": "Other"/)
  writeFileSync(path, contract.replace('openapi: 3.1.0', 'openapi: 4.0.0'))
  const refused = await runCommand('--contract', path, '--out', out)
  t.match(refused, { code: 1, stdout: /^$/, stderr: /:3:\d+ #\/openapi Not supported/ })
})

t.test('the same contract gives the same bytes, and only changed files are written', async t => {
  const { out, generateHere } = folderWith(t, readFileSync('openapi.yaml', 'utf8'))
  const first = await generateHere()
  t.equal(first.code, 0)
  t.equal(first.stdout.match(/^wrote /gm)?.length, 4)
  t.strictSame(readdirSync(out).sort(), readdirSync('generated').sort())
  for (const name of readdirSync(out)) {
    const text = readFileSync(join(out, name), 'utf8')
    t.equal(text, readFileSync(join('generated', name), 'utf8'))
    t.match(text, /^\/\/ Generated from openapi\.yaml .* Do not edit/)
  }
  const matches = /generated\/ matches .*openapi\.yaml\.\n$/
  t.match(await generateHere(), { code: 0, stdout: matches, stderr: /^$/ })
})

t.test('--check names the files that differ and writes nothing', async t => {
  const { path, out, generateHere } = folderWith(t, contract)
  await generateHere()
  writeFileSync(path, contract.replace('The name of the plant.', 'What the plant is called.'))
  const before = readFileSync(join(out, 'types.ts'), 'utf8')
  const { code, stderr } = await generateHere(true)
  t.equal(code, 1)
  t.match(stderr, /generated\/document\.ts does not match .*openapi\.yaml\. Run `npm run generate`/)
  t.match(stderr, /generated\/types\.ts does not match .*openapi\.yaml\. Run `npm run generate`/)
  t.equal(readFileSync(join(out, 'types.ts'), 'utf8'), before)
})

/** A contract that `npm run generate` refuses, and what it reports. */
interface Broken { name: string, change: (text: string) => string, messages: RegExp[] }

const replace = (from: string, to: string) => (text: string) => text.replace(from, to)
const addParameter = (parameter: string) =>
  replace('      requestBody:', `      parameters: [${parameter}]\n      requestBody:`)
const addPaths = (...paths: string[]) =>
  replace('components:\n', `${paths.map(path => `  ${path}\n`).join('')}components:\n`)

/** Matches a message with its file, line and column, and the JSON pointer of the part that it is about. */
function at (pointer: string, message: RegExp): RegExp {
  return new RegExp(`openapi\\.yaml:\\d+:\\d+ ${pointer.replace(/[{}]/g, '\\$&')} ${message.source}`)
}

const noContent = "responses: { '204': { description: fine } }"
/** Other operations may have an int64 of their own. */
const int64OfNewPlant = 'format: int64\n              description: >-\n                Identification number'
const pathWith = (name: string) => {
  const parameter = `{ name: ${name}, in: path, required: true, schema: { type: string } }`
  return `/a/{${name}}: { get: { operationId: ${name}, parameters: [${parameter}], ${noContent} } }`
}
const anyWithDiscriminator = `    Any:
      oneOf: [{ $ref: '#/components/schemas/Plant' }]
      discriminator: { propertyName: name, mapping: { a: Plant, b: Plnt } }
`
const swagger2 = `swagger: "2.0"
info: { title: x, version: "1", license: { name: MIT, url: https://example.com } }
host: example.org
paths: {}
`
const plantReferences = [...contract.matchAll(/schemas\/Plant'/g)]
const plantReferenceLines = plantReferences.map(({ index }) => contract.slice(0, index).split('\n').length)

const brokenContracts: Broken[] = [
  {
    name: 'a syntax error',
    change: replace('operationId: createPlant', 'operationId: [createPlant'),
    messages: [/^\S*openapi\.yaml:\d+:\d+ \S/]
  },
  {
    name: 'no file',
    change: () => '',
    messages: [/openapi\.yaml/]
  },
  {
    name: 'an unresolved reference',
    change: text => text.replaceAll('schemas/Plant', 'schemas/Plnt'),
    messages: plantReferenceLines.map(line => new RegExp(`openapi\\.yaml:${line}:\\d+ .*resolve \\$ref`))
  },
  {
    name: 'an unresolved reference in a parameter',
    change: addParameter("{ name: n, in: query, schema: { $ref: '#/components/schemas/None' } }"),
    messages: [/parameters\/0\/schema Can't resolve \$ref/]
  },
  {
    name: 'Swagger 2.0',
    change: () => swagger2,
    messages: [/openapi\.yaml:\d+:\d+ .*Not supported: an OpenAPI version .* \(2\.0\): convert the contract/]
  },
  {
    name: 'a version that is a number',
    change: replace('openapi: 3.1.0', 'openapi: 3.1'),
    messages: [/:3:\d+ #\/openapi Not supported: an OpenAPI version .* \(3\.1\): write 3\.1\.0\./]
  },
  {
    name: 'a parameter with an empty schema',
    change: addParameter('{ name: n, in: query, schema: }'),
    messages: [at('#/paths/~1plants/post/parameters/0/schema', /\S/)]
  },
  {
    name: 'an invalid server URL',
    change: text => text
      .replace("- url: '{base_url}'", "- url: 'https://{base_url}.x'")
      .replace('default: /', 'default: a b'),
    // The first operation reports it.
    messages: [at('#/paths/\\S+/\\w+', /cannot be compiled: Invalid URL/)]
  },
  {
    name: 'two spellings of one path',
    change: addPaths(
      `/ä: { get: { operationId: a, ${noContent} } }`,
      `/%C3%A4: { get: { operationId: b, ${noContent} } }`
    ),
    messages: [at('#/paths/~1%C3%A4/get', /Not supported: operations of one method whose paths differ/)]
  },
  {
    name: 'a wrong type',
    change: replace(
      'type: string\n          description: The name',
      'type: strin\n          description: The name'
    ),
    messages: [at('#/components/schemas/Plant/properties/name/type', /.*type/)]
  },
  {
    name: 'OpenAPI 4.0',
    change: replace('openapi: 3.1.0', 'openapi: 4.0.0'),
    messages: [/:3:\d+ #\/openapi Not supported: an OpenAPI version .* \(4\.0\.0\)\./]
  },
  {
    name: 'a bound that YAML rounds',
    change: replace(int64OfNewPlant, `minimum: 9007199254740993\n              ${int64OfNewPlant}`),
    messages: [/NewPlant cannot be compiled: 9007199254740992 beside format int64 is not an integer between/]
  },
  {
    name: 'a keyword with an invalid value',
    change: replace(int64OfNewPlant, `multipleOf: 0\n              ${int64OfNewPlant}`),
    messages: [/NewPlant cannot be compiled: schema is invalid: .*\/multipleOf must be > 0/]
  },
  {
    name: 'two paths that collide',
    change: addPaths(pathWith('x'), pathWith('y')),
    messages: [at('#/paths/~1a~1{y}/get', /Not supported: operations of one method whose paths differ/)]
  },
  {
    name: 'an undeclared path parameter',
    change: replace('  /plants:', '  /plants/{id}:'),
    messages: [at('#/paths/~1plants~1{id}/post/parameters', /.*path parameter `\{id\}`/)]
  },
  {
    name: 'a discriminator that maps to an unknown schema',
    change: text => text + anyWithDiscriminator,
    messages: [at('#/components/schemas/Any/discriminator/mapping/b', /There is no schema Plnt\./)]
  },
  {
    name: 'an unknown security scheme',
    change: replace('- bearerAuth: []', '- bearerAuth: []\n  - keyAuth: []'),
    messages: [at('#/security/1/keyAuth', /There is no security scheme keyAuth\./)]
  },
  {
    name: 'a default of the wrong type',
    change: addParameter('{ name: n, in: query, schema: { type: integer, default: x } }'),
    messages: [at(
      '#/paths/~1plants/post/parameters',
      /cannot be compiled: the default breaks its schema\. The query parameter "n" must be an integer\./
    )]
  },
  {
    name: 'an invalid regular expression',
    change: replace("pattern: '^[^\\x00]*$'", "pattern: '['"),
    messages: [at(
      '#/components/schemas/Plant/properties/name/pattern', /cannot be compiled: .*regular expression/
    )]
  },
  {
    name: 'an invalid schema',
    change: replace('        - message\n', '        - message\n      not: { type: [string, string] }\n'),
    messages: [at(
      '#/components/schemas/Error',
      /cannot be compiled: schema is invalid: data\/not\/type must/
    )]
  },
  {
    name: 'two mistakes',
    change: text => text.replace("'400':", "'199':").replace('scheme: bearer', 'scheme: digest'),
    messages: [
      /Not supported: a status other .* \(199\)/,
      /Not supported: a security scheme other .* \(digest\)/
    ]
  }
]

t.test('generate reports every mistake of a contract with file, line and feature, and writes nothing', async t => {
  for (const { name, change, messages } of brokenContracts) {
    const { path, out, generateHere } = folderWith(t, change(contract))
    if (name === 'no file') rmSync(path)
    else t.not(readFileSync(path, 'utf8'), contract, `${name} is a change`)
    const { code, stderr } = await generateHere()
    t.equal(code, 1, name)
    for (const message of messages) t.match(stderr, message, name)
    t.notMatch(stderr, /\n {4}at /, 'no stack')
    t.throws(() => readdirSync(out), { code: 'ENOENT' }, 'nothing written')
  }
})

t.test('generate reports a warning of the linter and still succeeds', async t => {
  const withoutLicense = contract.replace('  license:\n    name: MIT\n    identifier: MIT\n', '')
  const { code, stderr } = await folderWith(t, withoutLicense).generateHere()
  t.match({ code, stderr }, { code: 0, stderr: /^warning: .*openapi\.yaml:\d+:\d+ #\/info .*license/ })
})

t.test('an operation may need no token, and its request and responses may have no body', async t => {
  const { out, generateHere } = folderWith(t, contract.replace('components:\n', `  /health:
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
  t.match(await generateHere(), { code: 0, stderr: '' })
  const { operations } = await import(join(out, 'operations.ts'))
  t.strictSame(operations.readHealth, {
    method: 'GET',
    url: '/health',
    security: [],
    parameters: [],
    responses: { 204: {}, 400: {} }
  })
})

t.test('a contract may be as small as OpenAPI allows', async t => {
  const head = `openapi: 3.1.0
info:
  title: Small
  version: 1.0.0
  license: { name: MIT, identifier: MIT }
servers: [{ url: / }]
`
  const { path, out, generateHere } = folderWith(t, `${head}components: {}\n`)
  t.match(await generateHere(), { code: 0, stderr: '' })
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
  t.match(await generateHere(), { code: 0, stderr: '' })
  const { operations } = await import(join(out, 'operations.ts'))
  t.strictSame(operations.putA, {
    method: 'PUT',
    url: '/a',
    security: [],
    parameters: [],
    body: { required: false, content: { 'application/json': {} } },
    responses: { 200: { content: { 'application/json': {} } }, 400: {} }
  })
})

t.test('an unknown option is reported with exit code 2', async t => {
  t.match(await runCommand('--bogus'), { code: 2, stdout: '', stderr: /^There is no option --bogus\. / })
})

t.test('an output folder that cannot be written is reported in one line', async t => {
  const folder = t.testdir({ generated: 'a file' })
  const { code, stderr } = await run(t, 'openapi.yaml', join(folder, 'generated'))
  t.match({ code, stderr }, { code: 1, stderr: /generated\/document\.ts cannot be written: EEXIST: .*generated'\. Name another folder by --out\.\n$/ })
})

t.test('an output folder that cannot be created is reported in one line', async t => {
  const { code, stderr } = await run(t, 'openapi.yaml', '/proc/x/generated')
  t.match({ code, stderr }, { code: 1, stderr: /^\/proc\/x\/generated\/document\.ts cannot be written: E[A-Z]+: .* mkdir '\/proc(\/x)?'\. Name another folder by --out\.\n$/ })
})

t.test('int64 is a bigint in the types, nullable or not', async t => {
  const parent = `            parent:
              type: [integer, 'null']
              format: int64
`
  const withParent = contract.replace(/ {12}id:\n/, `${parent}$&`)
  const { out, generateHere } = folderWith(t, withParent)
  t.equal((await generateHere()).code, 0)
  const types = readFileSync(join(out, 'types.ts'), 'utf8')
  t.match(types, /id: bigint;/)
  t.match(types, /parent\?: bigint \| null;/)
})

t.test('the compiler reports the code that does not fit a changed contract', async t => {
  const folder = t.testdir()
  const copied = ['src', 'generated', 'tsconfig.json', 'package.json']
  for (const name of copied) cpSync(name, join(folder, name), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const path = join(folder, 'openapi.yaml')
  const messagesAfter = async (...changes: Array<[from: string, to: string]>): Promise<string> => {
    writeFileSync(path, changes.reduce((text, [from, to]) => text.replaceAll(from, to), contract))
    t.equal((await run(t, path, join(folder, 'generated'))).code, 0)
    return (await compile(folder)).join('\n')
  }
  const shapes = await messagesAfter(
    ['              type: integer\n              format: int64', '              type: string'],
    ['        - name\n      properties:', '        - name\n        - tag\n      properties:'],
    ["        '409':", "        '422':"],
    ['- error\n        - message', '- error\n        - message\n        - hint'],
    ['        message:\n', '        hint:\n          type: string\n        message:\n']
  )
  t.match(shapes, /^src\/stores\/memory\.ts\(.*'string' is not assignable to .*'bigint'/m, 'another type of id')
  t.match(shapes, /^src\/plants\/create-plant\.ts\(.*error TS/m, 'one more required member and one status less')
  t.match(shapes, /^src\/plants\/error-body\.ts\(.*'hint' is missing/m, 'another shape of errors')
  const names = await messagesAfter(['createPlant', 'addPlant'], ['bearerAuth', 'tokenAuth'])
  t.match(names, /^src\/service\/app\.ts\(.*'\w+' does not exist in type 'Handlers</m, 'a handler without an operation')
  t.match(names, /^src\/service\/app\.ts\(.*'bearerAuth' does not exist/m, 'a scheme without a verifier')
})

t.test('extensions beside paths and responses are ignored', async t => {
  const extended = contract
    .replace('paths:\n', 'paths:\n  x-note: a text\n')
    .replace("responses:\n        '200'", "responses:\n        x-note: a text\n        '200'")
  const { out, generateHere } = folderWith(t, extended)
  t.match(await generateHere(), { code: 0 })
  t.notMatch(readFileSync(join(out, 'operations.ts'), 'utf8'), /x-note/)
})
