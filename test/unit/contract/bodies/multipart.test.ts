import { once } from 'node:events'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { readParts } from '../../../../src/contract/bodies/multipart-parts.ts'
import { serveBodies } from '../../../fixtures/bodies.ts'

const png = new Blob([Buffer.from('\x89PNG', 'latin1')], { type: 'image/png' })
const pdf = new Blob(['%PDF'], { type: 'application/pdf' })

type Field = [name: string, value: string | Blob, filename?: string]

function formOf (...fields: Field[]): FormData {
  const form = new FormData()
  for (const [name, value, filename] of fields) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, value, filename ?? 'a.png')
  }
  return form
}

/** A body of these parts: header lines and content. */
function rawForm (...parts: Array<[head: string, content: string]>): string {
  return [
    ...parts.map(([head, content]) => `--B\r\n${head}\r\n\r\n${content}\r\n`),
    '--B--\r\n'
  ].join('')
}

const type = 'multipart/form-data; boundary=B'
const avatar: Field = ['avatar', png]
const id: Field = ['id', '9007199254740993']
const named = (name: string) => `Content-Disposition: form-data; name="${name}"`
const rawId: [string, string] = [named('id'), '1']
const rawAvatar: [string, string] = [
  `${named('avatar')}; filename="a"\r\nContent-Type: image/png`,
  'x'
]
const seenAvatar = {
  name: 'avatar',
  filename: 'a.png',
  contentType: 'image/png',
  file: 'bytes \x89PNG'
}
const seenId = { name: 'id', value: '9007199254740993n' }

t.test(
  'the parts of a form come in the order sent, files as streams and fields as values',
  async t => {
    const { send } = await serveBodies(t)
    const upload = (...fields: Field[]) => send('/upload', undefined, formOf(...fields))
    const blob = (text: string, type: string) => new Blob([text], { type })
    const fine: Array<[fields: Field[], parts: object[]]> = [
      [
        [id, avatar],
        [seenId, seenAvatar]
      ],
      [
        [avatar, id],
        [seenAvatar, seenId]
      ],
      [
        [id, avatar, ['attachments', pdf, 'ü 1.pdf'], ['attachments', pdf, '/etc/../b.pdf']],
        [
          seenId,
          seenAvatar,
          {
            name: 'attachments',
            filename: 'ü 1.pdf',
            contentType: 'application/pdf',
            file: 'bytes %PDF'
          },
          {
            name: 'attachments',
            filename: 'b.pdf',
            contentType: 'application/pdf',
            file: 'bytes %PDF'
          }
        ]
      ],
      [
        [id, avatar, ['place', '{"name":"x","number":9007199254740993}']],
        [seenId, seenAvatar, { name: 'place', value: { name: 'x', number: '9007199254740993n' } }]
      ],
      [
        [id, avatar, ['place', blob('{"name":"x"}', 'application/json')]],
        [seenId, seenAvatar, { name: 'place', value: { name: 'x' } }]
      ],
      [
        [id, avatar, ['places', '{"name":"x"}'], ['places', '{"name":"y"}']],
        [
          seenId,
          seenAvatar,
          { name: 'places', value: { name: 'x' } },
          { name: 'places', value: { name: 'y' } }
        ]
      ],
      [
        [id, avatar, ['labels', 'ab'], ['labels', 'cd']],
        [seenId, seenAvatar, { name: 'labels', value: 'ab' }, { name: 'labels', value: 'cd' }]
      ],
      [
        [id, avatar, ['labels', blob('["ab","cd"]', 'application/json')]],
        [seenId, seenAvatar, { name: 'labels', value: 'ab' }, { name: 'labels', value: 'cd' }]
      ],
      [
        [id, avatar, ['source', 'https://a.example/b']],
        [seenId, seenAvatar, { name: 'source', value: 'https://a.example/b' }]
      ],
      [
        [id, avatar, ['source', png]],
        [seenId, seenAvatar, { ...seenAvatar, name: 'source' }]
      ],
      [
        [id, avatar, ['image', png]],
        [seenId, seenAvatar, { ...seenAvatar, name: 'image' }]
      ],
      [
        [id, avatar, ['image', png], ['image', png]],
        [seenId, seenAvatar, { ...seenAvatar, name: 'image' }, { ...seenAvatar, name: 'image' }]
      ],
      [
        [id, avatar, ['picture', 'iVBORw==']],
        [seenId, seenAvatar, { name: 'picture', value: 'iVBORw==' }]
      ],
      [
        [
          id,
          avatar,
          ['size', '1'],
          ['color', 'red'],
          ['box', '{"a":1}'],
          ['list', '1'],
          ['list', '2'],
          ['sign', png]
        ],
        [
          seenId,
          seenAvatar,
          { name: 'size', value: 1 },
          { name: 'color', value: 'red' },
          { name: 'box', value: { a: 1 } },
          { name: 'list', value: 1 },
          { name: 'list', value: 2 },
          { ...seenAvatar, name: 'sign' }
        ]
      ],
      [
        [id, avatar, ['extra', 'x'], ['extra', png]],
        [seenId, seenAvatar, { name: 'extra', value: 'x' }, { ...seenAvatar, name: 'extra' }]
      ]
    ]
    for (const [fields, parts] of fine) {
      t.strictSame(await upload(...fields), [200, { body: parts }], JSON.stringify(fields.slice(2)))
    }
    const wrong: Array<[fields: Field[], message: RegExp]> = [
      [[id], /^The body must have the member "avatar"\.$/],
      [[], /^The body must have the member "id"\. The body must have the member "avatar"\.$/],
      [[id, ['avatar', pdf]], /^"avatar" in the body must be sent as image\/png or image\/jpeg\.$/],
      [[id, avatar, avatar], /^"avatar" in the body is sent more than once\.$/],
      [[id, id, avatar], /^"id" in the body is sent more than once\.$/],
      [[['id', 'x'], avatar], /^"id" in the body must be an integer from/],
      [[id, avatar, ['place', 'x']], /^"place" in the body must be an object\.$/],
      [
        [id, avatar, ['place', blob('{"name":"x"', 'application/json')]],
        /^"place" in the body is not valid JSON: unexpected end at column 12\.$/
      ],
      [
        [id, avatar, ['box', blob('{"a":1', 'application/json')]],
        /^"box" in the body is not valid JSON: unexpected end at column 7\.$/
      ],
      [
        [id, avatar, ['place', '{"name":"x","number":1.5}']],
        /^"place\/number" in the body must be an integer/
      ],
      [
        [id, avatar, ['labels', 'x']],
        /^"labels" in the body must have at least 2 characters\.$/
      ],
      [
        [id, avatar, ['labels', '["ab"]'], ['labels', '["ab"]']],
        /^"labels" in the body is sent more than once\.$/
      ],
      [
        [id, avatar, ['labels', '["ab"]'], ['labels', 'ab']],
        /^"labels" in the body is sent more than once\.$/
      ],
      [
        [id, avatar, ['labels', 'ab'], ['labels', '["ab"]']],
        /^"labels" in the body is sent more than once\.$/
      ],
      [
        [id, avatar, ...Array<Field>(3).fill(['attachments', pdf])],
        /"attachments" .* at most 2 items/
      ],
      [[id, avatar, ['other', 'x']], /^The body must not have the member "other"\.$/],
      [[id, avatar, ['other', png]], /^The body must not have the member "other"\.$/],
      [[id, avatar, ['__proto__', 'x']], /^The body must not have the member "__proto__"\.$/],
      [[id, avatar, ['constructor', 'x']], /^The body must not have the member "constructor"\.$/],
      [
        [id, avatar, ['secret', 'x']],
        /^"secret" in the body must not be sent\.$|must not have the member "secret"/
      ]
    ]
    for (const [fields, message] of wrong) {
      t.match(await upload(...fields), [400, message], JSON.stringify(fields.map(([name]) => name)))
    }
    const any = await send(
      '/any',
      undefined,
      formOf(['id', '1'], ['__proto__', 'x'], ['x', 'y'], ['x', png])
    )
    t.strictSame(any, [
      200,
      { contentType: 'multipart/form-data', body: [{ name: 'id', value: '1n' }] }
    ])
  }
)

t.test('a form without a schema has any parts', async t => {
  const { send } = await serveBodies(t)
  t.match(await send('/open', undefined, formOf(['a', '1'], ['b', new Blob(['x']), 'b'])), [
    200,
    {
      contentType: 'multipart/form-data',
      body: [
        { name: 'a', value: '1' },
        { name: 'b', file: 'bytes x' }
      ]
    }
  ])
})

t.test('malformed parts are answered 400', async t => {
  const { send } = await serveBodies(t)
  t.match(await send('/upload', type, rawForm(rawId, rawAvatar)), [
    200,
    { body: [{ name: 'id' }, { file: 'bytes x' }] }
  ])
  const wrong: Array<[body: string, message: RegExp]> = [
    [
      rawForm(rawId, rawAvatar).replaceAll('--B', '--C'),
      /^The body is not complete .* with the boundary/
    ],
    [rawForm(rawId, rawAvatar).replace('--B--\r\n', ''), /^The body is not complete/],
    [rawForm(rawId, rawAvatar).slice(0, 40), /^The body is not complete/],
    ['x', /^The body is not complete/],
    [
      rawForm(rawId, ['Content-Disposition: form-data', 'x']),
      /^A part of the body is not form data with a name\.$/
    ],
    [
      rawForm([`${named('id')}\r\nContent-Transfer-Encoding: base64`, 'MQ==']),
      /^"id" in the body must be sent without/
    ],
    [rawForm([named('id'), '\xff']), /^"id" in the body is not valid UTF-8\.$/],
    [
      rawForm([named('id'), '1'], [named('avatar'), 'x']),
      /^"avatar" in the body must be sent as image\/png/
    ]
  ]
  for (const [body, message] of wrong) {
    t.match(
      await send('/upload', type, Buffer.from(body, 'latin1')),
      [400, message],
      body.slice(0, 60)
    )
  }
  const long = `; boundary=${'x'.repeat(71)}`
  for (const after of [
    '',
    '; boundary',
    '; boundary=',
    '; boundary=B; x=y',
    '; boundary=B;boundary=C',
    long
  ]) {
    const response = await send('/upload', `multipart/form-data${after}`, rawForm(rawId, rawAvatar))
    t.match(response, [415, /as Content-Type: multipart\/form-data with a boundary\.$/], after)
  }
  t.match(await send('/upload', `${type}; charset=utf-8`, rawForm(rawId, rawAvatar)), [200, {}])
  t.match(await send('/upload', 'multipart/form-data; boundary="B"', rawForm(rawId, rawAvatar)), [
    200,
    {}
  ])
})

t.test('a part that is not form data is answered 400, wherever it is', async t => {
  const { send } = await serveBodies(t)
  const heads = [
    'Content-Type: text/plain',
    'Content-Disposition: attachment; name="note"',
    `X: ${'x'.repeat(17_000)}\r\n${named('a')}`,
    `${named('note')}; filename="a\rb"`
  ]
  const message = 'A part of the body is not form data with a name.'
  for (const head of heads) {
    for (const content of ['', 'x', 'x'.repeat(100_000)]) {
      for (const parts of [
        [rawId, rawAvatar, [head, content]],
        [rawId, [head, content], rawAvatar],
        [[head, content]]
      ]) {
        const body = rawForm(...(parts as Array<[string, string]>))
        t.strictSame(await send('/upload', type, body), [400, message], body.slice(0, 200))
      }
    }
  }
  const cut = rawForm(rawId, rawAvatar).replace('--B--', `--B\r\n${named('labels')}\r\n--B--`)
  t.strictSame(await send('/upload', type, cut), [400, message], 'a header without its end')
})

t.test('every chunking of a form has the same parts', async t => {
  const { send } = await serveBodies(t)
  const whole = rawForm(rawId, rawAvatar, [named('labels'), 'a\r\n-c'], [named('labels'), ''])
  const fine = await send('/upload', type, rawForm(rawId, rawAvatar, [named('labels'), 'a\r\n-c']))
  t.match(fine, [200, { body: { length: 3 } }])
  const expected = await send('/upload', type, whole)
  for (let end = 1; end < whole.length; end++) {
    const chunks = ReadableStream.from([
      Buffer.from(whole.slice(0, end)),
      Buffer.from(whole.slice(end))
    ])
    const answer = await send('/upload', type, chunks)
    if (JSON.stringify(answer) !== JSON.stringify(expected)) {
      t.fail(`${end}: ${JSON.stringify(answer)}`)
    }
  }
})

t.test('every cut of a form is answered 400, and none stops the service', async t => {
  const { send } = await serveBodies(t)
  const whole = rawForm(rawId, rawAvatar, [named('labels'), 'abc'])
  // The closing delimiter may end without a line break.
  for (let end = 1; end < whole.length - 2; end++) {
    const [status, message] = await send('/upload', type, whole.slice(0, end))
    if (status !== 400) t.fail(`${end}: ${status} ${JSON.stringify(message)}`)
  }
  t.match(await send('/upload', type, whole), [200, {}])
})

t.test('the limits of a form are answered 413', async t => {
  const bodyLimits = { streamBytes: 5000, fileBytes: 1000, parts: 10, fieldBytes: 100 }
  const { send } = await serveBodies(t, { bodyLimits })
  const file = (size: number) => new Blob(['x'.repeat(size)], { type: 'image/png' })
  t.match(await send('/upload', undefined, formOf(id, ['avatar', file(1000)])), [200, {}])
  const [, message] = await send('/upload', undefined, formOf(id, ['avatar', file(1001)]))
  t.equal(message, 'A file in the body is larger than 1000 bytes.')
  const large = 'The body is larger than 5000 bytes, the limit of this service.'
  t.strictSame(await send('/upload', undefined, formOf(id, ['avatar', file(5000)])), [413, large])
  const start = Buffer.from(rawForm(rawId, [named('extra'), '']).slice(0, -8))
  const chunks = () => ReadableStream.from([start, ...Array(60).fill(Buffer.alloc(100))])
  t.match(await send('/upload', type, chunks()), [413, /larger than/], 'without Content-Length')
  const labels = (count: number, text: string): Field[] => Array(count).fill(['labels', text])
  t.match(await send('/upload', undefined, formOf(id, avatar, ...labels(8, 'ab'))), [200, {}])
  t.strictSame(await send('/upload', undefined, formOf(id, avatar, ...labels(9, 'ab'))), [
    413,
    'The body has more than 10 parts.'
  ])
  t.strictSame(await send('/upload', undefined, formOf(id, avatar, ...labels(3, 'x'.repeat(40)))), [
    413,
    'The fields of the form are larger than this service accepts.'
  ])
})

t.test('the names of parts count like the values of fields, also of undeclared parts', async t => {
  const { send } = await serveBodies(t, { bodyLimits: { fieldBytes: 100 } })
  const large = [413, 'The fields of the form are larger than this service accepts.']
  const post = (...names: string[]) =>
    send(
      '/any',
      type,
      rawForm(
        ...names.map((name): [string, string] => {
          return [`${named(name)}; filename="x"`, 'x']
        })
      )
    )
  t.match(await post('x'.repeat(40), 'y'.repeat(40), 'y'.repeat(40)), [
    400,
    /must have the member "id"/
  ])
  t.strictSame(await post('x'.repeat(40), 'y'.repeat(60)), large)
  t.strictSame(await post('\u0001'.repeat(17)), large, 'as JSON, which escapes')
  t.strictSame(
    await send('/any', type, rawForm(rawId, [named('x'.repeat(100)), ''])),
    large,
    'an undeclared field'
  )
})

t.test('many long names cost little', async t => {
  const { app } = await serveBodies(t)
  const names = Array.from({ length: 990 }, (_, i) => `${i}${'\u0001'.repeat(15_500)}`)
  const payload = rawForm(...names.map((name): [string, string] => [named(name), '']))
  const headers = { 'content-type': type }
  const { statusCode } = await app.inject({ method: 'POST', url: '/any', headers, payload })
  t.equal(statusCode, 413)
})

t.test('a form of many values gets the sentence of its first fault', async t => {
  const { send } = await serveBodies(t)
  const labels = Array<Field>(70).fill(['labels', 'ab'])
  t.strictSame(await send('/upload', undefined, formOf(avatar, ...labels)), [
    400,
    'The body must have the member "id".'
  ])
})

t.test('thousands of parts are read', async t => {
  const { send } = await serveBodies(t, { bodyLimits: { parts: 5000 }, responseTimeoutMs: 60_000 })
  const labels = (count: number) => Array<[string, string]>(count).fill([named('labels'), 'ab'])
  const [status, { body }] = await send('/upload', type, rawForm(rawId, rawAvatar, ...labels(4998)))
  t.strictSame([status, body.length], [200, 5000])
  t.strictSame(await send('/upload', type, rawForm(rawId, rawAvatar, ...labels(4999))), [
    413,
    'The body has more than 5000 parts.'
  ])
})

t.test('parts that a handler does not read are dropped, and so is a form', async t => {
  const names: string[] = []
  const { send } = await serveBodies(t, {
    handlers: {
      async upload ({ body }) {
        for await (const { name, file } of body) {
          names.push(name)
          // Reads the first bytes only.
          if (name === 'attachments') {
            await once(file, 'readable')
            file.destroy()
          }
        }
        return { status: 200, body: names }
      },
      async sendAny ({ body }) {
        await body.next()
        await body.return()
        return { status: 200, body: 'enough' }
      },
      sendBytes: async () => ({ status: 200, body: 'nothing' })
    }
  })
  const large = new Blob([Buffer.alloc(1024 * 1024)], { type: 'image/png' })
  t.strictSame(
    await send('/upload', undefined, formOf(['avatar', large], ['attachments', large], id)),
    [200, ['avatar', 'attachments', 'id']]
  )
  t.strictSame(await send('/any', undefined, formOf(id, ['x', large])), [200, 'enough'])
  t.strictSame(await send('/bytes', 'application/octet-stream', large, 'PUT'), [200, 'nothing'])
})

t.test('a body is read no further than its parts are', async t => {
  let sent = 0
  async function * pieces () {
    yield Buffer.from(`--B\r\n${named('avatar')}; filename="a"\r\n\r\n`)
    for (; sent < 50; sent++) yield Buffer.alloc(64 * 1024)
    yield Buffer.from('\r\n--B--\r\n')
  }
  const limits = { parts: 1, fileBytes: 10_000_000, fieldBytes: 0 }
  for await (const { file } of readParts(Readable.from(pieces()), type, limits)) {
    await sleep(20)
    t.ok(sent < 10, `${sent} of 50 pieces were sent`)
    let size = 0
    for await (const piece of file) size += piece.length
    t.equal(size, 50 * 64 * 1024)
  }
})
