// What `types: 'built-in'` emits, beside what openapi-typescript emits of the same contracts.
import { globSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import {
  type Description, listOperations, type Parameter, resolve as resolveNode
} from '../../../../src/contract/generate/description/description.ts'
import { emitBuiltInTypes } from '../../../../src/contract/generate/emit/emit-built-in-types.ts'
import { emitTypes } from '../../../../src/contract/generate/emit/emit-types.ts'
import { generate, readContract } from '../../../../src/contract/generate/index.ts'
import { compile } from '../../../fixtures/compiler.ts'
import { contractText, noContent, ref } from '../../../fixtures/contract.ts'

const config = JSON.stringify({ extends: resolve('tsconfig.json'), include: ['*.ts'] })
const same = `type Same<A, B> = [A] extends [B]
  ? [B] extends [A] ? 'same' : 'narrower'
  : [B] extends [A] ? 'wider' : 'other'
`

/** The types of all schemas, and of all parts of operations, as paths into the generated types. */
function typesOf (document: Description): string[] {
  const names = Object.keys(document.components?.schemas ?? {})
  const types = names.map(name => `components['schemas']['${name}']`)
  for (const { item, operation } of listOperations(document)) {
    const whole = `operations['${operation.operationId}']`
    for (const place of placesOf(document, [...item.parameters ?? [], ...operation.parameters ?? []])) types.push(`${whole}['parameters']['${place}']`)
    types.push(`${whole}['requestBody']`)
    for (const status of Object.keys(operation.responses)) {
      const key = /^\d+$/.test(status) ? status : `'${status}'`
      types.push(`${whole}['responses'][${key}]['headers']`, `${whole}['responses'][${key}]['content']`)
    }
  }
  return types
}

/** The places of parameters, those that an operation lacks among them. */
function placesOf (document: Description, parameters: object[]): Iterable<string> {
  const places = parameters.map(given => String(resolveNode<Parameter>(document, given as Parameter).in))
  const query = places.includes('querystring') ? [] : ['query']
  return new Set([...query, 'header', 'path', 'cookie', ...places])
}

/** Writes both types of a contract, and returns a program that compares them. */
async function comparison (folder: string, name: string, document: Description) {
  writeFileSync(join(folder, `${name}-built-in.ts`), emitBuiltInTypes(document))
  writeFileSync(join(folder, `${name}-other.ts`), await emitTypes(document))
  const types = typesOf(document)
  const lines = types.map((type, index) => `export const c${index}: Same<A.${type}, B.${type}> = 'same'`)
  const imports = `import type * as A from './${name}-built-in.ts'
import type * as B from './${name}-other.ts'
`
  return { types, text: lines.join('\n') + '\n' + imports + same }
}

t.test('both emitters have the same types, but for what openapi-typescript has otherwise', async t => {
  const folder = t.testdir({ 'tsconfig.json': config })
  const compared: Record<string, string[]> = {}
  for (const file of globSync('test/fixtures/contracts/*.yaml')) {
    const name = basename(file, '.yaml')
    const { served } = await readContract(file, { allowOpen: true })
    const { types, text } = await comparison(folder, name, served)
    compared[name] = types
    writeFileSync(join(folder, `${name}.ts`), text)
  }
  t.match(Object.keys(compared).sort(), ['bodies', 'garden', 'library', 'orders', 'plants', 'tree'])
  t.ok(Object.values(compared).flat().length > 200)
  const differences = (await compile(folder)).map(message => {
    const [, name = '', line, relation] = /^(\S+)\.ts\((\d+),.*'"(\w+)"'\.$/.exec(message) ?? []
    return `${relation} ${compared[name]?.[Number(line) - 1] ?? message}`
  })
  // openapi-typescript takes prefixItems for all items.
  t.strictSame(differences, ["wider operations['search']['responses'][200]['content']"])
})

t.test('a part of an allOf requires what other parts describe, at any depth', async t => {
  const member = (name: string, type = 'string') => `properties: { ${name}: { type: ${type} } }`
  const schemas = [
    'Root: { type: object, properties: { id: { type: string }, at: { type: string } } }',
    `Base: { allOf: [${ref('Root')}, { type: object, ${member('n', 'number')} }] }`,
    `Empty: { allOf: [${ref('Root')}, { type: object, required: &id [id] }] }`,
    `Deep: { allOf: [${ref('Base')}, { required: [id, x, n], ${member('x')} }] }`,
    `Deeper: { allOf: [${ref('Deep')}], required: [at], ${member('y')} }`,
    `Other: { allOf: [{ required: *id, ${member('id')} }, { type: object, title: An object }], required: [at], ${member('at')} }`,
    `Outer: { allOf: [{ type: object, required: *id }], ${member('id')} }`,
    `Named: { allOf: [${ref('Root')}, { type: object, description: Named }] }`,
    "Beside: { $ref: '#/components/schemas/Root', required: [id] }",
    `Loop: { allOf: [${ref('Pool')}, { required: [q] }], ${member('p')} }`,
    `Pool: { allOf: [${ref('Root')}], properties: { q: ${ref('Loop')} } }`
  ]
  const folder = t.testdir({
    'tsconfig.json': config,
    'contract.yaml': contractText({
      paths: `  /a: { get: { operationId: a, ${noContent} } }`,
      components: `  schemas:\n    ${schemas.join('\n    ')}`
    })
  })
  const { document } = await readContract(join(folder, 'contract.yaml'))
  const { types, text } = await comparison(folder, 'parts', document)
  t.ok(types.length > schemas.length)
  writeFileSync(join(folder, 'parts.ts'), text)
  t.strictSame(await compile(folder), [])
})

/** Compiles a program that finds `components` and `operations` of a contract with these schemas. */
async function check (t: Test, schemas: Record<string, string>, program: string): Promise<string[]> {
  const lines = Object.entries(schemas).map(([name, schema]) => `    ${name}: ${schema}`)
  const names = Object.keys(schemas)
  const uses = names.map(name => `${name}: { $ref: '#/components/schemas/${name}' }`)
  const contract = contractText({
    paths: `  /a:
    post:
      operationId: send
      parameters: [{ $ref: '#/components/parameters/Page' }, { name: Accept, in: header, schema: {} }]
      requestBody: { content: { application/json: { schema: { properties: { ${uses} } } } } }
      responses:
        '200': { description: fine, headers: { X-Next: { $ref: '#/components/headers/Next' } } }
        default: { description: 'No */ end', content: { text/plain: {} } }
  /b: { put: { operationId: none, requestBody: { content: {} }, responses: { '204': { description: fine } } } }`,
    components: `  parameters: { Page: { name: page, in: query, schema: { type: integer, default: 1 } } }
  headers: { Next: { schema: { type: string } } }
  schemas:\n${lines.join('\n')}`
  })
  const folder = t.testdir({
    'contract.yaml': contract, 'tsconfig.json': config, 'program.ts': program
  })
  const { served } = await readContract(join(folder, 'contract.yaml'))
  writeFileSync(join(folder, 'types.ts'), emitBuiltInTypes(served))
  return await compile(folder)
}

const equal = `import type { components, operations } from './types.ts'
type S = components['schemas']
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
`

t.test('lists that contain themselves have a type, and so have schemas that consist of each other', async t => {
  // readContract() keeps the last two if no operation uses them.
  const [value, json, node, base] = ['Value', 'Json', 'Node', 'Base'].map(name => {
    return { $ref: `#/components/schemas/${name}` }
  })
  const schemas = {
    Value: { oneOf: [{ type: 'string' }, { type: 'array', items: value }] },
    Json: { type: ['string', 'null', 'object', 'array'], items: json, additionalProperties: json },
    Node: { allOf: [base], properties: { next: node } },
    Base: { properties: { id: { type: 'string' } }, allOf: [node] }
  }
  const document = { openapi: '3.1.0', info: { title: '', version: '' }, components: { schemas } }
  const folder = t.testdir({
    'tsconfig.json': config,
    'types.ts': emitBuiltInTypes(document as unknown as Description),
    'program.ts': `import type { components } from './types.ts'
type S = components['schemas']
export const value: S['Value'] = ['a', ['b', [['c']]]]
export const json: S['Json'] = { a: ['b', { c: null }] }
export const node: S['Node'] = { id: 'b', next: { id: 'a' } }
// @ts-expect-error: no number
export const wrong: S['Value'] = ['a', [1]]
// @ts-expect-error: no number
export const wrongId: S['Node'] = { next: { id: 1 } }
`
  })
  t.strictSame(await compile(folder), [])
})

t.test('types are those of the values that are valid', async t => {
  const messages = await check(t, {
    Id: '{ type: integer, format: int64, description: "First\\nsecond */", deprecated: true, default: 1 }',
    Two: '{ $ref: \'#/components/schemas/Id\', enum: [1, 2] }',
    Same: '{ type: integer, allOf: [{ $ref: \'#/components/schemas/Id\' }] }',
    Any: '{ type: object }',
    AnyOrNull: "{ type: [object, 'null'] }",
    None: '{ type: object, additionalProperties: false }',
    No: '{ properties: { x: false } }',
    Constant: '{ const: null }',
    List: '{ type: array, minItems: 1, prefixItems: [{ type: string }, { $ref: \'#/components/schemas/Id\' }], items: false }',
    Open: '{ type: array, prefixItems: [{ type: string }] }',
    Things: '{ type: array }',
    Either: '{ properties: { a: { type: string }, b: { type: number } }, anyOf: [{ required: [a] }, { required: [b] }] }',
    Map: '{ patternProperties: { ^x: { type: string } }, additionalProperties: { type: number } }',
    File: '{ contentMediaType: image/png }',
    Marked: '{ properties: { r: { type: string, readOnly: true }, w: { type: string, writeOnly: true } } }',
    Part: '{ allOf: [{ $ref: \'#/components/schemas/Marked/properties/r\' }] }',
    '1-2': '{ type: [string, boolean] }',
    '1_2': '{ type: string }',
    blob: '{ type: number }'
  }, `${equal}
export const all: {
  [Name in keyof typeof are]: true
} = {} as { [Name in keyof typeof are]: typeof are[Name] }
declare const are: {
  id: Equal<S['Id'], bigint>
  two: Equal<S['Two'], 1n | 2n>
  same: Equal<S['Same'], bigint>
  any: Equal<S['Any'], { [key: string]: unknown }>
  anyOrNull: Equal<S['AnyOrNull'], { [key: string]: unknown } | null>
  none: Equal<S['None'], Record<string, never>>
  no: Equal<S['No'], { x?: never }>
  constant: Equal<S['Constant'], null>
  list: Equal<S['List'], [string, bigint?]>
  open: Equal<S['Open'], [string?, ...unknown[]]>
  things: Equal<S['Things'], unknown[]>
  map: Equal<S['Map'], { [key: string]: string | number }>
  file: Equal<S['File'], Blob>
  marked: Equal<S['Marked'], { r?: { readonly $read: string }, w?: { readonly $write: string } }>
  part: Equal<S['Part'], string>
  names: Equal<[S['1-2'], S['1_2'], S['blob']], [string | boolean, string, number]>
  page: Equal<operations['send']['parameters']['query'], { page: number }>
  header: Equal<operations['send']['parameters']['header'], undefined>
  next: Equal<operations['send']['responses'][200]['headers']['X-Next'], string | undefined>
  body: Equal<operations['none']['requestBody'], { content: { '*/*'?: never } } | undefined>
}
export const either: Array<S['Either']> = [{ a: 'a' }, { b: 1 }, { a: 'a', b: 1 }]
// @ts-expect-error: one of them is required
export const neither: S['Either'] = {}
`)
  t.strictSame(messages, [])
})

t.test('generate() emits them on request', async t => {
  const folder = t.testdir({ 'tsconfig.json': config })
  const options = { contract: 'openapi.yaml', out: folder, command: 'x', check: false }
  t.capture(console, 'log')
  t.equal(await generate({ ...options, types: 'built-in' }), true)
  t.equal(await generate({ ...options, types: 'built-in', check: true }), true)
  t.equal(await generate({ ...options, types: 'openapi-typescript' }), true)
  t.match(await compile(folder), [])
})
