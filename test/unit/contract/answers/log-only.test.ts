// With `answers: 'log'` the contract is a warning: answers that break it are logged and sent as they are.
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { serve, type Untyped } from '../../../fixtures/contract.ts'

const paths = `
  /a:
    get:
      operationId: read
      responses:
        '200':
          description: fine
          headers: { X-Left: { required: true, schema: { type: integer } } }
          content:
            application/json:
              schema: { type: object, properties: { id: { type: integer, format: int64 } }, required: [id] }
        '201': { description: text, content: { text/plain: { schema: { type: string, maxLength: 3 } } } }
        '202': { description: several, content: { application/json: { schema: { type: string } }, application/hal+json: {}, image/*: {} } }
        '203': { description: events, content: { text/event-stream: { schema: { type: object } } } }
        '204': { description: nothing }
        '206': { description: bytes, content: { application/zip: {} } }`

async function start (t: Test, answers: 'enforce' | 'log') {
  let answer: Untyped = {}
  const { app, causes } = await serve(t, { paths, handlers: { read: () => answer }, answers })
  return async (given: Untyped) => {
    answer = given
    const before = causes().length
    const { statusCode, headers, body } = await app.inject('/a')
    return { sent: [statusCode, headers['content-type'], body], headers, causes: causes().slice(before) }
  }
}

const json = 'application/json; charset=utf-8'
const text = 'text/plain; charset=utf-8'
const bytes = 'application/octet-stream'
const headers = { 'X-Left': 1 }

async function * oneEvent (event: unknown) {
  yield event
}

/** Answers that break the contract, what is sent, and what the log says of it. */
const breaches: Array<[answer: () => Untyped, sent: unknown[], cause: RegExp]> = [
  [() => ({ status: 200, headers, body: { id: '', n: 2n ** 60n } }), [200, json, `{"id":"","n":${2n ** 60n}}`], /id must/],
  [() => ({ status: 200, headers, body: null }), [200, json, 'null'], /must be an object/],
  [() => ({ status: 200, headers, body: () => {} }), [200, json, 'null'], /must be an object/],
  [() => ({ status: 200, headers }), [200, undefined, ''], /answered 200 without its body/],
  [() => ({ status: 200, body: { id: 1n } }), [200, json, '{"id":1}'], /without the required header field X-Left/],
  [() => ({ status: 200, headers: { 'X-Left': 'many' }, body: { id: 1n } }), [200, json, '{"id":1}'], /X-Left that/],
  [() => ({ status: 200, headers: { ...headers, 'X-More': 1 }, body: { id: 1n } }), [200, json, '{"id":1}'], /X-More/],
  [() => ({ status: 200, headers, contentType: 'a/b', body: 'x' }), [200, 'a/b', 'x'], /answered 200 as a\/b/],
  [() => ({ status: 201, body: 'long' }), [201, text, 'long'], /at most 3 characters/],
  [() => ({ status: 201, body: { a: 1n } }), [201, text, '{"a":1}'], /must be a string/],
  [() => ({ status: 201, body: Readable.from(['a', 'b']) }), [201, text, 'ab'], /must be a string/],
  [() => ({ status: 200, headers, body: Readable.from(['{}']) }), [200, json, '{}'], /id/],
  [() => ({ status: 202, body: 'x' }), [202, text, 'x'], /answered 202 without contentType, which must be one of/],
  [() => ({ status: 202, contentType: 'application/json', body: 1 }), [202, json, '1'], /must be a string/],
  [() => ({ status: 202, contentType: 'a/b+json', body: 'x' }), [202, 'a/b+json; charset=utf-8', '"x"'], /as a\/b\+json/],
  [() => ({ status: 203, body: oneEvent({ data: 'end' }) }), [203, 'text/event-stream', 'data: end\n\n'], /an object/],
  [() => ({ status: 203, body: oneEvent({ data: 1n }) }), [203, 'text/event-stream', 'data: 1\n\n'], /an object/],
  [() => ({ status: 203, body: oneEvent('end') }), [203, 'text/event-stream', 'data: end\n\n'], /./],
  [() => ({ status: 203, body: oneEvent({}) }), [203, 'text/event-stream', 'data: {}\n\n'], /./],
  [() => ({ status: 203, body: oneEvent(null) }), [203, 'text/event-stream', 'data: null\n\n'], /./],
  [() => ({ status: 203, body: oneEvent({ id: 1n }) }), [203, 'text/event-stream', 'data: {"id":1}\n\n'], /./],
  [() => ({ status: 203, body: [1] }), [203, 'text/event-stream', '[1]'], /not an async iterable/],
  [() => ({ status: 204, body: 'x' }), [204, undefined, ''], /answered 204 with a body/],
  [() => ({ status: 206, body: 1 }), [206, 'application/zip', '1'], /a body that is not a string/],
  [() => ({ status: 299 }), [299, undefined, ''], /answered 299, which the contract does not declare/],
  [() => ({ status: 299, headers, body: { a: 1n } }), [299, json, '{"a":1}'], /answered 299/],
  [() => ({ status: 299, body: Uint8Array.of(65) }), [299, bytes, 'A'], /answered 299/],
  [() => ({ status: 299, body: Readable.from(['B']) }), [299, bytes, 'B'], /answered 299/]
]

t.test('an answer that breaks the contract is sent as it is, and logged', async t => {
  const read = await start(t, 'log')
  for (const [answer, sent, cause] of breaches) {
    const result = await read(answer())
    t.strictSame(result.sent, sent, String(answer))
    t.match(result.causes, [cause], String(answer))
    t.equal(result.causes.length, 1)
  }
  const more = await read({ status: 200, headers: { 'X-Left': 1, 'X-More': ['a', 2] }, body: { id: 1n } })
  t.equal(more.headers['x-more'], 'a, 2')
})

t.test('by default each of them becomes 500, or ends the stream', async t => {
  const read = await start(t, 'enforce')
  for (const [answer, [status], cause] of breaches) {
    const { sent, causes } = await read(answer()).catch(error => ({ sent: [status], causes: [String(error)] }))
    if (status === 203 && sent[0] === 203) t.match(causes, [/destroyed|aborted|reset/i])
    else t.match([sent[0], causes], [500, [cause]], String(answer))
  }
})

t.test('what cannot be sent is 500 in both cases, and a valid answer is the same', async t => {
  for (const mode of ['log', 'enforce'] as const) {
    const read = await start(t, mode)
    const unsendable = [
      ...[99, 100, 101, 199, 600, 200.5, '200', 'x'].map(status => ({ status })),
      { status: 299, contentType: 'a/b\r\nX-A: b', body: 'x' },
      ...[{ 'X-A': 'a\nb' }, { 'X A': 'a' }, { '': 'a' }, { 'X-A\r\nX-B': 'a' }, { 'Transfer-Encoding': 'chunked' }]
        .flatMap(headers => [{ status: 204, headers }, { status: 299, headers, body: 'x' }]),
      undefined
    ]
    for (const answer of unsendable) {
      const { sent } = await read(answer as Untyped)
      t.match(sent, [500, json, /"error":500/], `${mode} ${JSON.stringify(answer)}`)
    }
    const valid = await read({ status: 200, headers, body: { id: 1n, secret: 1 } })
    t.strictSame([valid.sent, valid.causes], [[200, json, '{"id":1}'], []])
  }
})
