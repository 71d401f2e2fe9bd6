// Overlays that change a contract, and where findings about their changes are.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readContract } from '../../../../../src/contract/generate/read-contract.ts'
import { codeIn } from '../../../../fixtures/documents.ts'

const fine = "responses: { '204': { description: fine } }"
const contract = `openapi: 3.1.0
info: { title: Old, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: / }]
tags: [{ name: a, description: A }, { name: b, description: B }, { name: c, description: C }]
x-list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
x-texts: { "it's": 1, 'say "hi"\\': 2, 'a/b~c': 3 }
paths:
  /a: { get: { parameters: [{ name: p, in: query, schema: { type: string } }], ${fine} } }
  /b*: { get: { ${fine} } }
`

interface Action { target: string, update?: unknown, remove?: boolean }

/** The first action is in line 4. */
const overlayOf = (actions: object[]) => `overlay: 1.0.0
info: { title: Changes, version: 1.0.0 }
actions:
${actions.map(action => `  - ${JSON.stringify(action)}\n`).join('')}`

/** Reads the contract with overlays of these actions. */
async function read (t: Test, ...overlays: object[][]) {
  const texts = overlays.map((actions, index) => [`overlay${index}.yaml`, overlayOf(actions)])
  const folder = t.testdir({ 'openapi.yaml': contract, ...Object.fromEntries(texts) })
  const paths = texts.map(([name = '']) => join(folder, name))
  return readContract(join(folder, 'openapi.yaml'), { overlays: paths })
}

/** The findings about the contract with this overlay, without the folder. */
async function findings (t: Test, ...actions: object[]): Promise<string[]> {
  const error = await read(t, actions).then(() => t.fail('is read'), error => error)
  return error.findings.map((finding: string) => finding.replace(/^\S*fixtures\/[^/]*\//, '')).sort()
}

const key = { type: 'apiKey', in: 'header', name: 'X-Key' }
const secure: Action = { target: '$', update: { security: [{ key: [] }], components: { securitySchemes: { key } } } }
const withoutB: Action = { target: "$.paths['/b*']", remove: true }
const mended = [secure, withoutB]
const parameters = "$.paths['/a'].get.parameters"
const wrong = { name: 'q', in: 'query', schema: { type: 'strin' } }

t.test('overlays add, merge, replace and remove parts, one action after another', async t => {
  const { document, contract: { operations }, files, warnings } = await read(t, [
    ...mended,
    { target: '$.info', update: { title: 'New', contact: { name: 'Me' } } },
    { target: "$.tags[?@.name == 'a' || @.name == 'c']", remove: true },
    { target: '$.tags', update: { name: 'd', description: 'D' } },
    { target: '$', update: { tags: [{ name: 'e', description: 'E' }, { name: 'f', description: 'F' }] } },
    { target: "$['x-list'][?@ > 0 && @ < 11]", remove: true },
    { target: "$['x-list']", update: [12, 13] }
  ], [
    { target: '$..["it\'s","say \\"hi\\"\\\\"]', remove: true },
    { target: '$.paths.*.get.parameters[0]', update: { schema: { type: ['string', 'null'] } } },
    { target: "$.paths['/a']", update: { get: { summary: 'Reads' } } }
  ])
  t.match(document, {
    info: { title: 'New', version: '1.0.0', contact: { name: 'Me' } },
    paths: { '/a': { get: { summary: 'Reads', parameters: [{ name: 'p', schema: { type: ['string', 'null'] } }] } } }
  })
  t.strictSame(document.tags?.map(({ name }) => name), ['b', 'd', 'e', 'f'])
  const { 'x-list': list, 'x-texts': texts } = document as unknown as Record<string, unknown>
  t.strictSame([list, texts], [[0, 11, 12, 13], { 'a/b~c': 3 }])
  t.strictSame(Object.keys(operations), ['getA'])
  t.strictSame(new Set(files.map(file => file.replace(/^.*\//, ''))), new Set(['openapi.yaml', 'overlay0.yaml', 'overlay1.yaml']))
  t.strictSame(warnings.filter(line => /target/.test(line)), [])
})

t.test('an overlay may add a member __proto__ to an example', async t => {
  const content = { 'application/json': { schema: { type: 'object' }, example: { a: 1 } } }
  const responses = { 200: { description: 'fine', content } }
  const { document } = await read(t, [...mended, { target: "$.paths['/a'].get", update: { responses } }], [
    { target: '$.paths.*.get.responses.*.content.*.example', update: JSON.parse('{"__proto__":2}') }
  ])
  t.match(JSON.stringify(document), '"example":{"a":1,"__proto__":2}')
})

t.test('a fault has its place in the file that it comes from', async t => {
  const at = (file: string, line: number, pointer: string, sentence = '`type` can be one of') => {
    return new RegExp(`^${file}:${line}:\\d+ ${RegExp.escape(`${pointer} ${sentence}`)}`)
  }
  const inOverlay = (line: number, pointer: string, sentence?: string) => at('overlay0.yaml', line, `#/actions/${pointer}`, sentence)
  const check = async (actions: Action[], ...wanted: RegExp[]) => t.match(await findings(t, ...actions), wanted)

  await check([secure], at('openapi.yaml', 9, '#/paths/~1b*', 'Not supported: a path'))
  await check([...mended, { target: "$.paths['/a'].get", update: { parameters: [wrong] } }], inOverlay(6, '2/update/parameters/0/schema/type'))
  const added = { target: parameters, update: wrong }
  await check([...mended, added], inOverlay(6, '2/update/schema/type'))
  const removed = (index: number) => ({ target: `${parameters}[${index}]`, remove: true })
  const other = { name: 'r', in: 'query', schema: {} }
  // Items move up, also those that overlays added or changed.
  await check([...mended, { target: parameters, update: [other, wrong] }, removed(0), removed(0)], inOverlay(6, '2/update/1/schema/type'))
  const changed = { target: `${parameters}[1]`, update: { in: 'nowhere', schema: { uniqueItems: 5 } } }
  await check(
    [...mended, added, changed, removed(0)],
    inOverlay(6, '2/update/schema/type'),
    inOverlay(7, '3/update/in', '`in` can be one of'),
    inOverlay(7, '3/update/schema/uniqueItems', 'Expected type')
  )
  await check(
    [...mended, { target: `${parameters}[0].schema`, update: { type: 'strin' } }, removed(0), { target: parameters, update: { ...other, in: 1 } }],
    inOverlay(8, '4/update/in', '`in` can be one of')
  )
  const schema = (value: unknown) => ({ target: `${parameters}[0]`, update: { schema: value } })
  await check([...mended, schema({ type: 'strin' }), schema(1), schema({ type: 'strin' })], inOverlay(8, '4/update/schema/type'))
  await check([...mended, { target: '$', update: { openapi: '2.0.0' } }], inOverlay(6, '2/update/openapi', 'Not supported: an OpenAPI version'))
})

t.test('the overlay of the README changes a contract that has its targets', async t => {
  const readme = codeIn(readFileSync('src/contract/README.md', 'utf8'))
  const [overlay] = readme.filter(({ text }) => text.startsWith('overlay:'))
  const folder = t.testdir({
    'overlay.yaml': overlay?.text ?? '',
    'openapi.yaml': `openapi: 3.1.0
info: { title: Shop, version: 1.0.0 }
paths:
  /orders: { get: { responses: { '200': { description: fine, content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } } } } } }
  /admin: { get: { ${fine} } }
components: { schemas: { Order: { type: object, properties: { id: { type: integer } } } } }
`
  })
  const overlays = [join(folder, 'overlay.yaml')]
  const { contract: { operations, schemas } } = await readContract(join(folder, 'openapi.yaml'), { overlays })
  t.match(operations, { getOrders: { security: [{ key: [] }] } })
  t.match(schemas, { Order: { properties: { id: { format: 'int64' } } } })
  t.strictSame(Object.keys(operations), ['getOrders'])
})

t.test('a target that matches nothing is a warning', async t => {
  const { warnings: [first = ''] } = await read(t, [...mended, { target: '$.none.*', remove: true }])
  t.match(first, /overlay0\.yaml:6:\d+ #\/actions\/2\/target The target matches nothing in \S*openapi\.yaml\. An overlay changes this file, not/)
})

t.test('an overlay that cannot be applied is refused by a sentence at its place', async t => {
  const refused: Array<[action: object, finding: RegExp]> = [
    [{ target: '$.x[' }, /^overlay0\.yaml:4:\d+ #\/actions\/0\/target `\$\.x\[` is no JSONPath of RFC 9535: Expected [^]* In it, \$\['x-a'\] is a name/],
    [{ target: '$', remove: true }, /#\/actions\/0\/target The whole contract cannot be removed\.$/],
    [{ target: '$.info' }, /#\/actions\/0 An action needs `update`, or `remove: true`\.$/],
    [{ target: '$.info', update: 5 }, /#\/actions\/0\/update The target is an object, and `update` must be one, too\.$/],
    [{ target: '$.info.title', update: {} }, /#\/actions\/0\/target The target is no object and no list: select the one around it\.$/],
    [{ target: '$.info', updat: {} }, /#\/actions\/0\/updat Property `updat` is not expected here\. Did you mean update\? \(struct\)$/]
  ]
  for (const [action, finding] of refused) t.match(await findings(t, action), [finding])
  const folder = t.testdir({ 'openapi.yaml': contract, 'none.yaml': '', 'new.yaml': 'overlay: 1.1.0', 'bad.yaml': '[' })
  const files: Record<string, RegExp> = {
    'new.yaml': /new\.yaml:1:10 #\/overlay This is no overlay of version 1\.0: begin it with `overlay: 1\.0\.0`\.$/,
    'none.yaml': /none\.yaml:1:1 #\/overlay This is no overlay of version 1\.0/,
    'bad.yaml': /bad\.yaml:\d+:\d+ \S/,
    'missing.yaml': /missing\.yaml: ENOENT/
  }
  for (const [name, message] of Object.entries(files)) {
    await t.rejects(readContract(join(folder, 'openapi.yaml'), { overlays: [join(folder, name)] }), message)
  }
})
