// Another contract, all the way: generated, compiled, registered, asked. And programs that do not fit it, which must not compile.
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Contract } from '../../src/contract/index.ts'
import { serveLoaded } from '../fixtures/contract.ts'

const run = promisify(execFile)

/** A program that fits the contract. */
const program = `
import type { Answer, BasicCredentials, Handler, Handlers, Verdict, Verifier, Verifiers } from '${resolve('src/contract/index.ts')}'
import * as contract from './generated/operations.ts'
import type { components, operations, webhooks } from './generated/types.ts'

const readOrder: Handler<operations, 'readOrder'> = ({ path, query, header, cookie, principals }): Answer<operations, 'readOrder'> => {
  const id: bigint = path.orderId
  const headers = { 'X-Left': query.limit }
  const fields: string[] | undefined = query.fields
  const theme: 'dark' | 'light' | undefined = cookie.theme
  if (header['X-Trace'] === 'lost') return { status: 404, body: { title: 'There is no such order.' } }
  if (header['X-Trace'] === 'broken') return { status: 500 }
  if (header['X-Trace'] === 'bare') return { status: 200, headers: { 'X-Left': 0 }, body: { id: 1n, total: null } }
  const note = [principals.user?.name, fields, theme].join()
  return { status: 200, headers, body: { id, total: null, parts: [{ id: 2n, total: 1n }], payment: { kind: 'cash', note } } }
}

const deleteOrder: Handler<operations, 'deleteOrder'> = async (): Promise<Answer<operations, 'deleteOrder'>> => {
  return { status: 204 }
}

const createOrder: Handler<operations, 'createOrder'> = ({ body: { total, secret, parts } }): Answer<operations, 'createOrder'> => {
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

/** Webhooks and callbacks have types, though no handlers. */
export type Sent = webhooks['orderCreated']['post']['requestBody'] & components['schemas']['Order']
export const sent: NonNullable<webhooks['orderCreated']['post']['requestBody']>['content']['application/xml'] = 1n
`

/** Each change is a mistake that the compiler must report: in at most 400 characters, at its line, with these words. */
const mistakes: Record<string, [from: string, to: string, says: RegExp, at?: string]> = {
  'a missing handler': ['  deleteOrder,\n', '', /'deleteOrder' is missing/, 'export const handlers'],
  'an extra handler': ['  deleteOrder,', '  deleteOrder, orderCreated: deleteOrder,', /'orderCreated' does not exist/],
  'a missing verifier': ['  key: verifyKey,\n', '', /'"key"' is missing/, 'export const verifiers'],
  'an extra verifier': ['  key: verifyKey,', '  key: verifyKey, other: verifyKey,', /'other' does not exist/],
  'a verifier of other credentials': ['  staff: verifyStaff', '  staff: verifyKey', /'BasicCredentials' is not assignable to type 'string'/],
  'an undeclared status': ["status: 404, body: { title: 'There is no such order.' }", "status: 199, body: { title: 'x' }", /'199' is not assignable/],
  'a status that is not in the range': ['{ status: 201, body }', '{ status: 304, body }', /'304' is not assignable/],
  'a status without a body': ['{ status: 201, body }', '{ status: 204, body }', /'204' is not assignable/],
  'a body of another status': ["{ title: 'There is no such order.' }", '{ id: 1n, total: null }', /'id' does not exist/],
  'the default for a status of its own': ['return { status: 500 }', 'return { status: 200 }', /"readOrder", 200>': headers, body/],
  'a body where there is none': ['return { status: 204 }', 'return { status: 204, body: {} }', /the contract declares none/],
  'a member that is missing': ['body: { id: 1n, total: null }', 'body: { total: null }', /'id' is missing/],
  'a member of another type': ['body: { id: 1n, total: null }', 'body: { id: 1, total: null }', /'number' is not assignable to type 'bigint'/],
  'a member too many': ['body: { id: 1n, total: null }', "body: { id: 1n, total: null, colour: 'red' }", /'colour' does not exist/],
  'a member that is writeOnly': ['body: { id: 1n, total } }', 'body: { id: 1n, total, secret } }', /'string' is not assignable to type 'Undeclared'/],
  'an answer of several without its body': [', body: { id: 1n, total: null } }', ' }', /'body' is missing .* 'WithBodyAndHeaders<operations, "readOrder", 200>'/, "=== 'bare'"],
  'an answer of several with a body too many': ['return { status: 500 }', 'return { status: 500, body: { id } }', /'Undeclared'/],
  'a value that no discriminator has': ["body: { kind: 'cash' } }", "body: { kind: 'coin' } }", /'"coin"' is not assignable/],
  'a header field that is missing': ["headers: { 'X-Left': 0 }, ", '', /'headers' is missing .* 'WithBodyAndHeaders<operations, "readOrder", 200>'/, "=== 'bare'"],
  'a header field of another type': ["'X-Left': 0 }", "'X-Left': 'many' }", /'string' is not assignable to type 'number'/],
  'a header field that is not declared': ["'X-Left': 0 }", "'X-Left': 0, 'X-Other': 'x' }", /'X-Other'/],
  'header fields where there are none': ['{ status: 201, body }', "{ status: 201, headers: { 'X-Other': 'x' }, body }", /'X-Other'/],
  'a parameter that is not there': ['query.fields', 'query.field', /'field' does not exist/],
  'a parameter that is ignored': ["header['X-Trace'] === 'lost'", "header.Accept === 'lost'", /'Accept' does not exist/],
  'a parameter of another type': ['const id: bigint', 'const id: number', /'bigint' is not assignable to type 'number'/],
  'a place without parameters': ['async (): Promise', 'async ({ query: { limit } }): Promise', /'query' does not exist/],
  'a member of the body that is readOnly': ['{ body: { total, secret, parts } }', '{ body: { id, total, secret, parts } }', /'id' does not exist/],
  'a body that may be missing': ['body?.kind', 'body.kind', /possibly 'undefined'/],
  'a caller that may be nobody': ['principals.user?.name', 'principals.user.name', /possibly 'undefined'/],
  'another verdict': ["'forbidden' :", "'denied' :", /'"denied"' is not assignable to type 'Verdict'/]
}

t.test('a program that fits another contract compiles and answers; the compiler explains each mistake at its line', async t => {
  const files = Object.fromEntries(Object.entries(mistakes).map(([name, [from, to]], index) => {
    t.equal(program.split(from).length, 2, `${name}: is a change`)
    return [`mistake-${index}.ts`, program.replace(from, to)]
  }))
  const config = JSON.stringify({ extends: resolve('tsconfig.json'), include: ['*.ts', 'generated'] })
  const folder = t.testdir({ ...files, 'program.ts': program, 'tsconfig.json': config })
  const generated = join(folder, 'generated')
  await run(process.execPath, ['scripts/generate.ts', '--contract', 'test/fixtures/contracts/orders.yaml', '--out', generated])
  const tsc = [resolve('node_modules/typescript/bin/tsc'), '--pretty', 'false', '--noUnusedLocals', 'false']
  const { stdout } = await run(process.execPath, tsc, { cwd: folder }).catch(error => error as { stdout: string })

  const reports = Map.groupBy(stdout.trimEnd().split(/\n(?=\S)/), report => report.split('(', 1)[0])
  t.strictSame(reports.get('program.ts'), undefined, 'the program fits')
  Object.entries(mistakes).forEach(([name, [from, to, says, at = to.split('\n', 1)[0]]], index) => {
    const [first = '', ...others] = reports.get(`mistake-${index}.ts`) ?? []
    const line = program.replace(from, to).split('\n').findIndex(line => line.includes(at as string)) + 1
    t.match(first, says, name)
    t.equal(Number(/\((\d+),/.exec(first)?.[1]), line, `${name}: the line`)
    t.ok([first, ...others].join('\n').length <= 400, `${name}: in 400 characters`, { first, others })
  })

  const { handlers, verifiers } = await import(join(folder, 'program.ts'))
  const contract: Contract = await import(join(folder, 'generated/operations.ts'))
  const { app } = await serveLoaded(t, contract, { handlers, verifiers })
  const ask = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, headers: Record<string, string>, payload?: string) => {
    const { statusCode, headers: answered, body } = await app.inject({ method, url, headers, ...payload !== undefined && { payload } })
    return [statusCode, answered['content-type']?.split(';')[0], body]
  }
  const user = { authorization: 'Bearer me', 'x-trace': 'x' }
  const read = await app.inject({ url: '/v1/orders/9007199254740993?fields=a,b', headers: { ...user, cookie: 'theme=dark' } })
  t.equal(read.body, '{"id":9007199254740993,"total":null,"parts":[{"id":2,"total":1}],"payment":{"kind":"cash","note":"me orders,a,b,dark"}}')
  t.equal(read.headers['x-left'], '20')
  t.strictSame(await ask('GET', '/v1/orders/1', { ...user, 'x-trace': 'lost' }), [404, 'application/problem+json', '{"title":"There is no such order."}'])
  t.strictSame(await ask('GET', '/v1/orders/1', { ...user, 'x-trace': 'broken' }), [500, undefined, ''])
  t.match(await ask('GET', '/v1/orders/1', { ...user, cookie: 'theme=green' }), [400, 'application/json', /must be one of \\"dark\\", \\"light\\"/])
  t.match(await ask('GET', '/v1/orders/1', { authorization: 'Bearer weak', 'x-trace': 'x' }), [403])
  t.match(await ask('GET', '/v1/orders/1', { 'x-key': 'k' }), [400, 'application/json', /X-Trace/])
  t.strictSame(await ask('DELETE', '/v1/orders/1', {}), [204, undefined, ''])
  const staff = { authorization: `Basic ${btoa('a:a')}`, 'content-type': 'application/vnd.shop+json' }
  t.strictSame(await ask('POST', '/v1/orders', staff, '{"total":9223372036854775807,"secret":"x","parts":[{"total":null,"secret":""}]}'),
    [201, 'application/hal+json', '{"id":9007199254740993,"total":9223372036854775807,"parts":[{"id":1,"total":null}]}'])
  t.match(await ask('POST', '/v1/orders', staff, '{"id":1,"total":1,"secret":"x"}'), [400, 'application/json', /\\"id\\" in the body must not be sent/])
  const patch = { ...user, 'content-type': 'application/merge-patch+json' }
  t.strictSame(await ask('PATCH', '/v1/orders', patch, '{"kind":"card","number":9007199254740992}'), [200, 'application/json', '{"kind":"card","number":9007199254740993}'])
  t.strictSame(await ask('PATCH', '/v1/orders', user), [200, 'application/json', '{"kind":"cash"}'])
  t.match(await ask('PATCH', '/v1/orders', patch, '{"kind":"coin"}'), [400, 'application/json', /must be one of \\"card\\", \\"cash\\"/])
})
