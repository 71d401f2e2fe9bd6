// Bodies that a handler reads while they arrive, over real sockets.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { BodyStream } from '../../../../src/contract/bodies/body-stream.ts'
import { serveBodies } from '../../../fixtures/bodies.ts'
import { exchangeOne, requestText } from '../../../fixtures/raw.ts'

const multipart = 'multipart/form-data; boundary=B'
const fileHead =
  '--B\r\nContent-Disposition: form-data; name="id"\r\n\r\n1\r\n--B\r\n' +
  'Content-Disposition: form-data; name="avatar"; filename="a"\r\nContent-Type: image/png\r\n\r\n'
const mebibyte = Buffer.alloc(1024 * 1024)

function head (target: string, type: string, ...fields: string[]): string {
  return requestText(target, ['Host: x', `Content-Type: ${type}`, ...fields])
}

async function open (t: Test, port: number): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  let text = ''
  socket
    .setEncoding('latin1')
    .on('data', chunk => {
      text += chunk
    })
    .on('error', () => {})
  await once(socket, 'connect')
  return { socket, received: () => text }
}

/** Waits until the system takes no more bytes of a socket. */
async function settled (socket: Socket): Promise<void> {
  for (let before = -1; socket.writableLength !== before;) {
    before = socket.writableLength
    await sleep(500)
  }
}

t.test('bytes and events are a stream', async t => {
  const { send } = await serveBodies(t)
  const type = 'application/octet-stream'
  t.strictSame(await send('/bytes', type, 'a\0b', 'PUT'), [200, { body: 'bytes a\0b' }])
  t.strictSame(await send('/bytes', `${type}; x="a;b"`, 'ab', 'PUT'), [200, { body: 'bytes ab' }])
  t.strictSame(await send('/bytes', undefined, null, 'PUT'), [200, {}])
  t.strictSame(await send('/bytes', 'text/plain', 'x', 'PUT'), [
    415,
    `The body must be sent as Content-Type: ${type}.`
  ])
  const contentType = 'text/event-stream'
  t.strictSame(await send('/open', contentType, 'data: x'), [
    200,
    { contentType, body: 'bytes data: x' }
  ])
})

t.test('a handler that keeps one of many small parts slows the sender', async t => {
  const reading = Promise.withResolvers<void>()
  const mayRead = Promise.withResolvers<void>()
  let parts = 0
  const { port } = await serveBodies(t, {
    handlers: {
      async sendAny ({ body }) {
        for await (const { name } of body) {
          if (name === 'id') parts++
          reading.resolve()
          await mayRead.promise
        }
        return { status: 200, body: parts }
      }
    },
    bodyLimits: { parts: 1e6, fieldBytes: 1e9 },
    responseTimeoutMs: 60_000
  })
  const { socket, received } = await open(t, port)
  const disposition = 'Content-Disposition: form-data; name="note"; filename="x"'
  const part = `--B\r\n${disposition}\r\n\r\n${'x'.repeat(16_000)}\r\n`
  const count = 2000
  const others = part.replace('note', 'other').repeat(count)
  const body = `${part
    .replace('note', 'id')
    .replace('; filename="x"', '')
    .replace(/x{16000}/, '1')}${others}--B--\r\n`
  socket.write(`${head('POST /any', multipart, `Content-Length: ${body.length}`)}${body}`)
  await reading.promise
  await settled(socket)
  t.ok(
    socket.writableLength > body.length / 2,
    `${socket.writableLength} of ${body.length} bytes wait in the client`
  )
  mayRead.resolve()
  while (!received().includes('\r\n\r\n')) await once(socket, 'data')
  t.match(received(), /^HTTP\/1.1 200 /)
})

for (const { name, target, type, start } of [
  { name: 'a stream', target: 'PUT /bytes', type: 'application/octet-stream', start: '' },
  { name: 'a file of a form', target: 'POST /upload', type: multipart, start: fileHead }
]) {
  t.test(`a handler that reads ${name} slowly slows the sender`, async t => {
    const reading = Promise.withResolvers<void>()
    const mayRead = Promise.withResolvers<void>()
    const read = async (body: AsyncIterable<any>) => {
      let size = 0
      for await (const chunk of body) {
        size += chunk.length
        reading.resolve()
        await mayRead.promise
      }
      return size
    }
    const { port } = await serveBodies(t, {
      handlers: {
        sendBytes: async ({ body }) => ({ status: 200, body: await read(body) }),
        async upload ({ body }) {
          let size = 0
          for await (const part of body) if (part.file) size = await read(part.file)
          return { status: 200, body: size }
        }
      },
      responseTimeoutMs: 60_000
    })
    const { socket, received } = await open(t, port)
    const size = 64 * mebibyte.length
    const end = type === multipart ? '\r\n--B--\r\n' : ''
    socket.write(
      `${head(target, type, `Content-Length: ${start.length + size + end.length}`)}${start}`
    )
    for (let i = 0; i < 64; i++) socket.write(mebibyte)
    socket.write(end)
    await reading.promise
    await settled(socket)
    // The system buffers a few megabytes.
    const before = process.memoryUsage().arrayBuffers
    t.ok(socket.writableLength > size / 2, `${socket.writableLength} bytes wait in the client`)
    t.ok(socket.bytesWritten - socket.writableLength < size / 2)
    mayRead.resolve()
    while (!received().includes('\r\n\r\n')) await once(socket, 'data')
    t.match(received(), new RegExp(`^HTTP/1.1 200 [^]*\\r\\n\\r\\n${size}$`))
    t.ok(process.memoryUsage().arrayBuffers - before < size, 'memory')
  })

  t.test(
    `a client that stops in the middle of ${name} ends the handler's reading with an error`,
    async t => {
      let started = Promise.withResolvers<void>()
      let failed = Promise.withResolvers<Error>()
      const read = async (body: Readable) => {
        try {
          body.once('data', () => started.resolve())
          await finished(body.resume())
        } catch (error) {
          failed.resolve(error as Error)
          throw error
        }
      }
      const handlers = {
        sendBytes: async ({ body }: any) => ({ status: 200, body: await read(body) }),
        async upload ({ body }: any) {
          for await (const part of body) if (part.file) await read(part.file)
          return { status: 200, body: 1 }
        }
      }
      const { port, send } = await serveBodies(t, { handlers })
      for (const stop of ['end', 'resetAndDestroy'] as const) {
        started = Promise.withResolvers()
        failed = Promise.withResolvers()
        const { socket } = await open(t, port)
        socket.write(`${head(target, type, 'Content-Length: 100000')}${start}${'x'.repeat(1000)}`)
        await started.promise
        socket[stop]()
        t.match(
          await failed.promise,
          { status: 400, message: 'The body ended before it was complete.' },
          stop
        )
      }
      t.match(await send('/text', 'text/plain', 'x'), [200, { body: 'x' }], 'the service goes on')
    }
  )
}

t.test('a body that is too large is answered 413 and its connection closed', async t => {
  let calls = 0
  const { port } = await serveBodies(t, {
    handlers: {
      async sendBytes ({ body }) {
        calls++
        return { status: 200, body: (await body.toArray()).length }
      }
    },
    bodyLimits: { streamBytes: 100 }
  })
  const type = 'application/octet-stream'
  const announced = await exchangeOne(
    port,
    `${head('PUT /bytes', type, 'Content-Length: 101')}${'x'.repeat(50)}`
  )
  t.match(announced, {
    statusCode: 413,
    headers: { connection: 'close' },
    body: /larger than 100 bytes/
  })
  t.equal(calls, 0, 'no handler for a body that says its size')
  const chunk = `32\r\n${'x'.repeat(50)}\r\n`
  const chunkedHead = head('PUT /bytes', type, 'Transfer-Encoding: chunked')
  const chunked = await exchangeOne(port, `${chunkedHead}${chunk.repeat(3)}`)
  t.match(chunked, {
    statusCode: 413,
    headers: { connection: 'close' },
    body: /larger than 100 bytes/
  })
  const closingHead = head('PUT /bytes', type, 'Transfer-Encoding: chunked', 'Connection: close')
  const fine = `${closingHead}${chunk.repeat(2)}0\r\n\r\n`
  t.match(await exchangeOne(port, fine), { statusCode: 200 })
})

t.test(
  'the connection of a body that is read whole stays open, that of another is closed',
  async t => {
    const { port } = await serveBodies(t, {
      handlers: { sendBytes: async () => ({ status: 200, body: 'early' }) }
    })
    const { socket, received } = await open(t, port)
    const type = 'application/octet-stream'
    socket.write(`${head('POST /any', type, 'Content-Length: 3')}abc`)
    await once(socket, 'data')
    t.match(received(), /^HTTP\/1.1 200 [^]*connection: keep-alive[^]*bytes abc/i)
    socket.write(`${head('PUT /bytes', type, 'Content-Length: 3000000')}abc`)
    await once(socket, 'data')
    t.match(received().slice(10), /HTTP\/1.1 200 [^]*connection: close[^]*"early"$/i)
    await once(socket, 'close')
  }
)

t.test('a client that waits for 100 Continue gets it when the handler reads', async t => {
  const { port } = await serveBodies(t, {
    handlers: {
      async sendBytes ({ body }) {
        return { status: 200, body: String(await body.toArray()) }
      }
    }
  })
  const { socket, received } = await open(t, port)
  socket.write(
    head('PUT /bytes', 'application/octet-stream', 'Content-Length: 3', 'Expect: 100-continue')
  )
  await once(socket, 'data')
  t.match(received(), /^HTTP\/1.1 100 /)
  socket.write('abc')
  await once(socket, 'data')
  t.match(received(), /HTTP\/1.1 200 [^]*"abc"$/)
})

t.test('a handler may destroy the stream and still respond', async t => {
  const { send } = await serveBodies(t, {
    handlers: {
      async sendBytes ({ body }) {
        await once(body, 'readable')
        body.destroy()
        return { status: 200, body: body.destroyed }
      }
    }
  })
  t.strictSame(await send('/bytes', 'application/octet-stream', mebibyte, 'PUT'), [200, true])
})

t.test('a stream whose client left before the handler began fails at once', async t => {
  const request = new Readable({ read () {} })
  request.destroy()
  const stream = new BodyStream(request as IncomingMessage, 1)
  await t.rejects(stream.toArray(), {
    status: 400,
    message: 'The body ended before it was complete.'
  })
})

t.test(
  'a body that keeps arriving extends the time limit of its handler, and one that stops does not',
  async t => {
    const { port } = await serveBodies(t, {
      handlers: {
        async sendBytes ({ body }) {
          let size = 0
          for await (const chunk of body) size += chunk.length
          if (size === 11) await sleep(5000, undefined, { ref: false })
          return { status: 200, body: size }
        }
      },
      responseTimeoutMs: 200
    })
    const upload = async (chunks: number, length: number) => {
      const { socket, received } = await open(t, port)
      socket.write(head('PUT /bytes', 'application/octet-stream', `Content-Length: ${length}`))
      for (let sent = 0; sent < chunks; sent++) {
        socket.write('x')
        await sleep(100)
      }
      while (!received().includes('\r\n\r\n')) await once(socket, 'data')
      return received()
    }
    t.match(await upload(10, 10), /^HTTP\/1.1 200 [^]*\r\n\r\n10$/)
    t.match(await upload(1, 10), /^HTTP\/1.1 503 /, 'the client stops')
    t.match(await upload(11, 11), /^HTTP\/1.1 503 /, 'the handler is late')
  }
)
