// Generates another contract, compiles a program for it, serves it and sends requests. Programs that break the contract
// must not compile.
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Contract } from '../../../../src/contract/index.ts'
import { serveLoaded } from '../../../fixtures/contract.ts'

const run = promisify(execFile)

/** A program that meets the contract. */
const program = `
import type {
  Answer, BasicCredentials, Handler, Handlers, Verdict, Verifier, Verifiers
} from '${resolve('src/contract/index.ts')}'
import * as contract from './generated/operations.ts'
import type { components, operations, webhooks } from './generated/types.ts'

const readOrder: Handler<operations, 'readOrder'> = (
  { path, query, header, cookie, principals }
): Answer<operations, 'readOrder'> => {
  const id: bigint = path.orderId
  const headers = { 'X-Left': query.limit }
  const fields: string[] | undefined = query.fields
  const theme: 'dark' | 'light' | undefined = cookie.theme
  if (header['X-Trace'] === 'lost') return { status: 404, body: { title: 'There is no such order.' } }
  if (header['X-Trace'] === 'broken') return { status: 500 }
  if (header['X-Trace'] === 'bare') return { status: 200, headers: { 'X-Left': 0 }, body: { id: 1n, total: null } }
  const note = [principals.user?.name, fields, theme].join()
  return {
    status: 200,
    headers,
    body: { id, total: null, parts: [{ id: 2n, total: 1n }], payment: { kind: 'cash', note } }
  }
}

const deleteOrder: Handler<operations, 'deleteOrder'> = async (): Promise<Answer<operations, 'deleteOrder'>> => {
  return { status: 204 }
}

const createOrder: Handler<operations, 'createOrder'> = (
  { body: { total, secret, parts } }
): Answer<operations, 'createOrder'> => {
  const body = { id: 9007199254740993n, total, parts: parts?.map(part => ({ id: 1n, total: part.total })) ?? [] }
  if (secret === 'x') return { status: 201, body }
  return { status: 200, body: { id: 1n, total } }
}

const changeOrders: Handler<operations, 'changeOrders'> = ({ body }): Answer<operations, 'changeOrders'> => {
  if (body?.kind === 'card') return { status: 200, body: { kind: 'card', number: body.number + 1n } }
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

/** Webhooks and callbacks have types but no handlers. */
export type Sent = webhooks['orderCreated']['post']['requestBody'] & components['schemas']['Order']
export const sent: NonNullable<webhooks['orderCreated']['post']['requestBody']>['content']['application/xml'] = 1n
`

/**
 * Each change of the program is a mistake that the compiler must report at its line, with this text and in at most 400
 * characters. The line is the one with `at`, or with the first line of the replacement.
 */
const mistakes: Record<string, [from: string, to: string, report: RegExp, at?: string]> = {
  'a missing handler': ['  deleteOrder,\n', '', /'deleteOrder' is missing/, 'export const handlers'],
  'an extra handler': ['  deleteOrder,', '  deleteOrder, orderCreated: deleteOrder,', /'orderCreated' does not exist/],
  'a missing verifier': ['  key: verifyKey,\n', '', /'"key"' is missing/, 'export const verifiers'],
  'an extra verifier': ['  key: verifyKey,', '  key: verifyKey, other: verifyKey,', /'other' does not exist/],
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
  'a status outside the range': ['{ status: 201, body }', '{ status: 304, body }', /'304' is not assignable/],
  'a body with a bodiless status': ['{ status: 201, body }', '{ status: 204, body }', /'204' is not assignable/],
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
    /the contract declares none/
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
    /'string' is not assignable to type 'Undeclared'/
  ],
  'a missing body in one of several responses': [
    ', body: { id: 1n, total: null } }',
    ' }',
    /'body' is missing .* 'WithBodyAndHeaders<operations, "readOrder", 200>'/,
    "=== 'bare'"
  ],
  'an extra body in one of several responses': [
    'return { status: 500 }',
    'return { status: 500, body: { id } }',
    /'Undeclared'/
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
    "=== 'bare'"
  ],
  'a header field of another type': [
    "'X-Left': 0 }",
    "'X-Left': 'many' }",
    /'string' is not assignable to type 'number'/
  ],
  'an undeclared header field': ["'X-Left': 0 }", "'X-Left': 0, 'X-Other': 'x' }", /'X-Other'/],
  'header fields where the contract declares none': [
    '{ status: 201, body }',
    "{ status: 201, headers: { 'X-Other': 'x' }, body }",
    /'X-Other'/
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
    'async (): Promise',
    'async ({ query: { limit } }): Promise',
    /'query' does not exist/
  ],
  'a readOnly member of a request body': [
    '{ body: { total, secret, parts } }',
    '{ body: { id, total, secret, parts } }',
    /'id' does not exist/
  ],
  'an optional body without a check': ['body?.kind', 'body.kind', /possibly 'undefined'/],
  'an optional principal without a check': ['principals.user?.name', 'principals.user.name', /possibly 'undefined'/],
  'an unknown verdict': ["'forbidden' :", "'denied' :", /'"denied"' is not assignable to type 'Verdict'/]
}

t.test('a program that meets a contract compiles and serves it, and each mistake is reported at its line', async t => {
  const files = Object.fromEntries(Object.entries(mistakes).map(([name, [from, to]], index) => {
    t.equal(program.split(from).length, 2, `${name}: the program has the text to change once`)
    return [`mistake-${index}.ts`, program.replace(from, to)]
  }))
  const config = JSON.stringify({ extends: resolve('tsconfig.json'), include: ['*.ts', 'generated'] })
  const folder = t.testdir({ ...files, 'program.ts': program, 'tsconfig.json': config })
  const generated = join(folder, 'generated')
  const orders = 'test/fixtures/contracts/orders.yaml'
  await run(process.execPath, ['scripts/generate.ts', '--contract', orders, '--out', generated])
  const tsc = [resolve('node_modules/typescript/bin/tsc'), '--pretty', 'false', '--noUnusedLocals', 'false']
  const { stdout } = await run(process.execPath, tsc, { cwd: folder }).catch(error => error as { stdout: string })

  const reports = Map.groupBy(stdout.trimEnd().split(/\n(?=\S)/), report => report.split('(', 1)[0])
  t.strictSame(reports.get('program.ts'), undefined, 'the program compiles')
  Object.entries(mistakes).forEach(([name, [from, to, report, at = to.split('\n', 1)[0]]], index) => {
    const [first = '', ...others] = reports.get(`mistake-${index}.ts`) ?? []
    const line = program.replace(from, to).split('\n').findIndex(line => line.includes(at as string)) + 1
    t.match(first, report, name)
    t.equal(Number(/\((\d+),/.exec(first)?.[1]), line, `${name}: the line`)
    t.ok([first, ...others].join('\n').length <= 400, `${name}: at most 400 characters`, { first, others })
  })

  const { handlers, verifiers } = await import(join(folder, 'program.ts'))
  const contract: Contract = await import(join(folder, 'generated/operations.ts'))
  const { app } = await serveLoaded(t, contract, { handlers, verifiers })
  type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
  const send = async (method: Method, url: string, headers: Record<string, string>, payload?: string) => {
    const response = await app.inject({ method, url, headers, ...payload !== undefined && { payload } })
    return [response.statusCode, response.headers['content-type']?.split(';')[0], response.body]
  }

  const user = { authorization: 'Bearer me', 'x-trace': 'x' }
  const url = '/v1/orders/9007199254740993?fields=a,b'
  const read = await app.inject({ url, headers: { ...user, cookie: 'theme=dark' } })
  const payment = '{"kind":"cash","note":"me orders,a,b,dark"}'
  t.equal(read.body, `{"id":9007199254740993,"total":null,"parts":[{"id":2,"total":1}],"payment":${payment}}`)
  t.equal(read.headers['x-left'], '20')
  const get = (headers: Record<string, string>) => send('GET', '/v1/orders/1', headers)
  const notFound = [404, 'application/problem+json', '{"title":"There is no such order."}']
  t.strictSame(await get({ ...user, 'x-trace': 'lost' }), notFound)
  t.strictSame(await get({ ...user, 'x-trace': 'broken' }), [500, undefined, ''])
  const unknownTheme = /must be one of \\"dark\\", \\"light\\"/
  t.match(await get({ ...user, cookie: 'theme=green' }), [400, 'application/json', unknownTheme])
  t.match(await get({ authorization: 'Bearer weak', 'x-trace': 'x' }), [403])
  t.match(await get({ 'x-key': 'k' }), [400, 'application/json', /X-Trace/])

  t.strictSame(await send('DELETE', '/v1/orders/1', {}), [204, undefined, ''])

  const staff = { authorization: `Basic ${btoa('a:a')}`, 'content-type': 'application/vnd.shop+json' }
  const post = (payload: string) => send('POST', '/v1/orders', staff, payload)
  const order = '{"total":9223372036854775807,"secret":"x","parts":[{"total":null,"secret":""}]}'
  const created = '{"id":9007199254740993,"total":9223372036854775807,"parts":[{"id":1,"total":null}]}'
  t.strictSame(await post(order), [201, 'application/hal+json', created])
  const readOnlyId = /\\"id\\" in the body must not be sent/
  t.match(await post('{"id":1,"total":1,"secret":"x"}'), [400, 'application/json', readOnlyId])

  const mergePatch = { ...user, 'content-type': 'application/merge-patch+json' }
  const patch = (payload: string) => send('PATCH', '/v1/orders', mergePatch, payload)
  const changed = '{"kind":"card","number":9007199254740993}'
  t.strictSame(await patch('{"kind":"card","number":9007199254740992}'), [200, 'application/json', changed])
  t.strictSame(await send('PATCH', '/v1/orders', user), [200, 'application/json', '{"kind":"cash"}'])
  const unknownKind = /must be one of \\"card\\", \\"cash\\"/
  t.match(await patch('{"kind":"coin"}'), [400, 'application/json', unknownKind])
})
