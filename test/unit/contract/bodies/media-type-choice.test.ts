import t from 'tap'
import { serveBodies, serveContent } from '../../../fixtures/bodies.ts'

t.test('the most specific media type reads the body', async t => {
  const { send } = await serveBodies(t)
  const json = 'application/json'
  const form = 'application/x-www-form-urlencoded'
  const other = 'application/vnd.other+json; charset=utf-8'
  const sent: Array<[type: string, body: string, seen: object]> = [
    [
      json,
      '{"id":9007199254740993,"x":1}',
      { contentType: json, body: { id: '9007199254740993n' } }
    ],
    [
      'Application/VND.other+json',
      '[9007199254740993]',
      { contentType: other, body: ['9007199254740993n'] }
    ],
    [form, 'id=9007199254740993', { contentType: form, body: { id: '9007199254740993n' } }],
    ['image/png', 'x', { contentType: 'image/png', body: 'bytes x' }],
    ['IMAGE/Gif;a=b', 'x', { contentType: 'image/gif', body: 'bytes x' }],
    ['text/x-any', 'x', { contentType: 'text/x-any', body: 'x' }],
    [
      'application/xml; charset=latin1',
      '<x/>',
      { contentType: 'application/xml', body: 'bytes <x/>' }
    ],
    ['application/problem+json', '[', { contentType: 'application/problem+json', body: 'bytes [' }]
  ]
  for (const [type, body, expected] of sent) {
    t.strictSame(await send('/any', type, body), [200, expected], type)
  }
  t.strictSame(await send('/any', 'application/json', '[]'), [400, 'The body must be an object, not an array.'])
  t.match(await send('/any', other, '["1"]'), [400, /^"0" in the body must be an integer from/])
  // A range never reads a type that the contract names: the handler would get bytes.
  for (const type of [
    `${json};x=y`,
    `${json}; charset=latin1`,
    `${form};x`,
    'multipart/form-data',
    'a',
    'a/b c'
  ]) {
    t.match(
      await send('/any', type, '{"id":1}'),
      [415, /^The body must be sent as Content-Type: \*\/\* or image/],
      type
    )
  }
})

t.test('an optional body may be absent, also with several media types', async t => {
  const { send } = await serveBodies(t)
  t.strictSame(await send('/maybe', undefined, null), [200, {}])
  t.strictSame(await send('/maybe', 'text/csv', 'a,b'), [
    200,
    { contentType: 'text/csv', body: 'a,b' }
  ])
  t.strictSame(await send('/maybe', 'application/json', '7'), [
    200,
    { contentType: 'application/json', body: 7 }
  ])
  t.match(await send('/maybe', 'application/xml', '7'), [
    415,
    /text\/csv or application\/json, in UTF-8\.$/
  ])
})

t.test('a body without a byte is an empty text or stream, and no JSON or form', async t => {
  const { app } = await serveBodies(t)
  const form = 'application/x-www-form-urlencoded'
  const sent: Array<
    [method: 'POST' | 'PUT', url: string, type: string | undefined, expected: object]
  > = [
    ['POST', '/text', 'text/plain', { statusCode: 200, body: '{"body":""}' }],
    ['PUT', '/bytes', 'application/octet-stream', { statusCode: 200, body: '{"body":"bytes "}' }],
    [
      'POST',
      '/any',
      'image/png',
      { statusCode: 200, body: '{"contentType":"image/png","body":"bytes "}' }
    ],
    ['POST', '/any', 'text/csv', { statusCode: 200, body: '{"contentType":"text/csv","body":""}' }],
    ['POST', '/any', 'application/json', { statusCode: 400, body: /needs a body/ }],
    [
      'POST',
      '/version',
      'application/json',
      { statusCode: 400, body: /needs a body, sent as application\/json;v=2, / }
    ],
    ['POST', '/form', form, { statusCode: 400, body: /needs a body/ }],
    ['POST', '/maybe', 'application/json', { statusCode: 200, body: '{}' }]
  ]
  for (const [method, url, type, expected] of sent) {
    for (const framing of [{ 'content-length': '0' }, { 'transfer-encoding': 'chunked' }]) {
      const headers = { 'content-type': type, ...framing }
      t.match(
        await app.inject({ method, url, headers, payload: '' }),
        expected,
        `${type} ${Object.keys(framing)[0]}`
      )
    }
  }
  const headers = { 'content-type': 'text/html', 'content-length': '0' }
  t.match(await app.inject({ method: 'POST', url: '/text', headers }), {
    statusCode: 400,
    body: /needs a body/
  })
})

t.test('the parameters of a media type in the contract may be sent, and select', async t => {
  const { send } = await serveBodies(t)
  for (const type of [
    'application/json;v=2',
    'application/json; V="2"; charset=utf-8',
    'application/json;; v=2;',
    'application/json'
  ]) {
    t.strictSame(await send('/version', type, '7'), [200, { body: 7 }], type)
  }
  const wrong = [
    'v=1',
    'v=2;v=2',
    'v=2;x=y',
    'v=2;;x',
    'v=2;charset=latin1',
    'v=2;charset=utf-8;charset=utf-8',
    'v="2'
  ]
  for (const after of wrong) {
    const expected = [415, 'The body must be sent as Content-Type: application/json;v=2, in UTF-8.']
    t.strictSame(await send('/version', `application/json;${after}`, '7'), expected, after)
  }
  const second = 'application/json; profile="a;b"; V=2'
  const selected: Array<[type: string, body: string, contentType: string]> = [
    ['application/json;v=1', '7', 'application/json;v=1'],
    ['application/json', '7', 'application/json;v=1'],
    ['application/json;charset=utf-8;v=2;profile="a\\;b"', '"x"', second],
    ['text/csv', 'a', 'text/csv'],
    ['text/csv; charset=utf-8', 'a', 'text/csv'],
    ['text/csv; header=present', 'a', 'text/csv;header=present'],
    ['application/xml; charset=latin1; v=1', 'a', 'application/xml;v=1'],
    ['application/zip; x=y', 'a', 'application/zip'],
    ['application/zip; v=1', 'a', 'application/zip;v=1']
  ]
  for (const [type, body, contentType] of selected) {
    t.match(await send('/versions', type, body), [200, { contentType }], type)
  }
  for (const type of ['application/json;v=2', 'text/csv;header=absent', 'application/xml;v=2']) {
    t.match(
      await send('/versions', type, '7'),
      [415, /profile="a;b"; V=2 or text\/csv or text\/csv;header=present/],
      type
    )
  }
})

t.test('a range with a parameter admits it', async t => {
  const content =
    "{ 'text/*;v=1': { schema: { type: string, maxLength: 3 } }, " +
    "'application/*+json;v=1': { schema: { type: integer } } }"
  const { send, bodies } = await serveContent(t, content)
  const status = async (type: string, payload: string) => (await send(type, payload)).statusCode
  for (const type of ['text/plain; v=1', 'text/plain']) {
    t.equal(await status(type, 'abc'), 200, type)
  }
  t.equal(await status('application/x+json; charset=utf-8;v=1', '7'), 200)
  t.strictSame(bodies, ['abc', 'abc', 7])
  t.equal(await status('text/plain; v=1', 'abcd'), 400)
  t.equal(await status('text/plain; v=2', 'abc'), 415)
})

t.test('a range alone tells the handler what was sent', async t => {
  const { send } = await serveBodies(t)
  t.strictSame(await send('/image', 'image/PNG', 'x'), [
    200,
    { contentType: 'image/png', body: 'bytes x' }
  ])
  t.match(await send('/image', 'text/plain', 'x'), [415, /image\/\*\.$/])
})

t.test('a body with a Content-Encoding is answered 415, for every media type', async t => {
  const { app } = await serveBodies(t)
  for (const type of [
    'text/plain',
    'multipart/form-data; boundary=B',
    'image/png',
    'application/x-www-form-urlencoded'
  ]) {
    const headers = { 'content-type': type, 'content-encoding': 'gzip' }
    t.match(
      await app.inject({ method: 'POST', url: '/any', headers, payload: 'x' }),
      { statusCode: 415 },
      type
    )
  }
})
