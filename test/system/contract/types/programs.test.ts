// Generates another contract, compiles a program for it, serves it and sends requests. Programs
// that break the contract must not compile.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import type { Contract } from '../../../../src/contract/index.ts'
import {
  checkMistakes, compilePrograms, type Mistake, withMistakes
} from '../../../fixtures/compiler.ts'
import { serveLoaded } from '../../../fixtures/contract.ts'

/** A program that meets the contract. */
const program = `
import type {
  Answer, BasicCredentials, Handler, Handlers, ResponseValue, Verdict, Verifier, Verifiers
} from '${resolve('src/contract/index.ts')}'
import type { Request, Schema } from './generated/index.ts'
import * as contract from './generated/operations.ts'
import type { components, operations, webhooks } from './generated/types.ts'

export const empty: ResponseValue<Record<string, never>> = {}

const readOrder: Handler<operations, 'readOrder'> = (
  { path, query, header, cookie, principals }
): Answer<operations, 'readOrder'> => {
  const id: bigint = path.orderId
  const headers = { 'X-Left': query.limit }
  const fields: string[] | undefined = query.fields
  const theme: 'dark' | 'light' | undefined = cookie.theme
  if (header['X-Trace'] === 'lost') {
    return { status: 404, body: { title: 'There is no such order.' } }
  }
  if (header['X-Trace'] === 'broken') return { status: 500 }
  if (header['X-Trace'] === 'bare') {
    return { status: 200, headers: { 'X-Left': 0 }, body: { id: 1n, total: null } }
  }
  const note = [principals.user?.name, fields, theme].join()
  return {
    status: 200,
    headers,
    body: { id, total: null, parts: [{ id: 2n, total: 1n }], payment: { kind: 'cash', note } }
  }
}

const deleteOrder: Handler<operations, 'deleteOrder'> = async (
): Promise<Answer<operations, 'deleteOrder'>> => {
  return { status: 204 }
}

const createOrder: Handler<operations, 'createOrder'> = (
  { body: { total, secret, parts } }
): Answer<operations, 'createOrder'> => {
  const totals = parts?.map(part => ({ id: 1n, total: part.total })) ?? []
  const body: Schema<'Order'> = { id: 9007199254740993n, total, parts: totals }
  if (secret === 'x') return { status: 201, body }
  return { status: 200, body: { id: 1n, total } }
}

const changeOrders: Handler<operations, 'changeOrders'> = (
  { body }
): Answer<operations, 'changeOrders'> => {
  if (body?.kind === 'card') {
    return { status: 200, body: { kind: 'card', number: body.number + 1n } }
  }
  return { status: 200, body: { kind: 'cash' } }
}

export const handlers: Handlers<operations, keyof typeof contract.operations> = {
  readOrder,
  deleteOrder,
  createOrder,
  changeOrders
}

const verifyUser: Verifier<string> = async (token, scopes): Promise<Verdict> => {
  return token === 'weak' ? 'forbidden' : { name: [token, ...scopes].join(' ') }
}

const verifyKey: Verifier<string> = key => key === 'k' ? { name: 'machine' } : undefined

const verifyStaff: Verifier<BasicCredentials> = ({ username, password }): Verdict => {
  return username === password ? { name: username } : undefined
}

export const verifiers: Verifiers<typeof contract.securitySchemes> = {
  user: verifyUser,
  key: verifyKey,
  staff: verifyStaff
}

/** Callers have the names of the contract's schemes. */
export const nameOf = ({ principals }: Request<'readOrder'>): string | undefined => {
  return principals.user?.name
}

/** Webhooks have types but no handlers. */
type Notice = NonNullable<webhooks['orderCreated']['post']['requestBody']>
export type NoticeOfOrder = Notice & components['schemas']['Order']
export const notice: Notice['content']['application/xml'] = 1n
`

const mistakes: Record<string, Mistake> = {
  'a missing handler': [
    '  deleteOrder,\n',
    '',
    /'deleteOrder' is missing/,
    'export const handlers'
  ],
  'an extra handler': [
    '  deleteOrder,',
    '  deleteOrder, orderCreated: deleteOrder,',
    /'orderCreated' does not exist/
  ],
  'the handler of another operation': [
    '  readOrder,\n',
    '  readOrder: createOrder,\n',
    /Type '"createOrder"' is not assignable to type '"readOrder"'/
  ],
  'the handler of another operation with the same path': [
    '  deleteOrder,\n',
    '  deleteOrder: readOrder,\n',
    /Type '"readOrder"' is not assignable to type '"deleteOrder"'/
  ],
  'a missing verifier': ['  key: verifyKey,\n', '', /'"key"' is missing/, 'export const verifiers'],
  'an extra verifier': [
    '  key: verifyKey,',
    '  key: verifyKey, other: verifyKey,',
    /'other' does not exist/
  ],
  'a caller of an unknown scheme': [
    'return principals.user?.name',
    'return principals.usr?.name',
    /'usr' does not exist/
  ],
  'a verifier for another kind of credentials': [
    '  staff: verifyStaff',
    '  staff: verifyKey',
    /'BasicCredentials' is not assignable to type 'string'/
  ],
  'an undeclared status': [
    "status: 404, body: { title: 'There is no such order.' }",
    "status: 199, body: { title: 'x' }",
    /'199' is not assignable/
  ],
  'a status outside the range': [
    '{ status: 201, body }',
    '{ status: 304, body }',
    /'304' is not assignable/
  ],
  'an undeclared status with the body of another': [
    "{ status: 200, body: { kind: 'cash' } }",
    "{ status: 404, body: { title: 'x' }, headers: {} }",
    /Type '404' is not assignable to type '200 \| DeclaredStatus<"changeOrders", 200>'\.$/
  ],
  'a body with a bodiless status': [
    '{ status: 201, body }',
    '{ status: 204, body }',
    /'204' is not assignable/
  ],
  'the body of another status': [
    "{ title: 'There is no such order.' }",
    '{ id: 1n, total: null }',
    /'id' does not exist/
  ],
  'a declared status in the shape of the default': [
    'return { status: 500 }',
    'return { status: 200 }',
    /"readOrder", 200>': headers, body/
  ],
  'a body where the contract declares none': [
    'return { status: 204 }',
    'return { status: 204, body: {} }',
    /'the contract declares no body''.* 'NoBodyDeclared<"deleteOrder", 204>'/
  ],
  'a missing member': ['body: { id: 1n, total: null }', 'body: { total: null }', /'id' is missing/],
  'a member of another type': [
    'body: { id: 1n, total: null }',
    'body: { id: 1, total: null }',
    /'number' is not assignable to type 'bigint'/
  ],
  'an extra member': [
    'body: { id: 1n, total: null }',
    "body: { id: 1n, total: null, colour: 'red' }",
    /'colour' does not exist/
  ],
  'a writeOnly member': [
    'body: { id: 1n, total } }',
    'body: { id: 1n, total, secret } }',
    /'string' is not assignable to type 'WriteOnly<"secret">'/
  ],
  'a member of an object that has none': [
    'never>> = {}',
    'never>> = { a: 1 }',
    /'number' is not assignable to type 'never'/
  ],
  'a missing body in one of several responses': [
    ', body: { id: 1n, total: null } }',
    ' }',
    /'body' is missing .* 'WithBodyAndHeaders<operations, "readOrder", 200>'/,
    "return { status: 200, headers: { 'X-Left': 0 }"
  ],
  'an extra body in one of several responses': [
    'return { status: 500 }',
    'return { status: 500, body: { id } }',
    /'id' does not exist in type 'NoBodyDeclared<"readOrder", "default">'/
  ],
  'an unknown discriminator value': [
    "body: { kind: 'cash' } }",
    "body: { kind: 'coin' } }",
    /'"coin"' is not assignable/
  ],
  'a missing header field': [
    "headers: { 'X-Left': 0 }, ",
    '',
    /'headers' is missing .* 'WithBodyAndHeaders<operations, "readOrder", 200>'/,
    'return { status: 200, body: { id: 1n, total: null }'
  ],
  'a header field of another type': [
    "'X-Left': 0 }",
    "'X-Left': 'many' }",
    /'string' is not assignable to type 'number'/
  ],
  'an undeclared header field': [
    "'X-Left': 0 }",
    "'X-Left': 0, 'X-Other': 'x' }",
    /'X-Other'/
  ],
  'header fields where the contract declares none': [
    '{ status: 201, body }',
    "{ status: 201, headers: { 'X-Other': 'x' }, body }",
    /'X-Other'' does not exist in type 'NoHeadersDeclared<"createOrder", "2XX">'/
  ],
  'an undeclared parameter': ['query.fields', 'query.field', /'field' does not exist/],
  'an ignored header parameter': [
    "header['X-Trace'] === 'lost'",
    "header.Accept === 'lost'",
    /'Accept' does not exist/
  ],
  'a parameter of another type': [
    'const id: bigint',
    'const id: number',
    /'bigint' is not assignable to type 'number'/
  ],
  'a place without parameters': [
    'async (\n',
    'async ({ query: { limit } }\n',
    /'query' does not exist/
  ],
  'a readOnly member of a request body': [
    '{ body: { total, secret, parts } }',
    '{ body: { id, total, secret, parts } }',
    /'id' does not exist/
  ],
  'a writeOnly member of a schema': [
    "Schema<'Order'> = { id",
    "Schema<'Order'> = { secret: 'x', id",
    /'string' is not assignable to type 'WriteOnly<"secret">'/
  ],
  'an optional body without a check': ['body?.kind', 'body.kind', /possibly 'undefined'/],
  'an optional principal without a check': [
    '[principals.user?.name',
    '[principals.user.name',
    /possibly 'undefined'/
  ],
  'an unknown verdict': [
    "'forbidden' :",
    "'denied' :",
    /'"denied"' is not assignable to type 'Verdict'/
  ]
}

/** These change the type of a value, so that the compiler also reports what uses it. */
const withConsequences = new Set([
  'a parameter of another type',
  'a place without parameters',
  'a readOnly member of a request body',
  'an optional body without a check'
])

t.test('a program that meets a contract compiles and serves it, and mistakes do not', async t => {
  const orders = readFileSync('test/fixtures/contracts/orders.yaml', 'utf8')
  const programs = withMistakes(t, program, mistakes)
  const { folder, messages } = await compilePrograms(t, orders, programs)
  checkMistakes(t, program, mistakes, messages)
  Object.keys(mistakes).forEach((name, index) => {
    const found = messages(`mistake-${index}`)
    const { length } = found.join('\n')
    t.ok(length <= 400, `${name}: ${length} characters`, { found })
    if (!withConsequences.has(name)) t.equal(found.length, 1, `${name}: one message`, { found })
  })

  // The last row of the table is about the plant store.
  const guide = readFileSync('docs/build/change-the-contract.md', 'utf8')
  const quoted = guide.matchAll(/^\| (an? .+|the handler .+) \| `(.+)` \|$/gm)
  const rows = Array.from(quoted, ([, , text = '']) => text.replaceAll('\\|', '|')).slice(0, -1)
  const indexes = Object.keys(mistakes).keys()
  const all = [...indexes].map(index => messages(`mistake-${index}`).join())
  t.equal(rows.length, 8)
  for (const row of rows) t.ok(all.some(message => message.includes(row)), row)

  const { handlers, verifiers } = await import(join(folder, 'program.ts'))
  const contract: Contract = await import(join(folder, 'generated/operations.ts'))
  const { app } = await serveLoaded(t, contract, { handlers, verifiers })
  type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
  type Fields = Record<string, string>
  const send = async (method: Method, url: string, headers: Fields, payload = '') => {
    const { statusCode, headers: sent, body } = await app.inject({ method, url, headers, payload })
    return [statusCode, sent['content-type']?.split(';')[0], body]
  }

  const user = { authorization: 'Bearer me', 'x-trace': 'x' }
  const url = '/v1/orders/9007199254740993?fields=a,b'
  const read = await app.inject({ url, headers: { ...user, cookie: 'theme=dark' } })
  const parts = '[{"id":2,"total":1}]'
  const payment = '{"kind":"cash","note":"me orders,a,b,dark"}'
  const order = `{"id":9007199254740993,"total":null,"parts":${parts},"payment":${payment}}`
  t.equal(read.body, order)
  t.equal(read.headers['x-left'], '20')
  const get = (headers: Fields) => send('GET', '/v1/orders/1', headers)
  const notFound = [404, 'application/problem+json', '{"title":"There is no such order."}']
  t.strictSame(await get({ ...user, 'x-trace': 'lost' }), notFound)
  t.strictSame(await get({ ...user, 'x-trace': 'broken' }), [500, undefined, ''])
  const unknownTheme = /must be one of \\"dark\\", \\"light\\"/
  t.match(await get({ ...user, cookie: 'theme=green' }), [400, 'application/problem+json', unknownTheme])
  t.match(await get({ authorization: 'Bearer weak', 'x-trace': 'x' }), [403])
  t.match(await get({ 'x-key': 'k' }), [400, 'application/problem+json', /X-Trace/])

  t.strictSame(await send('DELETE', '/v1/orders/1', {}), [204, undefined, ''])

  const shopType = { 'content-type': 'application/vnd.shop+json' }
  const staff = { ...shopType, authorization: `Basic ${btoa('a:a')}` }
  const post = (payload: string) => send('POST', '/v1/orders', staff, payload)
  const total = '"total":9223372036854775807'
  const sentParts = '[{"total":null,"secret":""}]'
  const created = `{"id":9007199254740993,${total},"parts":[{"id":1,"total":null}]}`
  const sent = `{${total},"secret":"x","parts":${sentParts}}`
  t.strictSame(await post(sent), [201, 'application/hal+json', created])
  const readOnlyId = /\\"id\\" in the body must not be sent/
  t.match(await post('{"id":1,"total":1,"secret":"x"}'), [400, 'application/problem+json', readOnlyId])

  const mergePatch = { ...user, 'content-type': 'application/merge-patch+json' }
  const patch = (payload: string) => send('PATCH', '/v1/orders', mergePatch, payload)
  const changed = '{"kind":"card","number":9007199254740993}'
  const card = '{"kind":"card","number":9007199254740992}'
  t.strictSame(await patch(card), [200, 'application/json', changed])
  const cash = [200, 'application/json', '{"kind":"cash"}']
  t.strictSame(await send('PATCH', '/v1/orders', user), cash)
  const unknownKind = /must be one of \\"card\\", \\"cash\\"/
  t.match(await patch('{"kind":"coin"}'), [400, 'application/problem+json', unknownKind])
})
