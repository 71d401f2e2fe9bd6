import { statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { emitOperations } from '../../../../src/contract/generate/emit/emit-contract.ts'
import { generate } from '../../../../src/contract/generate/index.ts'
import { readContract } from '../../../../src/contract/generate/read-contract.ts'
import type { Contract } from '../../../../src/contract/index.ts'
import { compile } from '../../../fixtures/compiler.ts'

const head = `openapi: 3.1.0
info: { title: Other, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: / }]
`
const fine = "responses: { '204': { description: fine } }"

/** The constants that the service imports, of a contract with these paths and components. */
async function generated (t: Test, text: string): Promise<Contract> {
  const folder = t.testdir({ 'main.yaml': head + text, 'tsconfig.json': '{}' })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  t.equal(await generate({ contract: join(folder, 'main.yaml'), out: folder, command: 'x', check: false }), true)
  return await import(join(folder, 'operations.ts')) as Contract
}

t.test('a member __proto__ stays a member of what the service imports', t => {
  const contract = { operations: JSON.parse('{ "a": { "__proto__": 1 } }') } as unknown as Contract
  t.match(emitOperations(contract), '    ["__proto__"]: 1')
  t.end()
})

t.test('a scheme with the name __proto__ is refused: its operation would be open to everyone', async t => {
  const text = `${head}paths: { /a: { get: { operationId: a, security: [{ __proto__: [] }], ${fine} } } }
components: { securitySchemes: { __proto__: { type: http, scheme: bearer } } }
`
  const file = join(t.testdir({ 'main.yaml': text }), 'main.yaml')
  await t.rejects(readContract(file), /Not supported: the name __proto__/)
})

t.test('paths that share a path item have operations of their own, also beside the reference', async t => {
  const { operations } = await generated(t, `
security: []
paths:
  /a: { $ref: '#/components/pathItems/I' }
  /b: { $ref: '#/components/pathItems/I', delete: { operationId: removeB, ${fine} } }
components: { pathItems: { I: { get: { ${fine} } } } }
`)
  const served = Object.entries(operations).map(([id, { method, url }]) => `${id} ${method} ${url}`)
  t.strictSame(served, ['getA GET /a', 'getB GET /b', 'removeB DELETE /b'])
})

t.test('a default that YAML rounds is refused', async t => {
  const schema = '{ type: integer, format: int64, default: 9007199254740993 }'
  const text = `${head}security: []
paths: { /a: { get: { parameters: [{ name: q, in: query, schema: ${schema} }], ${fine} } } }
`
  const file = join(t.testdir({ 'main.yaml': text }), 'main.yaml')
  await t.rejects(readContract(file), /the default of "q" is beyond 2\^53/)
})

t.test('a reference to nothing is the reason why its operation is left out, and no other reason', async t => {
  const file = join(t.testdir({
    'main.yaml': `${head}security: []
paths:
  /a: { get: { responses: { '101': { description: other } } } }
  /b: { get: { responses: { '200': { $ref: '#/components/responses/None' } } } }
`
  }), 'main.yaml')
  const { contract } = await readContract(file, { skipUnsupported: true })
  t.match(contract.skipped.map(({ url, reason }) => [url, reason]), [['/a', /status other/], ['/b', /resolve \$ref/]])
})

t.test('a reference to any part of a component has the type of the part', async t => {
  const part = (pointer: string) => `{ $ref: '#/components/schemas/${pointer}' }`
  const parts = {
    item: part('List/items'),
    branch: part('List/items/anyOf/1'),
    inner: part('Whole/properties/a/properties/b'),
    composed: part('Whole/allOf/0/properties/c'),
    first: part('Tuple/prefixItems/0'),
    again: part('Whole/properties/next')
  }
  const members = Object.entries(parts).map(([name, schema]) => `${name}: ${schema}`)
  await generated(t, `
security: []
paths: { /a: { get: { operationId: a, responses: { '200': { description: fine, content: { application/json: { schema: ${part('All')} } } } } } } }
components:
  schemas:
    All: { type: object, required: [${Object.keys(parts)}], properties: { ${members} } }
    List: { type: array, items: { anyOf: [{ type: string }, { type: integer, format: int64 }] } }
    Whole:
      type: [object, 'null']
      properties: { a: { type: object, properties: { b: { const: x } } }, next: { type: object, properties: { next: ${part('Whole/properties/next')} } } }
      allOf: [{ type: object, properties: { c: { type: boolean } } }]
    Tuple: { type: array, prefixItems: [{ type: number }] }
`)
  const folder = t.testdirName
  writeFileSync(join(folder, 'program.ts'), `import type { components } from './types.ts'
export const all: components['schemas']['All'] = { item: 'x', branch: 1n, inner: 'x', composed: true, first: 1, again: { next: { next: {} } } }
export const wrong: components['schemas']['All'] = { ...all, branch: 'x' }
`)
  const config = { extends: resolve('tsconfig.json'), files: ['program.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  t.match(await compile(folder), [/^program\.ts\(3,\d+\): error TS2322: [^\n]*$/])
})

t.test('an empty operationId and an empty body are none, and a rounded example is named', async t => {
  const file = join(t.testdir({
    'main.yaml': `${head}security: []
paths:
  /a:
    post:
      operationId: ''
      requestBody: { content: {} }
      ${fine.replace('204', '200').replace('fine }', 'fine, content: { application/json: { example: { id: 9007199254740993, n: [12345678901234567890] } } } }')}
  x-a: { $ref: [] }
`
  }), 'main.yaml')
  const { contract, warnings } = await readContract(file)
  t.strictSame(Object.keys(contract.operations), ['postA'])
  t.notOk('body' in (contract.operations.postA as object))
  t.match(warnings.at(-1), /main\.yaml:\d+:\d+ #\/paths\/~1a\/.*\/example\/id A number beyond 2\^53 in an example is rounded: .* \(1 more\)$/)
})

t.test('schemas may have any name, in their file or by the name of their file', async t => {
  const folder = t.testdir({
    'main.yaml': `${head}security: []
paths:
  /a: { post: { operationId: a, requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Any%3CPet%3E' } } } }, ${fine} } }
components:
  schemas:
    'Any<Pet>':
      oneOf: [{ $ref: '#/components/schemas/a~1b' }, { $ref: './my cat.yaml' }, { $ref: '#/components/schemas/100%' }, { $ref: '#/components/schemas/ä' }]
      discriminator: { propertyName: kind, mapping: { c: './my cat.yaml', percent: '100%' } }
    'a/b': { properties: { kind: { type: string }, id: { type: integer, format: int64 } } }
    a_b: { properties: { next: { $ref: '#/components/schemas/a~1b/properties/id' }, self: { $ref: '#/components/schemas/a_b' } } }
    '100%': { properties: { kind: { type: string } } }
    ä: { properties: { kind: { const: umlaut } } }
`,
    'my cat.yaml': "{ properties: { kind: { type: string }, kitten: { $ref: 'my cat.yaml' } } }\n"
  })
  const { contract } = await readContract(join(folder, 'main.yaml'))
  const { schemas } = contract
  t.strictSame(Object.keys(schemas).sort(), ['100_', 'Any_Pet_', '_', 'a_b2', 'my_cat'])
  const kinds = ['100_', '_', 'a_b2', 'my_cat'].map(name => {
    const { allOf: [tag] } = schemas[name] as { allOf: Array<{ properties: { kind: { enum: string[] } } }> }
    return tag?.properties.kind.enum
  })
  t.strictSame(kinds, [['percent'], ['umlaut'], ['a/b'], ['c']])
})

t.test('a schema may contain itself where TypeScript has no type of it, and parts that name each other take little', async t => {
  const again = "items: { $ref: '#/components/schemas/A' }"
  for (const loop of [again, `not: { type: array, ${again} }`, `if: { required: [y] }, then: { ${again} }`]) {
    await generated(t, `
security: []
paths: { /a: { get: { responses: { '200': { description: fine, content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } } } } } }
components: { schemas: { A: { type: object, properties: { x: {} }, ${loop} } } }
`)
  }
  const names = Array.from({ length: 12 }, (_, index) => `A${index}`)
  const members = names.map(name => `${name}: { $ref: '#/components/schemas/${name}/properties/a' }`)
  const schemas = names.map(name => `${name}: { properties: { a: { type: object, properties: { ${members} } } } }`)
  await generated(t, `
security: []
paths: { /a: { get: { responses: { '200': { description: fine, content: { application/json: { schema: { $ref: '#/components/schemas/A0' } } } } } } } }
components: { schemas: { ${schemas} } }
`)
  t.ok(statSync(join(t.testdirName, 'types.ts')).size < 100_000)
})

t.test('only discriminators follow a schema that gets another name', async t => {
  const { schemas } = await generated(t, `
security: []
paths: { /a: { get: { responses: { '200': { description: fine, content: { application/json: { schema: { $ref: '#/components/schemas/B<X>' } } } } } } } }
components:
  schemas:
    'B<X>':
      type: object
      properties: { mapping: false, k: { const: { mapping: [1], $ref: 2, other: '#/components/schemas/B<X>' } } }
      dependentRequired: { mapping: [k] }
`)
  t.strictSame(schemas['B_X_'], {
    type: 'object',
    properties: { mapping: false, k: { const: { mapping: [1], $ref: 2, other: '#/components/schemas/B<X>' } } },
    dependentRequired: { mapping: ['k'] }
  })
})
