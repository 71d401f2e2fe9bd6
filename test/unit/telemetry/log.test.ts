import type { FastifyRequest } from 'fastify'
import { HttpError } from 'fastify-openapi-contract'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { type PlantStore, StoreUnavailable } from '../../../src/plants/plant-store.ts'
import { createErrorLog } from '../../../src/service/error-log.ts'
import { createSharedMemory } from '../../../src/service/shared-memory.ts'
import { createLog, makeReadable } from '../../../src/telemetry/log.ts'
import { logError } from '../../../src/telemetry/request-log.ts'
import { authorization, isError, json, listen, logLines, startApp } from '../../fixtures/app.ts'
import { exchange, requestText } from '../../fixtures/raw.ts'
import { testStore } from '../../fixtures/store.ts'

t.test('a terminal gets sentences, and no control character of a caller', async t => {
  const lines: string[] = []
  const output = { write: (line: string) => { lines.push(line) } }
  t.equal(await makeReadable(output, {}), output, 'anything else gets JSON')
  const { app } = await startApp(t, { log: createLog('info', await makeReadable(output, { isTTY: true })) })
  // An operation without security has a line at the start.
  lines.length = 0
  await app.inject('/x%0d%0a[12:00:00.000]%20FATAL:%20forged%1b[2J%c2%9b2J%e2%80%ae')
  const forged = 'There is nothing at /x\\u{d}\\u{a}[12:00:00.000] FATAL: forged\\u{1b}[2J'
  t.match(lines.join(''), /^\[.*INFO.*: 404 GET .*forged.* There/)
  t.match(lines.join(''), forged)
  t.match(lines.join(''), /\\u\{9b\}2J\\u\{202e\}\./)
  t.equal(lines.join('').trimEnd().split('\n').length, 1, 'one line')
})

t.test('a terminal gets one aligned line for each response', async t => {
  const lines: string[] = []
  const output = { write: (line: string) => { lines.push(line.replace(/\[.*\]/, '').replace(/[\d.]+ ms/, 'N ms')) } }
  const log = createLog('info', await makeReadable(output, { isTTY: true, hasColors: () => false }))
  const { app, post } = await startApp(t, { log, onTerminal: true })
  lines.length = 0
  await post('{"id":1,"name":"Fern"}')
  await post('{"id":1,"name":"Rose"}')
  await app.inject('/livez')
  log.error({ err: new Error('full') }, 'not stored')
  t.strictSame(lines.slice(0, 3), [
    '  INFO: 200 POST /plants      N ms\n',
    '  INFO: 409 POST /plants      Another plant has the id 1. The stored plant does not change.\n',
    '  INFO: 200 GET  /livez       N ms\n'
  ])
  t.match(lines[3], /^ ERROR: not stored\n.*err: \{[^]*"stack"|stack:/)
})

t.test('the table of the guide has every field of a line', async t => {
  const { log, lines } = logLines()
  log.level = 'debug'
  const store = { ...testStore(), add: async () => { throw new StoreUnavailable('not now', { cause: new Error('full') }) } }
  const { post } = await startApp(t, { log, store })
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
  await post('{"id":1,"name":"Fern"}', { traceparent })
  const fields = new Set(lines.flatMap(line => Object.keys(JSON.parse(line))))
  const [, table = ''] = /\| field \| meaning \|\n([^]*?)\n\n/.exec(readFileSync('docs/use/monitoring.md', 'utf8')) ?? []
  const names = table.split('\n').flatMap(row => Array.from(row.split('|')[1]?.matchAll(/`(\w+)`/g) ?? [], ([, name]) => name))
  t.strictSame([...fields].sort(), names.sort())
})

t.test('a terminal with colours shows them', async t => {
  const lines: string[] = []
  const output = { write: (line: string) => { lines.push(line) } }
  const log = createLog('info', await makeReadable(output, { isTTY: true, hasColors: () => true }))
  const { post } = await startApp(t, { log, onTerminal: true })
  lines.length = 0
  await post('{"id":1,"name":"Fern"}')
  await post('')
  t.match(lines, [/\[32m200/, /\[33m400/])
})

t.test('an unknown Transfer-Encoding is logged at level info, without a stack', async t => {
  const { log, lines } = logLines()
  const { port } = await listen((await startApp(t, { log })).app)
  await exchange(port, requestText(
    'POST /plants', ['Host: plants', 'Transfer-Encoding: gzip', 'Connection: close', '', '']
  ))
  t.match(JSON.parse(lines.join('')), { level: 30, status: 501, err: undefined })
})

t.test('a 5xx without a cause is logged with its own message', async t => {
  const { log, lines } = logLines()
  logError(log, new HttpError(502, 'The supplier does not answer.'), { id: '1', ip: '192.0.2.1', socket: { remoteAddress: '192.0.2.1' } })
  const err = { message: 'The supplier does not answer.' }
  t.match(JSON.parse(lines.join('')), { level: 50, status: 502, err, msg: 'The supplier does not answer.' })
})

t.test('every field has at most 1 KiB, and says how long it was', async t => {
  const { log, lines } = logLines()
  const long = 'x'.repeat(20_000)
  const cause = Object.assign(
    new Error(long), { code: 7, detail: '\u20ac'.repeat(20_000), list: { long } }
  )
  const error = new Error('failed', { cause })
  cause.cause = error
  log.info({
    path: long,
    exact: long.slice(0, 1024),
    euros: '\u20ac'.repeat(400),
    list: [long],
    none: undefined
  }, long)
  log.error({ err: cause, caller: long, ms: 0.5, ok: true, nothing: null }, 'failed')
  log.error({ err: long })
  const [info, failed, thrown] = lines.map(line => JSON.parse(line))
  t.equal(info.path, `${long.slice(0, 1024)}... (20000 characters)`)
  t.equal(info.msg, info.path)
  t.equal(info.exact.length, 1024)
  t.equal(
    info.euros, `${'\u20ac'.repeat(341)}... (400 characters)`, 'a character is not cut in two'
  )
  t.match(info.list, /^\[ 'x+\.\.\. \(\d+ characters\)$/)
  t.match(failed, {
    ms: 0.5, ok: true, nothing: null, err: { code: 7, message: /^x+\.\.\. \(\d+ characters\)$/ }
  })
  t.match(failed.err.stack, /^Error: x+\.\.\. \(\d+ characters\)$/)
  t.equal(thrown.err, info.path)
  const fields = (value: object): string[] => Object.values(value).flatMap(value => {
    return value instanceof Object ? fields(value) : String(value)
  })
  for (const field of [info, failed, thrown].flatMap(fields)) {
    t.ok(Buffer.byteLength(field) < 1024 + 30)
  }
  t.equal(lines.length, 3)
})

t.test('the message of an error names a cause once', async t => {
  const { log, lines } = logLines()
  const cause = new Error('the disk is full')
  log.error({ err: new Error('the disk is full; free some space', { cause }) })
  log.error({ err: new Error('not stored', { cause }) })
  const inner = new Error('the file: the disk is full', { cause })
  log.error({ err: new Error('not stored', { cause: inner }) })
  log.error({ err: new Error('A sentence.', { cause }) })
  const messages = lines.map(line => JSON.parse(line).err.message)
  t.strictSame(messages, [
    'the disk is full; free some space',
    'not stored: the disk is full',
    'not stored: the file: the disk is full',
    'A sentence: the disk is full'
  ])
})

t.test('a stack keeps its lines, without other control characters', async t => {
  const { log, lines } = logLines()
  log.error(new Error('a\r\nb\u001b[2J'))
  const { err, msg } = JSON.parse(lines.join(''))
  t.equal(msg, 'a\\u{d}\\u{a}b\\u{1b}[2J')
  t.equal(err.message, msg)
  t.match(err.stack, /^Error: a\\u\{d\}\nb\\u\{1b\}\[2J\n {4}at /)
})

t.test('level debug logs each response with its caller, without token, query or body', async t => {
  const { log, lines } = logLines('debug')
  const { app } = await startApp(t, { log })
  await app.inject({
    method: 'POST',
    url: '/plants?secret=1',
    headers: { authorization, 'content-type': json },
    payload: '{"id":1,"name":"fern"}'
  })
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] as string), {
    level: 20,
    method: 'POST',
    path: '/plants',
    caller: 'test',
    status: 200,
    ms: Number,
    msg: 'response sent'
  })
  t.notMatch(lines[0], /secret|fern/)
  await app.inject('/livez')
  const livez = { path: '/livez', caller: undefined, address: '127.0.0.1' }
  t.match(JSON.parse(lines[1] as string), livez, 'a path without a token has no caller')
})

t.test('level info logs no successful response', async t => {
  const { log, lines } = logLines()
  const { post } = await startApp(t, { log })
  t.equal((await post({ id: 1, name: 'fern' })).statusCode, 200)
  t.strictSame(lines, [])
})

t.test('the detail of a PostgreSQL error is not logged, because it may quote a plant', async t => {
  const { log, lines } = logLines()
  log.error({
    err: Object.assign(
      new Error('violates'), { code: '23502', detail: 'Failing row contains (1, fern).' }
    )
  })
  t.match(lines[0], /23502/)
  t.notMatch(lines[0], /fern/)
})

t.test('a path in the log has no password before it, no query or fragment after it', async t => {
  const { log, lines } = logLines('debug')
  const { app } = await startApp(t, { log })
  const { port } = await listen(app)
  for (const target of [
    'http://alice:secret@plants/x', '/x?secret', '/x#secret', '/x#a?secret', 'http://a:secret@b?c'
  ]) {
    await exchange(port, requestText(`GET ${target}`, ['Host: plants', 'Connection: close']))
  }
  const found = lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'response sent')
  t.strictSame(found.map(({ path }) => path), ['/x', '/x', '/x', '/x', ''])
  t.notMatch(lines.join(''), /secret/)
})

t.test('a cause has one stack in the log; further lines have its message and its code', async t => {
  const { log, lines } = logLines()
  const { post } = await startApp(t, { log, store: brokenStore() })
  for (let nth = 0; nth < 2; nth++) isError(t, await post(fern), 503, 'Not now.', 'no disk')
  const [first, second] = lines.map(line => JSON.parse(line).err)
  t.match(first.stack, /^Error: outer\n[^]* at .*\ncaused by: Error: inner/)
  t.strictSame(second, { type: 'Error', message: 'outer: inner', code: 'EIO' })
})

t.test('a broken answer has one stack in the log, too', async t => {
  const { log, lines } = logLines()
  const errorLog = createErrorLog(log, 60, createSharedMemory(1))
  const fault = new Error('broken')
  const request = { id: '', ip: '', socket: {} } as unknown as FastifyRequest
  for (let nth = 0; nth < 2; nth++) errorLog.logFault(fault, request)
  const [first, second] = lines.map(line => JSON.parse(line).err)
  t.equal(typeof first.stack, 'string')
  t.strictSame(second, { type: 'Error', message: 'broken' })
})

const fern = { id: 1, name: 'fern' }

function brokenStore (): PlantStore {
  const inner = new Error('inner')
  const cause = Object.assign(new Error('outer', { cause: inner }), { code: 'EIO' })
  const add = () => Promise.reject(new StoreUnavailable('Not now.', { cause }))
  return { ...testStore(), add }
}
