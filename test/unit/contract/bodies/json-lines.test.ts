// Bodies of JSON lines: values that a handler gets as they arrive.
import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { linesReader } from '../../../../src/contract/bodies/json-lines.ts'
import { listen } from '../../../fixtures/app.ts'
import { anyResponse, serve, type TestService } from '../../../fixtures/contract.ts'
import { requestText } from '../../../fixtures/raw.ts'

const entry = '{ type: object, required: [id], properties: { id: { type: integer, format: int64 }, ' +
  'tag: { type: string, minLength: 2 }, seen: { type: string, readOnly: true } } }'

/** Serves POST /a with JSON lines; the handler adds the values to `values`. */
async function serveLines (t: Test, service: TestService = {}) {
  const values: unknown[] = []
  const content = ['application/jsonl', 'application/json-seq'].map(type => `${type}: { schema: ${entry} }`)
  const { app } = await serve(t, {
    paths: `  /a: { post: { operationId: add, requestBody: { required: true, content: { ${content} } }, ${anyResponse} } }`,
    handlers: {
      async add ({ body }) {
        let count = 0
        for await (const value of body) {
          values.push(value)
          count++
        }
        return { status: 200, body: count }
      }
    },
    ...service
  })
  const send = async (payload: string | Buffer | Readable, type = 'application/jsonl') => {
    const framing = payload instanceof Readable ? { 'transfer-encoding': 'chunked' } : {}
    const headers = { 'content-type': type, ...framing }
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/a', headers, payload })
    return [statusCode, JSON.parse(body).message ?? JSON.parse(body)]
  }
  return { app, send, values }
}

t.test('the values of all lines, with exact numbers and without undeclared members', async t => {
  const { send, values } = await serveLines(t)
  t.strictSame(await send('{"id":9007199254740993,"other":1}\r\n\n \t\n{"id":2,"tag":"ü\\n"}'), [200, 2])
  t.strictSame(values, [{ id: 9007199254740993n }, { id: 2n, tag: 'ü\n' }])
  t.strictSame(await send('{"id":1}\n', 'application/jsonl; charset=UTF-8'), [200, 1])
})

t.test('without a byte there is no value; without a media type there is no body', async t => {
  const { app, send } = await serveLines(t)
  t.strictSame(await send(Readable.from([])), [200, 0])
  const empty = { 'content-type': 'application/jsonl', 'content-length': '0' }
  t.equal((await app.inject({ method: 'POST', url: '/a', headers: empty })).body, '0')
  t.match(await app.inject({ method: 'POST', url: '/a' }), { statusCode: 400, body: /needs a body, sent as application/ })
  t.strictSame(await send('{}', 'application/json'), [
    415, 'The body must be sent as Content-Type: application/jsonl or application/json-seq.'
  ])
})

t.test('chunks may end anywhere', async t => {
  const { send, values } = await serveLines(t)
  const bytes = Buffer.from('{"id":1,"tag":"üü"}\n{"id":2}\n')
  t.strictSame(await send(Readable.from(Array.from(bytes, byte => Buffer.of(byte)))), [200, 2])
  t.strictSame(values, [{ id: 1n, tag: 'üü' }, { id: 2n }])
})

t.test('the values of a JSON text sequence', async t => {
  const { send, values } = await serveLines(t)
  t.strictSame(await send('\x1e{\n"id":1\n}\n\x1e{"id":2}\n', 'application/json-seq'), [200, 2])
  t.strictSame(values, [{ id: 1n }, { id: 2n }])
  t.strictSame(await send('\x1e{"id":1}\n\x1e{}\n', 'application/json-seq'), [
    400, 'Value 2 of the body must have the member "id".'
  ])
})

t.test('a fault names its line, after the values before it', async t => {
  const { send, values } = await serveLines(t)
  const refused: Array<[line: string | Buffer, message: string]> = [
    ['{', 'Line 3 of the body is not valid JSON: unexpected end at column 2.'],
    ['7', 'Line 3 of the body must be an object.'],
    ['{"id":9223372036854775808}', `"id" in line 3 of the body must be an integer from ${-(2n ** 63n)} to ${2n ** 63n - 1n}.`],
    ['{"id":1,"tag":1}', '"tag" in line 3 of the body must be a string, not a number: put it in quotes.'],
    ['{"id":1,"seen":"x"}', '"seen" in line 3 of the body must not be sent.'],
    ['\v', 'Line 3 of the body is not valid JSON: unexpected U+000b at column 1.'],
    [Buffer.of(0xff), 'Line 3 of the body is not valid UTF-8 at column 1.']
  ]
  for (const [line, message] of refused) {
    values.length = 0
    const body = Buffer.concat([Buffer.from('{"id":1}\n\n'), Buffer.from(line), Buffer.from('\n{"id":2}')])
    t.strictSame(await send(body), [400, message])
    t.strictSame(values, [{ id: 1n }])
  }
  const [status, message] = await send('{"id":"1","tag":"x"}')
  t.match([status, message], [400, /^"id" in line 1 of the body .* "tag" in line 1 of the body /])
})

t.test('a line and the whole body have limits', async t => {
  const { send, values } = await serveLines(t, { bodyLimits: { lineBytes: 8, streamBytes: 40 } })
  t.strictSame(await send('{"id":1}\n{"id":2}\n{"id":3}'), [200, 3])
  const tooLong = [413, 'A line of the body is larger than 8 bytes.']
  t.strictSame(await send('{"id":1}\n{"id":22}\n'), tooLong)
  t.strictSame(await send(Readable.from([Buffer.from('{"id":'), Buffer.from('111')])), tooLong)
  const whole = [413, 'The body is larger than 40 bytes, the limit of this service.']
  values.length = 0
  t.strictSame(await send('{"id":1}\n'.repeat(5)), whole)
  t.equal(values.length, 0, 'refused by its Content-Length')
  t.strictSame(await send(Readable.from(Array(5).fill('{"id":1}\n'))), whole)
})

t.test('a line is limited as other bodies are, by default', async t => {
  const { send } = await serveLines(t)
  t.match(await send(`{"id":1,"tag":"${'x'.repeat(1024 * 1024)}"}`), [413, /larger than 1048576 bytes/])
})

t.test('no more is read than the values that are asked for', async t => {
  let chunks = 0
  const body = new Readable({
    highWaterMark: 1024,
    read () {
      chunks++
      this.push(Buffer.from(`${chunks}\n`.padStart(1024)))
    }
  })
  const read = (line: Buffer, where: string) => `${where}: ${String(line).trim()}`
  const values = linesReader('application/jsonl', read, 2048)(body)
  t.equal((await values.next()).value, 'line 1 of the body: 1')
  await new Promise(resolve => setImmediate(resolve))
  t.ok(chunks <= 4, `${chunks} chunks were read`)
  await values.return()
  t.ok(body.destroyed, 'what is left is dropped')
})

t.test('values come before the body ends, and a body that breaks off is a fault', async t => {
  const first = Promise.withResolvers<unknown>()
  const fault = Promise.withResolvers<Error>()
  const { app } = await serveLines(t, {
    handlers: {
      async add ({ body }) {
        try {
          for await (const value of body) first.resolve(value)
        } catch (error) {
          fault.resolve(error as Error)
        }
        return { status: 200, body: 0 }
      }
    }
  })
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  const head = ['Host: x', 'Content-Type: application/jsonl', 'Content-Length: 100', '', '']
  socket.write(requestText('POST /a', head) + '{"id":7}\n{"id"')
  t.strictSame(await first.promise, { id: 7n })
  socket.destroy()
  t.match(await fault.promise, { status: 400, message: 'The body ended before it was complete.' })
})

t.test('a handler may leave lines unread: the connection is closed after the answer', async t => {
  const { app } = await serveLines(t, {
    handlers: {
      async add ({ body }) {
        const { value } = await body.next()
        return { status: 200, body: String(value.id) }
      }
    }
  })
  const { port } = await listen(app)
  const socket = connect(port, '127.0.0.1').on('error', () => {}).setEncoding('latin1')
  let text = ''
  socket.on('data', chunk => { text += chunk })
  const head = ['Host: x', 'Content-Type: application/jsonl', 'Content-Length: 1000', '', '']
  socket.write(requestText('POST /a', head) + '{"id":7}\n{"id":8}\n')
  await once(socket, 'close')
  t.match(text, /^HTTP\/1.1 200 [^]*Connection: close[^]*\r\n\r\n"7"$/i)
})

t.test('other work gets turns between many lines of a chunk', async t => {
  const read = linesReader('application/jsonl', line => line, 10)
  let turns = 0
  let isRead = false
  const count = () => {
    turns++
    if (!isRead) setImmediate(count)
  }
  setImmediate(count)
  for await (const line of read(Readable.from([Buffer.alloc(64_000, '\n')]))) t.fail(String(line))
  isRead = true
  t.ok(turns > 900, `${turns} turns`)
})
