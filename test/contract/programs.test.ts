// Another contract, all the way: generated, compiled, registered, asked. And programs that do not fit it, which must not compile.
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Contract } from '../../src/contract/types.ts'
import { serveLoaded } from '../fixtures/contract.ts'

const run = promisify(execFile)

/** A program that fits the contract. */
const program = `
import type { Handlers, Verifiers } from '${resolve('src/contract/types.ts')}'
import * as contract from './generated/operations.ts'
import type { components, operations, webhooks } from './generated/types.ts'

export const handlers: Handlers<operations, typeof contract> = {
  readOrder: ({ path, query, header, cookie, principals }) => {
    const id: bigint = path.orderId
    const fields: string[] | undefined = query.fields
    const limit: number = query.limit
    const theme: 'dark' | 'light' | undefined = cookie.theme
    if (header['X-Trace'] === 'lost') return { status: 404, body: { title: 'There is no such order.' } }
    if (header['X-Trace'] === 'broken') return { status: 500 }
    return { status: 200, headers: { 'X-Left': limit }, body: { id, total: null, parts: [{ id: 2n, total: 1n }], payment: { kind: 'cash', note: [principals.user?.name, fields, theme].join() } } }
  },
  deleteOrder: async () => ({ status: 204 }),
  createOrder: ({ body: { total, secret, parts } }) => ({ status: secret === 'x' ? 201 : 200, body: { id: 9007199254740993n, total, parts: parts?.map(part => ({ id: 1n, total: part.total })) ?? [] } }),
  changeOrders: ({ body }) => ({ status: 200, body: body?.kind === 'card' ? { kind: 'card', number: body.number + 1n } : { kind: 'cash' } })
}

export const verifiers: Verifiers<typeof contract.securitySchemes> = {
  user: async (token: string, scopes) => token === 'weak' ? 'forbidden' : { name: [token, ...scopes].join(' ') },
  key: key => key === 'k' ? { name: 'machine' } : undefined,
  staff: ({ username, password }) => username === password ? { name: username } : undefined
}

/** Webhooks and callbacks have types, though no handlers. */
export type Sent = webhooks['orderCreated']['post']['requestBody'] & components['schemas']['Order']
export const sent: NonNullable<webhooks['orderCreated']['post']['requestBody']>['content']['application/xml'] = 1n
`

/**
 * Changes of the program that must not compile, each with what the compiler says at the changed line; of a handler with
 * several answers it says it at the handler's first line.
 */
const wrong: Record<string, [from: string, to: string, says: RegExp, at?: string]> = {
  'a missing handler': ['  deleteOrder: async () => ({ status: 204 }),\n', '', /'deleteOrder' is missing/, 'export const handlers'],
  'an extra handler': ['  deleteOrder: async', '  orderCreated: async () => ({ status: 204 }), deleteOrder: async', /'orderCreated' does not exist/],
  'a missing verifier': ["  key: key => key === 'k' ? { name: 'machine' } : undefined,\n", '', /'"key"' is missing/, 'export const verifiers'],
  'an extra verifier': ['  key: key =>', '  other: () => undefined, key: key =>', /'other' does not exist/],
  'a verifier of other credentials': ['({ username, password }) =>', '(username: string, password = username) =>', /not assignable/],
  'an undeclared status': ["status: 404, body: { title: 'There is no such order.' }", 'status: 299, body: { title: 1 }', /not assignable/, 'readOrder:'],
  'a status that is not in the range': ["secret === 'x' ? 201 : 200", "secret === 'x' ? 201 : 304", /not assignable/],
  'a status without a body': ["secret === 'x' ? 201 : 200", "secret === 'x' ? 204 : 200", /not assignable/],
  'a body of another status': ["{ status: 404, body: { title: 'There is no such order.' } }", '{ status: 404, body: { id: 1n, total: null } }', /not assignable|does not exist/, 'readOrder:'],
  'the default for a status of its own': ['return { status: 500 }', 'return { status: 200 }', /not assignable/, 'readOrder:'],
  'a body where there is none': ['async () => ({ status: 204 })', 'async () => ({ status: 204, body: {} })', /not assignable/],
  'a member that is missing': ['body: { id, total: null, parts', 'body: { total: null, parts', /not assignable/, 'readOrder:'],
  'a member of another type': ['body: { id, total: null', 'body: { id: 1, total: null', /not assignable/, 'readOrder:'],
  'a member that is writeOnly': ['body: { id: 9007199254740993n,', 'body: { secret, id: 9007199254740993n,', /'secret'|not assignable/],
  'an answer of several without its body': ['return { status: 500 }', "return { status: 200, headers: { 'X-Left': 1 } }", /not assignable/, 'readOrder:'],
  'an answer of several with a body too many': ['return { status: 500 }', 'return { status: 500, body: { id } }', /not assignable/, 'readOrder:'],
  'a value that no discriminator has': ["{ kind: 'cash' } })", "{ kind: 'coin' } })", /not assignable/],
  'a header field that is missing': ["headers: { 'X-Left': limit }, ", '', /not assignable/, 'readOrder:'],
  'a header field of another type': ["'X-Left': limit }", "'X-Left': 'many' }", /not assignable/, 'readOrder:'],
  'a header field that is not declared': ['parts?.map(part => ({ id: 1n, total: part.total })) ?? [] } })', "parts?.map(part => ({ id: 1n, total: part.total })) ?? [] }, headers: { 'X-Other': 'x' } })", /'X-Other'/],
  'a parameter that is not there': ['query.fields', 'query.field', /'field' does not exist/],
  'a parameter that is ignored': ["header['X-Trace'] === 'lost'", "header.Accept === 'lost'", /'Accept' does not exist/],
  'a parameter of another type': ['const id: bigint', 'const id: number', /'bigint' is not assignable to type 'number'/],
  'a place without parameters': ['deleteOrder: async () =>', 'deleteOrder: async ({ query: { limit } }) =>', /'query' does not exist/],
  'a member of the body that is readOnly': ['{ body: { total, secret, parts } }', '{ body: { id, total, secret, parts } }', /'id' does not exist/],
  'a body that may be missing': ['body?.kind', 'body.kind', /possibly 'undefined'/],
  'a caller that may be nobody': ['principals.user?.name', 'principals.user.name', /possibly 'undefined'/],
  'another answer of a verifier': ["'forbidden' : {", "'denied' : {", /not assignable/]
}

t.test('a program that fits another contract compiles and answers, one that does not fit is refused by the compiler at its line', async t => {
  const files = Object.fromEntries(Object.entries(wrong).map(([name, [from, to]], index) => {
    t.equal(program.split(from).length, 2, `${name}: is a change`)
    return [`wrong-${index}.ts`, program.replace(from, to)]
  }))
  const folder = t.testdir({ ...files, 'program.ts': program, 'tsconfig.json': JSON.stringify({ extends: resolve('tsconfig.json'), include: ['*.ts', 'generated'] }) })
  await run(process.execPath, ['scripts/generate.ts', '--contract', 'test/fixtures/contracts/orders.yaml', '--out', join(folder, 'generated')])
  const { stdout } = await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '--pretty', 'false'], { cwd: folder }).catch(error => error as { stdout: string })

  const said = Map.groupBy(stdout.split(/\n(?=\S)/), line => line.split('(', 1)[0])
  t.strictSame(said.get('program.ts'), undefined, 'the program fits')
  Object.entries(wrong).forEach(([name, [from, to, says, at = to.split('\n', 1)[0]]], index) => {
    const lines = said.get(`wrong-${index}.ts`) ?? []
    const line = program.replace(from, to).split('\n').findIndex(line => line.includes(at as string)) + 1
    t.ok(lines.some(text => Number(/\((\d+),/.exec(text)?.[1]) === line && says.test(text)), name, { line, lines })
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
