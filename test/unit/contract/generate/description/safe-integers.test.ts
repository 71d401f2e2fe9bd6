// The option `int64: 'number'` of the generator: types, checks and the document of /docs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { generate, readContract } from '../../../../../src/contract/generate/index.ts'
import {
  contractText, jsonBody, jsonResponse, parameter, ref, serveLoaded, type Untyped
} from '../../../../fixtures/contract.ts'

const int64 = '{ type: integer, format: int64 }'
const text = contractText({
  openapi: '3.0.3',
  root: 'security: []\nservers: [{ url: https://example.com }]',
  paths: `
  /items/{id}:
    post:
      operationId: item
      parameters:
        - ${parameter('id', 'path', ref('Id'))}
        - ${parameter('since', 'query', '{ type: integer, format: int64, default: 7 }')}
      ${jsonBody(ref('Item'))}
      ${jsonResponse(ref('Item'))}`,
  components: `
  schemas:
    Id: ${int64}
    Item:
      type: object
      properties:
        plain: ${ref('Id')}
        list: { type: array, items: ${int64} }
        nullable: { type: integer, format: int64, nullable: true }
        whole: { type: number, format: int64, minimum: -9223372036854775808, maximum: 9223372036854775807 }
        bounded: { type: integer, format: int64, minimum: 5, maximum: 10, exclusiveMaximum: true }
        step: { type: integer, format: int64, multipleOf: 5 }
        chosen: { type: integer, format: int64, enum: [1, 2] }
        any: { oneOf: [${int64}, { type: boolean }] }
        text: { type: string, format: int64 }
        other: { type: integer, format: int32 }`
})

async function read (t: Test, options: Parameters<typeof readContract>[1] = { int64: 'number' }) {
  const file = join(t.testdir({ 'openapi.yaml': text }), 'openapi.yaml')
  return readContract(file, { allowOpen: true, ...options })
}

async function serve (t: Test, item: (request: Untyped) => Untyped) {
  const { contract } = await read(t)
  const { app } = await serveLoaded(t, contract, { handlers: { item } })
  return async (path: string, payload: string) => {
    const headers = { 'content-type': 'application/json' }
    const { statusCode, body } = await app.inject({ method: 'POST', url: `/items/${path}`, headers, payload })
    return { status: statusCode, body }
  }
}

t.test('parameters, defaults and members of bodies are numbers', async t => {
  const seen: Untyped[] = []
  const send = await serve(t, ({ path, query, body }) => {
    seen.push({ path, query, body })
    return { status: 200, body }
  })
  const item = '{"plain":9007199254740991,"list":[-9007199254740991],"nullable":null,"whole":2,"any":3,"text":"9"}'
  t.strictSame(await send('5', item), { status: 200, body: item })
  t.strictSame(seen, [{
    path: { id: 5 },
    query: { since: 7 },
    body: { plain: Number.MAX_SAFE_INTEGER, list: [Number.MIN_SAFE_INTEGER], nullable: null, whole: 2, any: 3, text: '9' }
  }])
})

t.test('a request with a number beyond the safe range is refused', async t => {
  const send = await serve(t, ({ body }) => ({ status: 200, body }))
  const above = 'must be at most 9007199254740991'
  t.match(await send('9007199254740992', '{}'), { status: 400, body: above })
  t.match(await send('1?since=-9007199254740992', '{}'), { status: 400, body: 'must be at least -9007199254740991' })
  const refused: Array<[member: string, problem: string]> = [
    ['"plain":9007199254740993', above],
    ['"plain":9223372036854775807', above],
    ['"plain":1.5', 'integer'],
    ['"plain":null', 'integer'],
    ['"list":[1,-9007199254740992]', 'must be at least -9007199254740991'],
    ['"nullable":9007199254740992', above],
    ['"whole":9007199254740992', above],
    ['"whole":1.5', 'integer'],
    ['"bounded":4', 'must be at least 5'],
    ['"bounded":10', 'must be less than 10'],
    ['"step":9', 'must be a multiple of 5'],
    ['"chosen":3', 'must be one of 1, 2'],
    ['"any":9007199254740992', above]
  ]
  for (const [member, problem] of refused) {
    t.match(await send('1', `{${member}}`), { status: 400, body: problem }, member)
  }
  t.match(await send('1', '{"bounded":9,"chosen":2,"step":10,"other":1}'), { status: 200 })
})

t.test('an answer with a number beyond the safe range, or with a bigint, is a fault', async t => {
  let plain: unknown
  const send = await serve(t, () => ({ status: 200, body: { plain } }))
  for (plain of [Number.MAX_SAFE_INTEGER + 1, 1n]) t.match(await send('1', '{}'), { status: 500 }, String(plain))
  plain = 1
  t.strictSame(await send('1', '{}'), { status: 200, body: '{"plain":1}' })
})

t.test('the document that people read stays as it is', async t => {
  t.strictSame((await read(t)).document, (await read(t, {})).document)
})

t.test('the types are numbers', async t => {
  const folder = t.testdir({ 'openapi.yaml': text })
  const out = join(folder, 'generated')
  t.capture(console, 'log')
  t.capture(console, 'warn')
  const options = { contract: join(folder, 'openapi.yaml'), out, command: 'generate', check: false, allowOpen: true }
  t.ok(await generate({ ...options, int64: 'number' }))
  const types = readFileSync(join(out, 'types.ts'), 'utf8')
  t.notMatch(types, /bigint/)
  for (const line of ['Id: number;', 'list?: number[];', 'nullable?: number | null;', 'whole?: number;',
    'chosen?: 1 | 2;', 'any?: number | boolean;', 'text?: string;', 'since: number;']) {
    t.ok(types.includes(line), line)
  }
  t.ok(await generate({ ...options, int64: 'bigint' }))
  t.match(readFileSync(join(out, 'types.ts'), 'utf8'), /Id: bigint;/)
})

t.test('a default beyond the safe range is refused', async t => {
  const broken = text.replace('default: 7', 'default: 9223372036854775807')
  const file = join(t.testdir({ 'openapi.yaml': broken }), 'openapi.yaml')
  const refused = readContract(file, { allowOpen: true, int64: 'number' })
  await t.rejects(refused, { message: /the default of "since" is beyond 2\^53/ })
})
