// Answers that are streams: server-sent events, and the faults of clients and handlers, on the service's HTTP server.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createHttpServer } from '../../../../src/contract/server/http-server.ts'
import { measuredResponse } from '../../../../src/telemetry/measured-response.ts'
import { metricsMemory, Recorder } from '../../../../src/telemetry/metrics-recorder.ts'
import { listen, logLines, testReporter } from '../../../fixtures/app.ts'
import { startLoopClock, stopClock } from '../../../fixtures/clock.ts'
import { serve } from '../../../fixtures/contract.ts'
import { requestText } from '../../../fixtures/raw.ts'

const eventSchema = `
      oneOf:
        - { type: object, required: [id], properties: { id: { type: integer, format: int64 } } }
        - { type: string, maxLength: 20 }`

const components = `
  schemas:
    Added:
      type: object
      required: [data]
      properties:
        event: { type: string, enum: [added] }
        retry: { type: integer, format: int64 }
        data: { type: object, required: [id], properties: { id: { type: integer, format: int64 } } }
    Whole:
      anyOf:
        - $ref: '#/components/schemas/Added'
        - { allOf: [{ type: object, properties: { id: { type: string }, data: { enum: ['[DONE]'] } } }] }`

const paths = `
  /numbered:
    get:
      operationId: numbered
      responses:
        '200':
          description: fine
          content:
            text/event-stream:
              schema:
                type: object
                required: [data]
                properties:
                  data: { type: string }
                  event: { type: number }
                  id: { type: integer, format: int64 }
  /whole:
    get:
      operationId: whole
      responses:
        '200':
          description: fine
          content:
            text/event-stream: { schema: { $ref: '#/components/schemas/Whole' } }
  /events:
    get:
      operationId: events
      responses:
        '200':
          description: fine
          content:
            text/event-stream:
              schema: ${eventSchema.replaceAll('\n', '\n          ')}
  /file: { get: { operationId: file, responses: { '200': { description: fine, content: { application/zip: {} } } } } }`

/** Serves an operation with events and one with bytes, on the server of the service. */
async function start (t: Test, { body, stalledTimeoutMs = 20_000, drainMs = 1000, answers = 'enforce' as const }: {
  body: () => unknown, stalledTimeoutMs?: number, drainMs?: number, answers?: 'enforce' | 'log'
}) {
  const recorder = new Recorder(metricsMemory(1), 0)
  const answer = () => ({ status: 200, body: body() })
  const counted: Array<[method: string, status: number]> = []
  recorder.responded = (_route, method, status) => counted.push([method, status])
  const { app, causes } = await serve(t, {
    paths,
    components,
    handlers: { events: answer, whole: answer, numbered: answer, file: answer },
    answers,
    responseTimeoutMs: 200,
    serverFactory: handle => createHttpServer(handle, {
      reporter: testReporter(logLines().log),
      requestTimeoutMs: { header: 5000, whole: 10_000 },
      stalledTimeoutMs,
      keepAliveTimeoutMs: 5000,
      maxConnections: Infinity,
      connections: new Int32Array(1),
      thread: 0,
      threads: 1,
      urgentPaths: [],
      drain: { requestTimeoutMs: drainMs, responseTimeoutMs: drainMs },
      ServerResponse: measuredResponse(recorder),
      onConnectionDropped: () => {}
    })
  })
  const { port } = await listen(app)
  const open = async (path: string): Promise<Client> => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    t.teardown(() => socket.destroy())
    const client: Client = { socket, text: '', closed: new Promise(resolve => socket.once('close', resolve)) }
    socket.on('data', text => { client.text += text }).on('error', () => {})
    await once(socket, 'connect')
    socket.write(requestText(`GET ${path}`, ['Host: x', '', '']))
    return client
  }
  return { app, causes, open, counted }
}

interface Client { socket: Socket, text: string, closed: Promise<unknown> }

async function until (condition: () => unknown): Promise<void> {
  while (!condition()) await sleep(5)
}

/** The body of a response in chunks; `isWhole` if it has its last chunk. */
function bodyOf ({ text }: Client): { body: string, isWhole: boolean } {
  const [, chunks = ''] = text.split(/\r\n\r\n(.*)/s)
  const parts = [...chunks.matchAll(/[\da-f]+\r\n(.*?)\r\n(?=[\da-f]+\r\n|$)/gs)].map(([, part = '']) => part)
  return { body: parts.join(''), isWhole: chunks.endsWith('0\r\n\r\n') }
}

/** Events that a test sends one by one. It counts what the engine asks for. */
class Events {
  asked = 0
  returned = 0
  #next = Promise.withResolvers<IteratorResult<unknown>>()
  send (value: unknown): void { this.#next.resolve({ done: false, value }) }
  end (): void { this.#next.resolve({ done: true, value: undefined }) }
  fail (error: unknown): void { this.#next.reject(error) }

  [Symbol.asyncIterator] () {
    return {
      next: () => {
        this.asked++
        this.#next = Promise.withResolvers()
        return this.#next.promise
      },
      return: async () => ({ done: true, value: this.returned++ })
    }
  }
}

t.test('events have their fields, exact numbers and lines; the header does not wait for the first', async t => {
  const events = new Events()
  const { open, counted } = await start(t, { body: () => events })
  const client = await open('/events')
  await until(() => client.text.endsWith('\r\n\r\n'))
  t.match(client.text, /200 OK.*X-Request-Id: .*Cache-Control: no-cache.*Content-Type: text\/event-stream\r/is)
  const sent: Array<[object, string]> = [
    [{ data: { id: 9007199254740993n, secret: 1 } }, 'data: {"id":9007199254740993}\n\n'],
    [{ event: 'added', id: '7', retry: 1000, data: 'x' }, 'event: added\nid: 7\nretry: 1000\ndata: x\n\n'],
    [{ data: 'a\nb\r\nc\rd\n' }, 'data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n'],
    [{ id: '', data: '' }, 'id: \ndata: \n\n']
  ]
  let expected = ''
  for (const [event, text] of sent) {
    expected += text
    await until(() => events.asked > sent.findIndex(([one]) => one === event))
    events.send(event)
    await until(() => bodyOf(client).body.length >= expected.length)
    t.equal(bodyOf(client).body, expected)
  }
  await until(() => events.asked > sent.length)
  await sleep(300)
  t.notOk(client.socket.closed, 'the time limit of the response ended when it began')
  events.end()
  await until(() => bodyOf(client).isWhole)
  t.strictSame(counted, [['GET', 200]])
  t.equal(events.returned, 0)
})

t.test('a schema may describe whole events', async t => {
  const { open, causes } = await start(t, {
    body: async function * () {
      yield { event: 'added', retry: 5n, data: { id: 9007199254740993n, secret: 1 }, secret: 1 }
      yield { data: '[DONE]' }
      yield { id: '7' }
      yield { event: 'removed', data: { id: 1n } }
    }
  })
  const client = await open('/whole')
  await client.closed
  const text = 'event: added\nretry: 5\ndata: {"id":9007199254740993}\n\ndata: [DONE]\n\nid: 7\n\n'
  t.strictSame(bodyOf(client), { body: text, isWhole: false })
  t.match(causes(), [/event must be "added"|matches none/])
})

t.test('a schema of whole events may have numbers', async t => {
  const { open } = await start(t, {
    body: async function * () {
      yield { event: 1.5, id: 9007199254740993n, data: 'a' }
      yield { event: -5, id: 0n, data: 'b' }
    }
  })
  const client = await open('/numbered')
  await until(() => bodyOf(client).isWhole)
  t.equal(bodyOf(client).body, 'event: 1.5\nid: 9007199254740993\ndata: a\n\nevent: -5\nid: 0\ndata: b\n\n')
})

t.test('an event that breaks the contract ends the stream, and the log has the reason', async t => {
  const wrong: Array<[unknown, RegExp]> = [
    [{ data: { id: 'x' } }, /at id must be an integer/],
    [{ data: 'x'.repeat(21) }, /must have at most 20 characters/],
    [{ event: 'a\nb', data: 'x' }, /field event of an event must have one line/],
    [{ event: true, data: 'x' }, /field event of an event must be a string or an exact number/],
    [{ id: 2 ** 53, data: 'x' }, /field id of an event must be a string or an exact number/],
    [{ id: NaN, data: 'x' }, /field id of an event must be a string or an exact number/],
    [{ id: 'a\0', data: 'x' }, /field id of an event must have one line/],
    [{ retry: 1.5, data: 'x' }, /field retry/],
    [{ retry: '1\ndata: y', data: 'x' }, /field retry/],
    [undefined, /undefined/]
  ]
  for (const [event, reason] of wrong) {
    const events = new Events()
    const { open, causes, counted } = await start(t, { body: () => events })
    const client = await open('/events')
    await until(() => events.asked === 1)
    events.send({ data: 'x' })
    await until(() => events.asked === 2)
    events.send(event)
    await client.closed
    t.strictSame(bodyOf(client), { body: 'data: x\n\n', isWhole: false })
    t.match(causes(), [reason])
    t.equal(events.returned, 1)
    await until(() => counted.length === 1)
    t.strictSame(counted, [['GET', 200]])
  }
})

t.test('a body that is no iterable of events is 500, and an iterator that fails ends the stream', async t => {
  const { open, causes } = await start(t, { body: () => ({}) })
  const client = await open('/events')
  await until(() => client.text.includes('\r\n\r\n'))
  t.match(client.text, /^HTTP\/1.1 500 /)
  t.match(causes(), [/is not an async iterable of events/])
  for (const thrown of [new Error('out of events'), 'out of events']) {
    const events = new Events()
    const { open, causes } = await start(t, { body: () => events })
    const client = await open('/events')
    await until(() => events.asked === 1)
    events.fail(thrown)
    await client.closed
    t.notOk(bodyOf(client).isWhole)
    t.strictSame([causes(), events.returned], [['out of events'], 0])
  }
})

t.test('an iterator gets its return() when the client goes away', async t => {
  const events = new Events()
  const { open, causes, counted } = await start(t, { body: () => events })
  const client = await open('/events')
  await until(() => events.asked === 1)
  client.socket.destroy()
  await until(() => events.returned === 1 && counted.length === 1)
  t.strictSame([causes(), counted], [[], [['GET', 200]]])
  events.send({ data: 'late' })
  await sleep(20)
  t.equal(events.asked, 1)
})

t.test('an iterator that fails after the client went away is logged', async t => {
  const events = new Events()
  const { open, causes } = await start(t, {
    body: () => ({
      [Symbol.asyncIterator]: () => ({
        ...events[Symbol.asyncIterator](),
        return: async () => { throw new Error('cannot return') }
      })
    })
  })
  const client = await open('/events')
  await until(() => events.asked === 1)
  client.socket.destroy()
  await until(() => causes().length === 1)
  events.fail(new Error('late'))
  await until(() => causes().length === 2)
  t.strictSame(causes(), ['cannot return', 'late'])
})

t.test('the next event is asked for only when the client has taken the last ones', async t => {
  let asked = 0
  let isReturned = false
  const { open } = await start(t, {
    body: async function * () {
      try {
        for (;;) {
          asked++
          yield { data: { id: 1n, ['x'.repeat(10)]: 1 }, id: 'x'.repeat(60_000) }
        }
      } finally {
        isReturned = true
      }
    }
  })
  const client = await open('/events')
  client.socket.pause()
  await sleep(500)
  const whilePaused = asked
  await sleep(200)
  t.equal(asked, whilePaused, `${asked} events of 60 KB were asked for`)
  t.ok(asked < 200)
  client.socket.resume()
  await until(() => asked > whilePaused)
  client.socket.destroy()
  await until(() => isReturned)
})

t.test('a client that stops reading is disconnected, and an idle stream is not', async t => {
  let isReturned = false
  const { open } = await start(t, {
    stalledTimeoutMs: 400,
    body: async function * () {
      try {
        for (;;) yield { id: 'x'.repeat(60_000), data: 'x' }
      } finally {
        isReturned = true
      }
    }
  })
  const client = await open('/events')
  client.socket.pause()
  const elapsed = startLoopClock(t)
  const began = performance.now()
  await until(() => isReturned)
  t.ok(performance.now() - began >= 399, 'not before its time')
  t.ok(elapsed() < 3000, `disconnected after ${elapsed()} ms`)

  const events = new Events()
  const { open: openIdle } = await start(t, { body: () => events, stalledTimeoutMs: 400 })
  const idle = await openIdle('/events')
  await until(() => events.asked === 1)
  idle.socket.pause()
  // More than the buffers of the system hold: then no further event is asked for.
  for (let sent = 0; events.asked > sent; sent++) {
    events.send({ id: 'x'.repeat(60_000), data: 'x' })
    for (let turn = 0; turn < 10 && events.asked === sent + 1; turn++) await sleep(5)
  }
  const asked = events.asked
  await sleep(200)
  idle.socket.resume()
  await until(() => events.asked > asked)
  await sleep(1500)
  t.notOk(idle.socket.closed, 'the client was slow for a while, and then reads all')
  t.equal(events.returned, 0)
})

t.test('a shutdown ends an open stream of events within its time', async t => {
  const events = new Events()
  const { app, open } = await start(t, { body: () => events, drainMs: 200 })
  const client = await open('/events')
  await until(() => events.asked === 1)
  const elapsed = startLoopClock(t)
  const began = performance.now()
  const closed = app.close()
  await sleep(100)
  events.send({ data: 'still here' })
  await closed
  await client.closed
  t.ok(performance.now() - began >= 399, 'not before its time')
  t.ok(elapsed() < 2000, `closed after ${elapsed()} ms`)
  t.strictSame(bodyOf(client), { body: 'data: still here\n\n', isWhole: false })
  await until(() => events.returned === 1)
})

t.test('a shutdown ends a stream that is quiet for a second, and no other response', async t => {
  const events = new Events()
  const late = Promise.withResolvers<string>()
  const large = 'x'.repeat(20_000_000)
  const bodies = [events, Readable.from([large]), Readable.from([late.promise])]
  const { app, open } = await start(t, { body: () => bodies.shift(), drainMs: 20_000 })
  const quiet = await open('/events')
  await until(() => events.asked === 1 && quiet.text.includes('200 OK'))
  const slow = await open('/file')
  await until(() => slow.text !== '')
  slow.socket.pause()
  const pending = await open('/file')
  await until(() => bodies.length === 0)
  const clock = stopClock(t)
  const closed = app.close()
  await sleep(300)
  clock.advance(999)
  await sleep(300)
  events.send({ data: 'still here' })
  await until(() => quiet.text.includes('still here'))
  await sleep(300)
  clock.advance(999)
  await sleep(300)
  t.notOk(quiet.socket.closed, 'an event is a sign of life')
  clock.advance(1)
  await quiet.closed
  await until(() => events.returned === 1)
  t.strictSame(bodyOf(quiet), { body: 'data: still here\n\n', isWhole: false })
  t.notOk(slow.socket.closed, 'it has not sent all')
  slow.socket.resume()
  late.resolve('late')
  await Promise.all([closed, slow.closed, pending.closed])
  t.ok(bodyOf(slow).isWhole)
  t.strictSame(bodyOf(pending), { body: 'late', isWhole: true })
})

t.test('a stream that fails before its first byte is 500, and later it ends the connection', async t => {
  let source = new Readable({ read () {} })
  const { open, causes, counted } = await start(t, { body: () => source })
  let client = await open('/file')
  await sleep(50)
  source.destroy(new Error('no such file'))
  await until(() => client.text.includes('"error":500'))
  t.match(client.text, /^HTTP\/1.1 500 .*Content-Type: application\/json; charset=utf-8\r/is)

  source = new Readable({ read () {} })
  client = await open('/file')
  source.push('first')
  await until(() => client.text.includes('first'))
  await sleep(300)
  source.destroy(new Error('disk failed'))
  await client.closed
  t.strictSame(bodyOf(client), { body: 'first', isWhole: false })

  source = new Readable({ read () {} })
  client = await open('/file')
  source.push('first')
  await until(() => client.text.includes('first'))
  source.destroy()
  await client.closed
  t.notOk(bodyOf(client).isWhole, 'destroyed without an error')
  t.match(causes(), ['no such file', 'disk failed', /Premature close/])
  await until(() => counted.length === 3)
  t.strictSame(counted, [['GET', 500], ['GET', 200], ['GET', 200]])
})

t.test('a stream of anything but bytes and text is 500, and later it breaks off', async t => {
  let values: unknown[] = []
  const { open, causes } = await start(t, { body: () => Readable.from(values) })
  for (const value of [{ a: 1 }, 5, undefined]) {
    values = [value]
    const client = await open('/file')
    await until(() => client.text.includes('"error":500'))
    client.socket.destroy()
  }
  values = ['first', { a: 1 }]
  const client = await open('/file')
  await client.closed
  t.strictSame(bodyOf(client), { body: 'first', isWhole: false })
  t.strictSame(causes(), ['object', 'number', 'undefined', 'object'].map(type => {
    return `a stream has a value of type ${type}, which is neither bytes nor text`
  }))
  values = ['first', Buffer.from(', '), new Uint8Array([50])]
  const whole = await open('/file')
  await until(() => whole.text.includes(', '))
  t.strictSame(bodyOf(whole), { body: 'first, 2', isWhole: true })
})

t.test('a stream is destroyed when its client goes away, and read no faster than the client', async t => {
  let read = 0
  const source = new Readable({
    read () {
      read++
      this.push(Buffer.alloc(60_000))
    }
  })
  const { open, causes } = await start(t, { body: () => source, stalledTimeoutMs: 400 })
  const client = await open('/file')
  client.socket.pause()
  await new Promise(resolve => source.once('close', resolve))
  t.ok(read < 200, `${read} chunks of 60 KB were read`)
  t.strictSame(causes(), [])
})
