import t from 'tap'
import { formReader } from '../../../../src/contract/parameters/url-encoded-form.ts'
import { textSchema } from '../../../../src/contract/parameters/text-schema.ts'
import { createCompiler, type Validate } from '../../../../src/contract/schema/index.ts'
import { serveBodies, serveContent } from '../../../fixtures/bodies.ts'

type Root = Parameters<Validate>[0]

t.test('a form is the object of its schema', async t => {
  const { send } = await serveBodies(t)
  const post = (body: string) => send('/form', 'application/x-www-form-urlencoded', body)
  const fine: Array<[form: string, body: object]> = [
    ['id=9223372036854775807', { id: '9223372036854775807n' }],
    ['id=1&note=a+b%2B%26=%C3%BC', { id: '1n', note: 'a b+&=ü' }],
    ['id=1&ids=9007199254740993&ids=2', { id: '1n', ids: ['9007199254740993n', '2n'] }],
    ['id=1&ids=5', { id: '1n', ids: ['5n'] }],
    ['id=1&ids=[5,6]', { id: '1n', ids: ['5n', '6n'] }],
    [
      'id=1&place={"name":"x","number":9007199254740993}',
      {
        id: '1n',
        place: { name: 'x', number: '9007199254740993n' }
      }
    ],
    ['&&id=1&', { id: '1n' }],
    [
      'id=1&filter[size]=3&filter[owner][id]=9007199254740993&' +
        'filter[owner][names][]=a&filter[owner][names][]=b',
      {
        id: '1n',
        filter: { size: 3, owner: { id: '9007199254740993n', names: ['a', 'b'] } }
      }
    ],
    [
      'id=1&filter%5Bplaces%5D%5B1%5D%5Bname%5D=b&filter[places][0][name]=a',
      {
        id: '1n',
        filter: { places: [{ name: 'a' }, { name: 'b' }] }
      }
    ],
    ['id=1&color=R,100,G,200', { id: '1n', color: { R: 100, G: 200 } }],
    ['id=1&color=', { id: '1n', color: {} }],
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
    ['id=1&note=x', /^"note" in the body must have at least 2 characters\.$/],
    ['id=1&ids=1&ids=2&ids=3&ids=4', /^"ids" in the body must have at most 3 items\.$/],
    ['id=1&place=x', /^"place" in the body must be an object\.$/],
    ['id=1&place={}', /^"place" in the body must have the member "name"\.$/],
    ['id=1&flag=yes', /^"flag" in the body must be a boolean: true or false\.$/],
    ['id=1&seen=x', /^"seen" in the body must not be sent\.$/],
    ['id=%zz', /^The body has invalid percent-encoding\.$/],
    ['id=%ff', /^The body has invalid percent-encoding\.$/],
    [
      'id=1&filter[owner]=1&filter[owner][id]=2',
      /^"filter\/owner" in the body is sent with and without members\.$/
    ],
    [
      'id=1&filter[places][0]=x&filter[places][0][name]=a',
      /^"filter\/places" in the body is sent with and without members\.$/
    ],
    ['id=1&filter[size]=1&filter=x', /^"filter" in the body is sent more than once\.$/],
    ['id=1&color=R,1,R,2', /^"color\/R" in the body is sent more than once\.$/],
    ['id=1&filter[places][x][name]=a', /^"filter\/places" in the body must be an array, not an object\.$/],
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
    [
      'n1=2&list=a&list=b&other=1&other=2&x=',
      { n1: 2, list: ['a', 'b'], other: ['1', '2'], x: '' }
    ],
    ['plain=a,b&pair=name,x,number,7', { plain: 'a,b', pair: { name: 'x', number: '7n' } }],
    ['pair=name', { pair: { name: '' } }]
  ]
  for (const [form, body] of fine) {
    t.strictSame(await send('/open', contentType, form), [200, { contentType, body }], form)
  }
  t.match(await send('/open', contentType, 'pair=a&pair=b'), [
    400,
    /^"pair" in the body is sent more than once\.$/
  ])
  t.match(await send('/open', contentType, 'n1=x'), [
    400,
    /^"n1" in the body must be an integer\.$/
  ])
})

t.test('a form without a schema is an object of texts', async t => {
  const { send } = await serveBodies(t)
  const form = 'a=1&a=2&b=true'
  t.strictSame(await send('/pairs', 'application/x-www-form-urlencoded', form), [
    200,
    { body: { a: ['1', '2'], b: 'true' } }
  ])
})

t.test(
  'a member is read by all patterns that its name matches, in each of many combinations',
  async t => {
    const patterns = [...'abcdefghij'].map(
      (letter, index) => `${letter}: { minLength: ${index + 1}, type: string }`
    )
    const schema = `{ type: object, patternProperties: { ${patterns} } }`
    const content = `{ application/x-www-form-urlencoded: { schema: ${schema} } }`
    const { send, bodies } = await serveContent(t, content)
    const names = Array.from({ length: 1023 }, (_, set) =>
      [...'abcdefghij'].filter((_letter, bit) => ((set + 1) >> bit) & 1).join('')
    )
    const type = 'application/x-www-form-urlencoded'
    t.equal((await send(type, names.map(name => `${name}=1234567890`).join('&'))).statusCode, 200)
    t.strictSame(Object.keys(bodies[0] as object).sort(), names.sort())
    t.match((await send(type, 'a=1&ab=1')).json(), {
      message: '"ab" in the body must have at least 2 characters.'
    })
  }
)

t.test('a form of many names costs little CPU time', async t => {
  const { app } = await serveBodies(t)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const unit of [
    'a&',
    'ids=1&',
    'note=ab&',
    'filter[size]=1&',
    'filter[owner][names][]=1&',
    'tags=a,'
  ]) {
    const payload = `id=1&${unit.repeat(Math.floor(1_000_000 / unit.length))}`
    const began = process.cpuUsage()
    const { statusCode } = await app.inject({ method: 'POST', url: '/form', headers, payload })
    t.ok([200, 400].includes(statusCode), `${unit}: ${statusCode}`)
    const { user, system } = process.cpuUsage(began)
    t.ok(user + system < 3e6, `${unit}: ${user + system} µs`)
  }
})

t.test('an exploded object has only the members that it declares', async t => {
  const rest = '{ properties: { a: { type: integer } }, additionalProperties: true }'
  const list = '{ type: array, items: { type: integer } }'
  const schema = `{ properties: { rest: ${rest}, list: ${list} }, additionalProperties: true }`
  const encoding = '{ rest: { style: form }, list: { explode: true } }'
  const form = `{ schema: ${schema}, encoding: ${encoding} }`
  const type = 'application/x-www-form-urlencoded'
  const { send, bodies } = await serveContent(t, `{ ${type}: ${form} }`)
  t.equal((await send(type, 'a=1&b=2&list=3&list=4')).statusCode, 200)
  t.strictSame(bodies, [{ rest: { a: 1 }, list: [3, 4], b: '2' }])
})

t.test('a text is read by each of the schemas that its name has', async t => {
  const patterns = "{ '^a': { type: [integer, string] }, b$: { type: [integer, 'null'] } }"
  const file = '{ contentMediaType: image/png }'
  const schema = `{ properties: { file: ${file} }, patternProperties: ${patterns} }`
  const type = 'application/x-www-form-urlencoded'
  const { send, bodies } = await serveContent(t, `{ ${type}: { schema: ${schema} } }`)
  t.equal((await send(type, 'ab=5&file=x')).statusCode, 200)
  t.strictSame(bodies, [{ ab: 5, file: 'x' }])
  const message = '"file" in the body is sent more than once.'
  t.match((await send(type, 'file=x&file=y')).json(), { message })
})

t.test('the place of a fault is a JSON pointer', async t => {
  const type = 'application/x-www-form-urlencoded'
  const { send } = await serveContent(t, `{ ${type}: { schema: { properties: { a/b~: { type: string } } } } }`)
  const message = '"a~1b~0" in the body is sent more than once.'
  t.match((await send(type, 'a/b~=x&a/b~=y')).json(), { message })
})

t.test('a list of texts is validated as a whole, a text alone only where it has two readings', t => {
  const kinds = ['a', 'b'].map(kind => ({ type: 'object', required: [kind], properties: { [kind]: {} } }))
  const calls = (items: object, form: string) => {
    const found = { validated: 0, accepted: 0 }
    const compile = createCompiler({}, 'request')
    const schema = { type: 'object', properties: { list: { type: 'array', items } } }
    const read = formReader({ schema }, {}, schema => {
      const validate = compile(schema)
      const counted = (root: Root) => {
        found.validated++
        return validate(root)
      }
      const accepts = (root: Root) => {
        found.accepted++
        return validate.accepts(root)
      }
      return Object.assign(counted, { accepts })
    })
    return [read(form), found]
  }
  for (const text of ['{}', '{"a":1}', 'x', '{x']) {
    const json = text.endsWith('}') ? text : `"${text}"`
    const form = Array(9).fill(`list=${text}`).join('&')
    const expected = `{"list":[${Array(9).fill(json).join()}]}`
    t.strictSame(calls({ oneOf: kinds }, form), [expected, { validated: 0, accepted: 0 }], text)
  }
  const [json, found] = calls({ oneOf: [...kinds, { type: 'string' }] }, 'list={}&list=x&list={"a":1}')
  t.equal(json, '{"list":["{}","x",{"a":1}]}')
  t.strictSame(found, { validated: 0, accepted: 3 })
  const [first] = calls({ oneOf: [...kinds, { const: 'y' }] }, 'list={}&list=x')
  t.equal(first, '{"list":[{},"x"]}', 'the first reading where none is valid')
  t.end()
})

t.test('names that match several patterns compile no schema of their own', async t => {
  const compile = createCompiler({}, 'request')
  const compiled = new Set<string>()
  const schema = {
    type: 'object',
    patternProperties: { a: { type: ['integer', 'string'] }, b: { type: ['string', 'integer'], minLength: 2 }, c: { minimum: 7 } }
  }
  const read = formReader({ schema }, {}, inner => {
    compiled.add(JSON.stringify(inner))
    return compile(inner)
  })
  t.equal(read('ab=5&bc=5&abc=7&ac=x'), '{"ab":5,"bc":5,"abc":7,"ac":"x"}')
  t.ok([...compiled].every(text => text.startsWith('{"type":[') || text === '{"minimum":7}'), [...compiled].join())
  const lists = { a: { type: 'array', minItems: 2 }, b: { type: 'array', items: { type: 'integer' }, maxItems: 1 } }
  const readLists = formReader({ schema: { type: 'object', patternProperties: lists } }, {}, compile)
  t.equal(readLists('ab=[1,2]&ab2=[3]&ab3=4'), '{"ab":[1,2],"ab2":[3],"ab3":[4]}')
  const only = formReader({ schema: { type: 'object', patternProperties: { a: { enum: ['1'] }, b: { enum: [1] } } } }, {}, compile)
  t.equal(only('ab=1&ab2=2'), '{"ab":1,"ab2":2}')
  t.end()
})

t.test('names that the schema does not declare describe it once', async t => {
  let reads = 0
  const counted = { get type () { reads++; return 'string' } }
  const open = (schema: object) => ({ type: 'object', additionalProperties: schema })
  const patterns = { type: 'object', patternProperties: { a: counted, '^.': { type: 'integer' } } }
  for (const schema of [{ anyOf: [open(counted), open({ type: 'integer' })] }, patterns]) {
    const read = formReader({ schema }, {}, createCompiler({}, 'request'))
    t.equal(read('a1=x'), '{"a1":"x"}')
    const once = reads
    t.equal(read('a1=x&a2=y&a3=z'), '{"a1":"x","a2":"y","a3":"z"}')
    t.equal(reads, once)
  }
})

t.test('a name that matches several patterns may be what each of them takes', async t => {
  const part = (name: string, type: string) => ({ type: 'object', properties: { [name]: { type } } })
  const schema = { patternProperties: { a: part('x', 'string'), b: part('x', 'integer'), c: part('y', 'array') } }
  const member = textSchema(schema, {}, createCompiler({}, 'request')).member('abc')
  t.strictSame(member?.names, new Set(['x', 'y']))
  t.strictSame(member?.member('x')?.types, new Set(['string', 'integer']))
  t.match(member?.member('y'), { types: new Set(['array']), mayBeText: false, mayBeFile: false })
  t.equal(member?.item(), undefined)
  t.match(member, { hasOthers: false, mayBeValue: true })
  t.equal(member?.member('z'), undefined)
})
