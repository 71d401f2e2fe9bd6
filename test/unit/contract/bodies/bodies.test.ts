import t from 'tap'
import type { Test } from 'tap'
import { serveBodies } from '../../../fixtures/bodies.ts'
import { serve } from '../../../fixtures/contract.ts'
import { measureGrowth } from '../../../fixtures/cost.ts'

t.test('a text is a string, valid UTF-8 and valid by its schema', async t => {
  const { send } = await serveBodies(t)
  t.strictSame(await send('/text', 'text/plain', 'grün 🌵\n'), [200, { body: 'grün 🌵\n' }])
  t.strictSame(await send('/text', 'text/plain; charset=utf-8', '7'), [200, { body: '7' }])
  t.strictSame(await send('/text', 'text/plain', 'x'.repeat(41)), [
    400, 'The body must NOT have more than 40 characters.'
  ])
  t.strictSame(await send('/text', 'text/plain', Buffer.from('\xff', 'latin1')), [400, 'The body is not valid UTF-8.'])
  const wrong = 'The body must be sent as Content-Type: text/plain, in UTF-8.'
  for (const type of ['text/plain; charset=latin1', 'text/plain; charset=utf-16', 'text/html', 'text/plain;x=y']) {
    t.strictSame(await send('/text', type, 'x'), [415, wrong], type)
  }
  t.strictSame(await send('/text', undefined, null), [400, 'This operation needs a body, sent as text/plain.'])
})

t.test('bytes are a stream', async t => {
  const { send } = await serveBodies(t)
  const type = 'application/octet-stream'
  t.strictSame(await send('/bytes', type, 'a\0b', 'PUT'), [200, { body: 'bytes a\0b' }])
  t.strictSame(await send('/bytes', `${type}; x="a;b"`, 'ab', 'PUT'), [200, { body: 'bytes ab' }])
  t.strictSame(await send('/bytes', undefined, null, 'PUT'), [200, {}])
  t.strictSame(await send('/bytes', 'text/plain', 'x', 'PUT'), [415, `The body must be sent as Content-Type: ${type}.`])
})

t.test('the most specific media type reads the body', async t => {
  const { send } = await serveBodies(t)
  const json = 'application/json'
  const form = 'application/x-www-form-urlencoded'
  const other = 'application/vnd.other+json; charset=utf-8'
  const sent: Array<[type: string, body: string, seen: object]> = [
    [json, '{"id":9007199254740993,"x":1}', { contentType: json, body: { id: '9007199254740993n' } }],
    ['Application/VND.other+json', '[9007199254740993]', { contentType: other, body: ['9007199254740993n'] }],
    [form, 'id=9007199254740993', { contentType: form, body: { id: '9007199254740993n' } }],
    ['image/png', 'x', { contentType: 'image/png', body: 'bytes x' }],
    ['IMAGE/Gif;a=b', 'x', { contentType: 'image/gif', body: 'bytes x' }],
    ['text/x-any', 'x', { contentType: 'text/x-any', body: 'x' }],
    ['application/xml; charset=latin1', '<x/>', { contentType: 'application/xml', body: 'bytes <x/>' }],
    ['application/problem+json', '[', { contentType: 'application/problem+json', body: 'bytes [' }]
  ]
  for (const [type, body, expected] of sent) t.strictSame(await send('/any', type, body), [200, expected], type)
  t.strictSame(await send('/any', 'application/json', '[]'), [400, 'The body must be an object.'])
  t.match(await send('/any', other, '["1"]'), [400, /^"0" in the body must be an integer from/])
  // A range never reads a type that the contract names, or a handler would take bytes for what the schema says.
  for (const type of [`${json};x=y`, `${json}; charset=latin1`, `${form};`, 'multipart/form-data', 'a', 'a/b c']) {
    t.match(await send('/any', type, '{"id":1}'), [415, /^The body must be sent as Content-Type: \*\/\* or image/], type)
  }
})

t.test('an optional body may be absent, also with several media types', async t => {
  const { send } = await serveBodies(t)
  t.strictSame(await send('/maybe', undefined, null), [200, {}])
  t.strictSame(await send('/maybe', 'text/csv', 'a,b'), [200, { contentType: 'text/csv', body: 'a,b' }])
  t.strictSame(await send('/maybe', 'application/json', '7'), [200, { contentType: 'application/json', body: 7 }])
  t.match(await send('/maybe', 'application/xml', '7'), [415, /text\/csv or application\/json, in UTF-8\.$/])
})

t.test('a form is the object of its schema', async t => {
  const { send } = await serveBodies(t)
  const post = (body: string) => send('/form', 'application/x-www-form-urlencoded', body)
  const fine: Array<[form: string, body: object]> = [
    ['id=9223372036854775807', { id: '9223372036854775807n' }],
    ['id=1&note=a+b%2B%26=%C3%BC', { id: '1n', note: 'a b+&=ü' }],
    ['id=1&ids=9007199254740993&ids=2', { id: '1n', ids: ['9007199254740993n', '2n'] }],
    ['id=1&ids=5', { id: '1n', ids: ['5n'] }],
    ['id=1&ids=[5,6]', { id: '1n', ids: ['5n', '6n'] }],
    ['id=1&place={"name":"x","number":9007199254740993}', {
      id: '1n', place: { name: 'x', number: '9007199254740993n' }
    }],
    ['&&id=1&', { id: '1n' }],
    ['id=1&filter[size]=3&filter[owner][id]=9007199254740993&filter[owner][names][]=a&filter[owner][names][]=b', {
      id: '1n', filter: { size: 3, owner: { id: '9007199254740993n', names: ['a', 'b'] } }
    }],
    ['id=1&filter%5Bplaces%5D%5B1%5D%5Bname%5D=b&filter[places][0][name]=a', {
      id: '1n', filter: { places: [{ name: 'a' }, { name: 'b' }] }
    }],
    ['id=1&color=R,100,G,200', { id: '1n', color: { R: 100, G: 200 } }],
    ['id=1&x=1.5&y=2', { id: '1n', point: { x: 1.5, y: 2 } }],
    ['id=1&tags=a,b%2Cc', { id: '1n', tags: ['a', 'b,c'] }],
    ['id=1&words=a%20b+c', { id: '1n', words: ['a', 'b', 'c'] }],
    ['id=1&pipes=1|2%7C3', { id: '1n', pipes: [1, 2, 3] }],
    ['id=1&pipes=1&pipes=2', { id: '1n', pipes: [1, 2] }],
    ['id=1&either=7', { id: '1n', either: 7 }],
    ['id=1&either=77', { id: '1n', either: '77' }],
    ['id=1&flag=true', { id: '1n', flag: true }],
    ['id=1&__proto__=x&constructor=y&toString=z&__proto__[x]=1', { id: '1n' }]
  ]
  for (const [form, body] of fine) t.strictSame(await post(form), [200, { body }], form)
  const wrong: Array<[form: string, message: RegExp]> = [
    ['note=abc', /^The body must have the member "id"\.$/],
    ['id=1&id=2', /^"id" in the body is sent more than once\.$/],
    ['id=x', /^"id" in the body must be an integer from/],
    ['id=9223372036854775808', /^"id" in the body must be an integer from/],
    ['id=01', /^"id" in the body must be an integer from/],
    ['id=1&note=x', /^"note" in the body must NOT have fewer than 2 characters\.$/],
    ['id=1&ids=1&ids=2&ids=3&ids=4', /^"ids" in the body must NOT have more than 3 items\.$/],
    ['id=1&place=x', /^"place" in the body must be an object\.$/],
    ['id=1&place={}', /^"place" in the body must have the member "name"\.$/],
    ['id=1&flag=yes', /^"flag" in the body must be a boolean\.$/],
    ['id=1&seen=x', /^"seen" in the body must not be sent\.$/],
    ['id=%zz', /^The body has invalid percent-encoding\.$/],
    ['id=%ff', /^The body has invalid percent-encoding\.$/],
    ['id=1&filter[owner]=1&filter[owner][id]=2', /^"filter\/owner" in the body is sent as a value and as an object\.$/],
    [`id=1&filter${'[a]'.repeat(40)}=1`, /^"filter" in the body nests more than 32 objects\.$/]
  ]
  for (const [form, message] of wrong) t.match(await post(form), [400, message], form)
  const latin1 = Buffer.from('id=1&note=\xff\xff', 'latin1')
  t.match(await send('/form', 'application/x-www-form-urlencoded', latin1), [400, /UTF-8/])
})

t.test('a form may have members that the schema does not name', async t => {
  const { send } = await serveBodies(t)
  const contentType = 'application/x-www-form-urlencoded'
  const fine: Array<[form: string, body: object]> = [
    ['n1=2&list=a&list=b&other=1&other=2&x=', { n1: 2, list: ['a', 'b'], other: ['1', '2'], x: '' }],
    ['plain=a,b&pair=name,x,number,7', { plain: 'a,b', pair: { name: 'x', number: '7n' } }],
    ['pair=name', { pair: { name: '' } }]
  ]
  for (const [form, body] of fine) t.strictSame(await send('/open', contentType, form), [200, { contentType, body }], form)
  t.match(await send('/open', contentType, 'pair=a&pair=b'), [400, /^"pair" in the body is sent more than once\.$/])
  t.match(await send('/open', contentType, 'n1=x'), [400, /^"n1" in the body must be an integer\.$/])
})

t.test('a form without a schema is an object of texts', async t => {
  const { send } = await serveBodies(t)
  const form = 'a=1&a=2&b=true'
  t.strictSame(await send('/pairs', 'application/x-www-form-urlencoded', form), [200, { body: { a: ['1', '2'], b: 'true' } }])
})

t.test('events are bytes in a request, and a form without a schema has any parts', async t => {
  const { send } = await serveBodies(t)
  const contentType = 'text/event-stream'
  t.strictSame(await send('/open', contentType, 'data: x'), [200, { contentType, body: 'bytes data: x' }])
  const form = new FormData()
  form.append('a', '1')
  form.append('b', new Blob(['x']), 'b')
  t.match(await send('/open', undefined, form), [200, {
    contentType: 'multipart/form-data', body: [{ name: 'a', value: '1' }, { name: 'b', file: 'bytes x' }]
  }])
})

t.test('a body without a byte is an empty text or stream, and no JSON or form', async t => {
  const { app } = await serveBodies(t)
  const form = 'application/x-www-form-urlencoded'
  const sent: Array<[method: 'POST' | 'PUT', url: string, type: string | undefined, expected: object]> = [
    ['POST', '/text', 'text/plain', { statusCode: 200, body: '{"body":""}' }],
    ['PUT', '/bytes', 'application/octet-stream', { statusCode: 200, body: '{"body":"bytes "}' }],
    ['POST', '/any', 'image/png', { statusCode: 200, body: '{"contentType":"image/png","body":"bytes "}' }],
    ['POST', '/any', 'text/csv', { statusCode: 200, body: '{"contentType":"text/csv","body":""}' }],
    ['POST', '/any', 'application/json', { statusCode: 400, body: /needs a body/ }],
    ['POST', '/version', 'application/json', { statusCode: 400, body: /needs a body, sent as application\/json;v=2\./ }],
    ['POST', '/form', form, { statusCode: 400, body: /needs a body/ }],
    ['POST', '/maybe', 'application/json', { statusCode: 200, body: '{}' }]
  ]
  for (const [method, url, type, expected] of sent) {
    for (const framing of [{ 'content-length': '0' }, { 'transfer-encoding': 'chunked' }]) {
      const headers = { 'content-type': type, ...framing }
      t.match(await app.inject({ method, url, headers, payload: '' }), expected, `${type} ${Object.keys(framing)[0]}`)
    }
  }
  const headers = { 'content-type': 'text/html', 'content-length': '0' }
  t.match(await app.inject({ method: 'POST', url: '/text', headers }), { statusCode: 400, body: /needs a body/ })
})

t.test('the parameters of a media type in the contract may be sent, and select', async t => {
  const { send } = await serveBodies(t)
  for (const type of ['application/json;v=2', 'application/json; V="2"; charset=utf-8', 'application/json']) {
    t.strictSame(await send('/version', type, '7'), [200, { body: 7 }], type)
  }
  const wrong = ['v=1', 'v=2;v=2', 'v=2;x=y', 'v=2;', 'v=2;charset=latin1', 'v=2;charset=utf-8;charset=utf-8', 'v="2']
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
    t.match(await send('/versions', type, '7'), [415, /profile="a;b"; V=2 or text\/csv or text\/csv;header=present/], type)
  }
})

/** Serves POST /a with bodies of this content; `send` sends one, and `bodies` are those that the handler got. */
async function serveContent (t: Test, content: string) {
  const operation = `{ operationId: send, requestBody: { content: ${content} }, responses: { '200': { description: fine } } }`
  const bodies: unknown[] = []
  const { app } = await serve(t, {
    paths: `  /a: { post: ${operation} }`,
    handlers: {
      send ({ body }) {
        bodies.push(body)
        return { status: 200 }
      }
    }
  })
  const send = (type: string, payload: string) => {
    return app.inject({ method: 'POST', url: '/a', headers: { 'content-type': type }, payload })
  }
  return { send, bodies }
}

t.test('a member is read by all patterns that its name matches, in each of many combinations', async t => {
  const patterns = [...'abcdefg'].map((letter, index) => `${letter}: { minLength: ${index + 1}, type: string }`)
  const schema = `{ type: object, patternProperties: { ${patterns} } }`
  const content = `{ application/x-www-form-urlencoded: { schema: ${schema} } }`
  const { send, bodies } = await serveContent(t, content)
  const names = Array.from({ length: 127 }, (_, set) => [...'abcdefg'].filter((_letter, bit) => (set + 1) >> bit & 1).join(''))
  const type = 'application/x-www-form-urlencoded'
  t.equal((await send(type, names.map(name => `${name}=1234567`).join('&'))).statusCode, 200)
  t.strictSame(Object.keys(bodies[0] as object).sort(), names.sort())
  t.match((await send(type, 'a=1&ab=1')).json(), { message: '"ab" in the body must NOT have fewer than 2 characters.' })
})

t.test('a range with a parameter admits it', async t => {
  const content = "{ 'text/*;v=1': { schema: { type: string, maxLength: 3 } }, 'application/*+json;v=1': { schema: { type: integer } } }"
  const { send, bodies } = await serveContent(t, content)
  const status = async (type: string, payload: string) => (await send(type, payload)).statusCode
  for (const type of ['text/plain; v=1', 'text/plain']) t.equal(await status(type, 'abc'), 200, type)
  t.equal(await status('application/x+json; charset=utf-8;v=1', '7'), 200)
  t.strictSame(bodies, ['abc', 'abc', 7])
  t.equal(await status('text/plain; v=1', 'abcd'), 400)
  t.equal(await status('text/plain; v=2', 'abc'), 415)
})

t.test('a range alone tells the handler what was sent', async t => {
  const { send } = await serveBodies(t)
  t.strictSame(await send('/image', 'image/PNG', 'x'), [200, { contentType: 'image/png', body: 'bytes x' }])
  t.match(await send('/image', 'text/plain', 'x'), [415, /image\/\*\.$/])
})

t.test('a form of many names costs linear time', async t => {
  const { app } = await serveBodies(t)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const unit of ['a&', 'ids=1&', 'note=ab&', 'filter[size]=1&', 'filter[owner][names][]=1&', 'tags=a,']) {
    const growth = await measureGrowth(async size => {
      const payload = `id=1&${unit.repeat(Math.floor(size / unit.length))}`
      const { statusCode } = await app.inject({ method: 'POST', url: '/form', headers, payload })
      if (![200, 400].includes(statusCode)) t.fail(`${unit}: ${statusCode}`)
    }, 400_000)
    t.ok(growth < 8, `${unit}: four times as many cost ${growth.toFixed(1)} times as much`)
  }
})
