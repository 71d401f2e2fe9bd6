import t from 'tap'
import { serveBodies } from '../../../fixtures/bodies.ts'
import { anyResponse, jsonBody, serve, type Untyped } from '../../../fixtures/contract.ts'
import { json } from '../../../fixtures/features.ts'

t.test('request bodies', async t => {
  const objectOf = (type: string) => `${type}: { schema: { type: object } }`
  const types = ['application/json', 'application/merge-patch+json', 'application/vnd.a.b+json; charset=utf-8']
  const needed = `requestBody: { required: true, content: { ${types.map(objectOf).join(', ')} } }`
  const respond = ({ body }: Untyped) => ({ status: 200, body: body ?? 'none' })
  const { app } = await serve(t, {
    paths: `
  /needed: { post: { operationId: needed, ${needed}, ${anyResponse} } }
  /optional: { put: { operationId: optional, ${jsonBody('{ type: object }', false)}, ${anyResponse} } }
  /none: { delete: { operationId: none, ${anyResponse} }, post: { operationId: post, ${anyResponse} } }`,
    handlers: { needed: respond, optional: respond, none: respond, post: respond }
  })
  const send = async (method: 'POST' | 'PUT' | 'DELETE', url: string, type?: string, payload?: string) => {
    const headers = type === undefined ? {} : { 'content-type': type }
    const { statusCode, body } = await app.inject({ method, url, headers, ...payload !== undefined && { payload } })
    return [statusCode, JSON.parse(body).message ?? JSON.parse(body)]
  }
  for (const type of [...types.slice(0, 2), 'application/vnd.a.b+json;charset=utf-8']) {
    t.strictSame(await send('POST', '/needed', type, '{"a":1}'), [200, { a: 1 }], type)
  }
  const names = 'application/json or application/merge-patch+json or application/vnd.a.b+json'
  const wrongType = [415, `The body must be sent as Content-Type: ${names}, in UTF-8.`]
  t.strictSame(await send('POST', '/needed', 'application/vnd.axb+json', '{}'), wrongType)
  const missing = [400, `This operation needs a body, sent as ${names}, with a Content-Length or in chunks.`]
  t.strictSame(await send('POST', '/needed'), missing)
  t.strictSame(await send('POST', '/needed', 'application/json', ''), missing)
  t.strictSame(await send('PUT', '/optional'), [200, 'none'])
  t.strictSame(await send('PUT', '/optional', 'application/json', ''), [200, 'none'])
  t.strictSame(await send('PUT', '/optional', 'application/json', '[]'), [400, 'The body must be an object, not an array.'])
  t.strictSame(await send('DELETE', '/none', 'application/json'), [200, 'none'], 'a media type without a body')
  t.strictSame(await send('POST', '/none', 'application/json', '{}'), [415, 'This operation accepts no body.'])
  t.strictSame(await send('DELETE', '/none', 'text/plain', 'x'), [415, 'This operation accepts no body.'])
})

t.test('request bodies of any media type', async t => {
  const { send } = await serveBodies(t)
  const type = 'application/xml'
  t.strictSame(await send('/any', type, '<a/>'), [200, { contentType: type, body: 'bytes <a/>' }])
  t.strictSame(await send('/maybe', 'text/csv', 'a,b'), [200, { contentType: 'text/csv', body: 'a,b' }])
  t.match(await send('/maybe', type, '<a/>'), [415, /text\/csv or application\/json/])
})

t.test('forms', async t => {
  const { send } = await serveBodies(t)
  const form = 'id=9007199254740993&ids=1&ids=2&place={"name":"x"}&filter[size]=3&pipes=1|2&tags=a,b&words=a%20b'
  t.strictSame(await send('/form', 'application/x-www-form-urlencoded', form), [200, {
    body: {
      id: '9007199254740993n',
      ids: ['1n', '2n'],
      place: { name: 'x' },
      filter: { size: 3 },
      pipes: [1, 2],
      tags: ['a', 'b'],
      words: ['a', 'b']
    }
  }])
})

t.test('multipart/form-data', async t => {
  const { send } = await serveBodies(t)
  const form = new FormData()
  form.append('id', '1')
  form.append('avatar', new Blob(['x'], { type: 'image/png' }), 'a.png')
  t.strictSame(await send('/upload', undefined, form), [200, {
    body: [
      { name: 'id', value: '1n' },
      { name: 'avatar', filename: 'a.png', contentType: 'image/png', file: 'bytes x' }
    ]
  }])
  form.delete('id')
  t.strictSame(await send('/upload', undefined, form), [400, 'The body must have the member "id".'])
})

t.test('every fault of a body', async t => {
  const list = '{ type: array, items: { type: integer } }'
  const { app } = await serve(t, {
    paths: `\n  /a: { post: { operationId: add, ${jsonBody(list, true)}, ${anyResponse} } }`,
    handlers: { add: () => ({ status: 200, body: 1 }) }
  })
  const send = async (payload: string) => (await app.inject({ method: 'POST', url: '/a', headers: json, payload })).json()
  const fault = (index: number) => `"${index}" in the body must be an integer.`
  t.strictSame(await send('["x",1,"y"]'), { error: 400, message: `${fault(0)} ${fault(2)}` })
  const ten = Array.from({ length: 10 }, (_, index) => fault(index)).join(' ')
  t.equal((await send(JSON.stringify(Array(10).fill('x')))).message, ten)
  t.equal((await send(JSON.stringify(Array(11).fill('x')))).message, `${ten} There are more faults.`)
  t.equal((await send(JSON.stringify(Array(70).fill('x')))).message, fault(0), 'looking for all would take long')
})
