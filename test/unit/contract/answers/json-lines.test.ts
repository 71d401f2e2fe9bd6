// Answers of JSON lines. What they share with events is tested in streams.test.ts.
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { listen } from '../../../fixtures/app.ts'
import { serve } from '../../../fixtures/contract.ts'
import { requestText } from '../../../fixtures/raw.ts'

const entry = '{ type: object, required: [id], properties: { id: { type: integer, format: int64 }, tag: { type: string } } }'

/** Serves GET /a with JSON lines. */
async function serveLines (
  t: Test,
  body: () => unknown,
  answers: 'enforce' | 'log' = 'enforce',
  content = `{ application/jsonl: { schema: ${entry} } }`
) {
  const responses = `{ '200': { description: fine, content: ${content} } }`
  return await serve(t, {
    paths: `  /a: { get: { operationId: read, responses: ${responses} } }`,
    handlers: { read: () => ({ status: 200, body: body() }) },
    answers
  })
}

async function * yielding (...values: unknown[]) {
  yield * values
}

t.test('each value is a line: exact numbers, declared members, text in UTF-8', async t => {
  const { app } = await serveLines(t, () => {
    return yielding({ id: 2n ** 53n + 1n, secret: 1 }, { id: 2n, tag: 'a\nb ü' })
  })
  const { statusCode, headers, body } = await app.inject('/a')
  t.strictSame([statusCode, headers['content-type']], [200, 'application/jsonl'])
  t.equal(body, '{"id":9007199254740993}\n{"id":2,"tag":"a\\nb ü"}\n')
  t.notOk('cache-control' in headers)
  const untyped = await serveLines(t, () => yielding(1n, null, ['a']), 'enforce', '{ application/jsonl: {} }')
  t.equal((await untyped.app.inject('/a')).body, '1\nnull\n["a"]\n')
})

t.test('a stream of objects is a sequence, and so is one without a value', async t => {
  const values = [[{ id: 1n }], []]
  const { app } = await serveLines(t, () => Readable.from(values.shift() ?? []))
  t.equal((await app.inject('/a')).body, '{"id":1}\n')
  t.match(await app.inject('/a'), { statusCode: 200, body: '' })
  t.match(await app.inject({ url: '/a', method: 'HEAD' }), { statusCode: 200, body: '' })
})

t.test('what breaks the contract before the first line is 500, and later it ends the connection', async t => {
  const bodies: Array<[() => unknown, RegExp]> = [
    [() => yielding({ id: 'x' }), /the answer at id must be an integer/],
    [() => yielding({ id: 1n }, { id: 2n, tag: 3 }), /the answer at tag must be a string/],
    [() => { throw new Error('no database') }, /no database/],
    [() => Readable.from(['{"id":1}\n'], { objectMode: false }), /not an async iterable of JSON values/],
    [() => [{ id: 1n }], /not an async iterable of JSON values/]
  ]
  let body = () => yielding() as unknown
  const { app, causes } = await serveLines(t, () => body())
  for (const [index, [given, cause]] of bodies.entries()) {
    body = given
    if (index === 1) await t.rejects(app.inject('/a'), 'it breaks off')
    else t.match(await app.inject('/a'), { statusCode: 500, body: /"error":500/ })
    t.match(causes().at(-1), cause)
  }
  t.equal(causes().length, bodies.length)
})

t.test('with answers: log each breach is logged, and the values are sent as they are', async t => {
  const given = [yielding({ id: 'x', more: 1n }), Readable.from(['bytes'], { objectMode: false }), { a: 1 }]
  const { app, causes } = await serveLines(t, () => given.shift(), 'log')
  const sent: string[] = []
  for (let i = 0; i < 3; i++) sent.push((await app.inject('/a')).body)
  t.strictSame(sent, ['{"id":"x","more":1}\n', 'bytes', '{"a":1}'])
  t.match(causes(), [/at id must be an integer/, /not an async iterable/, /not an async iterable/])
})

t.test('a JSON text sequence has a mark before each value', async t => {
  const content = `{ application/geo+json-seq: { itemSchema: ${entry} } }`
  const responses = `{ '200': { description: fine, content: ${content} } }`
  const { app } = await serve(t, {
    openapi: '3.2.0',
    paths: `  /a: { get: { operationId: read, responses: ${responses} } }`,
    handlers: { read: () => ({ status: 200, body: yielding({ id: 1n }, { id: 2n }) }) }
  })
  t.equal((await app.inject('/a')).body, '\x1e{"id":1}\n\x1e{"id":2}\n')
})

t.test('the iterator gets its return() when the client goes away', async t => {
  const returned = Promise.withResolvers<void>()
  const { app } = await serveLines(t, async function * () {
    try {
      for (;;) yield { id: 1n, tag: 'x'.repeat(1000) }
    } finally {
      returned.resolve()
    }
  })
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1')
  socket.write(requestText('GET /a', ['Host: x', '', '']))
  await once(socket, 'data')
  socket.destroy()
  await returned.promise
  t.pass()
})
