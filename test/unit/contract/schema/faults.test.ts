import t from 'tap'
import { createCompiler, readJson } from '../../../../src/contract/schema/index.ts'

const string = { type: 'string' }
const integer = { type: 'integer' }

/** The faults of a JSON text as a request, as sentences in order of the alphabet. */
function faults (schema: object, text: string, components = {}): string[] | undefined {
  const result = readJson(createCompiler(components, 'request')(schema), Buffer.from(text))
  if (result.fault === undefined) return []
  return result.faults?.().map(({ path, problem }) => `${path} ${problem}`.trim()).sort()
}

t.test('all faults of a value are found, each once', async t => {
  const address = { type: 'object', required: ['city'], properties: { city: string, zip: { ...string, maxLength: 5 } } }
  const schema = {
    type: 'object',
    required: ['id', 'name'],
    properties: {
      id: { ...integer, format: 'int64' },
      name: string,
      home: { $ref: 'Address#' },
      tags: { type: 'array', items: string },
      kind: { enum: ['a', 'b'] }
    },
    additionalProperties: false
  }
  const text = '{"id":"1","home":{"zip":"123456"},"tags":[1,"a",2],"kind":"c","x":1,"y":2}'
  t.strictSame(faults(schema, text, { Address: address }), [
    'home must have the member "city"',
    'home/zip must have at most 5 characters',
    'id must be an integer from -9223372036854775808 to 9223372036854775807, not a string: remove its quotes',
    'kind must be one of "a", "b"',
    'must have the member "name"',
    'must not have the member "x"',
    'must not have the member "y"',
    'tags/0 must be a string, not a number: put it in quotes',
    'tags/2 must be a string, not a number: put it in quotes'
  ])
  t.strictSame(faults(schema, '{"id":1,"name":"a"}', { Address: address }), [])
})

t.test('a fraction for an integer of format int32 is one fault', async t => {
  const check = (type: string | string[], text: string) => faults({ type, format: 'int32' }, text)
  t.strictSame(check('integer', '4.5'), ['must be an integer'])
  t.strictSame(check(['integer', 'null'], '4.5'), ['must be an integer or null'])
  for (const type of ['number', ['integer', 'number']]) {
    t.strictSame(check(type, '4.5'), [`must be an integer from ${-(2 ** 31)} to ${2 ** 31 - 1}`])
  }
  t.strictSame(check('integer', '3000000000'), [`must be an integer from ${-(2 ** 31)} to ${2 ** 31 - 1}`])
  const date = { type: ['integer', 'string'], format: 'date' }
  t.strictSame(faults({ type: 'array', items: date, maxItems: 1 }, '["x",1]'), [
    '0 must have the format date, such as 2026-01-31', 'must have at most 1 item'
  ])
})

t.test('a null, a quoted value, an array or an object is named', async t => {
  const part = { type: 'object', required: ['a'] }
  const properties = {
    a: integer, b: { $ref: 'Integer#' }, c: { type: ['boolean', 'array'] }, d: { anyOf: [integer, part] }, e: true
  }
  const schema = { type: 'object', properties, allOf: [part] }
  const check = (text: string) => faults(schema, text, { Integer: integer })
  t.strictSame(check('{"a":null,"b":null,"c":null,"d":null,"e":null}'), [
    'a must be an integer, not null',
    'b must be an integer, not null',
    'c must be a boolean or an array, not null: leave it out',
    'd must be an integer or an object, not null: leave it out'
  ])
  const quotes = 'not a string: remove its quotes'
  t.strictSame(check('{"a":"-1","c":"true","d":"1"}'), [
    `a must be an integer, ${quotes}`,
    `c must be a boolean or an array, ${quotes}`,
    `d must be an integer or an object, ${quotes}`
  ])
  t.strictSame(check('{"a":"01","c":"yes"}'), ['a must be an integer', 'c must be a boolean or an array'])
  t.strictSame(faults({ type: 'number' }, '"1.5e3"'), [`must be a number, ${quotes}`])
  t.strictSame(faults({ type: 'number' }, '1e400'), ['must be a number within the range of a double'])
  t.strictSame(faults({ type: 'integer' }, '1.5'), ['must be an integer'])
  const twice = (text: string) => faults({ type: ['object', 'array'] }, JSON.stringify(text))
  t.strictSame(twice('{"a":1}'), [`must be an object or an array, ${quotes}`], 'encoded twice')
  t.strictSame(twice('[]'), [`must be an object or an array, ${quotes}`])
  t.strictSame(twice('a'), ['must be an object or an array'])
  t.strictSame(check('{"a":[],"c":{},"d":[1]}'), [
    'a must be an integer, not an array',
    'c must be a boolean or an array, not an object',
    'd must be an integer or an object, not an array'
  ])
})

t.test('a missing member is named beside one that differs in its capitals', async t => {
  const schema = { type: 'object', required: ['id', 'plantName'], properties: { plantName: string } }
  t.strictSame(faults(schema, '{"ID":1,"PlantName":"x"}'), [
    'must have the member "id", not "ID"', 'must have the member "plantName", not "PlantName"'
  ])
  t.strictSame(faults(schema, '{"id":1,"plant":"x"}'), ['must have the member "plantName"'])
})

t.test('a union has one fault, beside those of its neighbours', async t => {
  const one = { type: 'object', required: ['a'], properties: { a: integer } }
  const other = { type: 'object', required: ['b', 'c'], properties: { b: integer, c: integer } }
  for (const union of ['anyOf', 'oneOf']) {
    const member = { [union]: [integer, { type: 'array', items: integer }] }
    const schema = { type: 'object', required: ['k'], properties: { u: member, v: string }, [union]: [one, other] }
    t.strictSame(faults(schema, '{"a":1,"k":1,"u":"x","v":1}'), ['u must be an integer or an array', 'v must be a string, not a number: put it in quotes'])
    const reasons = 'it must have the member "a", or it must have the member "b"'
    const none = `matches none of the forms that the contract declares: ${reasons}`
    t.strictSame(faults(schema, '{"v":1}'), [none, 'must have the member "k"', 'v must be a string, not a number: put it in quotes'])
    t.strictSame(faults(schema, '{"a":1,"k":1,"u":[1,"x",2,"y"]}'), ['u/1 must be an integer'], 'one of a branch')
  }
  const nested = { anyOf: [{ type: 'array', items: { anyOf: [integer, string] } }, integer] }
  t.strictSame(faults(nested, '[true]'), ['0 must be an integer or a string, not a boolean'])
  const same = { allOf: [string, { anyOf: [integer, one] }], anyOf: [one, { anyOf: [integer, { type: 'boolean' }] }] }
  t.strictSame(faults(same, 'null'), [
    'must be a string, not null',
    'must be an integer or an object, not null',
    'must be an object or an integer or a boolean, not null'
  ], 'at the same place')
})

t.test('the branch that a value matches best has the fault, where a member or its type tells', async t => {
  const kind = (...values: string[]) => ({ type: 'object', properties: { kind: { type: 'string', enum: values } } })
  const components = {
    Base: { type: 'object', required: ['name'], properties: { name: string } },
    Text: { allOf: [kind('text'), { $ref: 'Base#' }] },
    Chat: { allOf: [kind('chat', 'talk'), { $ref: 'Base#' }] },
    Kind: { const: 'link' },
    Link: { type: 'object', properties: { kind: { $ref: 'Kind#' }, to: integer } }
  }
  const branches = [{ $ref: 'Text#' }, { $ref: 'Chat#' }, { $ref: 'Link#' }, { type: 'null' }]
  for (const union of ['anyOf', 'oneOf']) {
    const check = (text: string, fault: string) => {
      const schema = { [union]: branches }
      t.strictSame(faults(schema, text, components), [fault], text)
      const { path, problem } = readJson(createCompiler(components, 'request')(schema), text).fault ?? {}
      t.equal(`${path} ${problem}`.trim(), fault, text)
    }
    check('{"kind":"chat"}', 'must have the member "name"')
    check('{"kind":"talk","name":1}', 'name must be a string, not a number: put it in quotes')
    check('{"kind":"link","to":"x"}', 'to must be an integer')
    check('{"kind":"post"}', 'kind must be one of "text", "chat", "talk", "link"')
    check('1', 'must be an object or null')
  }
  const int64 = { type: 'integer', format: 'int64' }
  const ofInt64 = { anyOf: [int64, string, { type: 'null' }] }
  t.strictSame(faults(ofInt64, 'true'), ['must be an integer or a string or null, not a boolean'])
  t.match(faults(ofInt64, '1.5'), [/^must be an integer from /])
  t.strictSame(faults({ const: 'a' }, '"b"'), ['must be "a"'])
  const long = { type: 'string', maxLength: 1 }
  t.strictSame(faults({ anyOf: [integer, long] }, '"ab"'), ['must have at most 1 character'])
  t.strictSame(faults({ oneOf: [kind('a')] }, '{"kind":"b"}'), ['kind must be "a"'])
  const same = { oneOf: [{ ...kind('a'), required: ['x'] }, { ...kind('a', 'b'), required: ['y'] }] }
  t.strictSame(faults(same, '{"kind":"a"}'), [
    'matches none of the forms that the contract declares: it must have the member "x", or it must have the member "y"'
  ])
  const closed = ['a', 'b', 'c', 'd'].map(name => ({ type: 'object', required: [name] }))
  const plain = ['matches none of the forms that the contract declares']
  t.strictSame(faults({ oneOf: closed }, '{}'), plain, 'many forms')
  t.strictSame(faults({ oneOf: [{ oneOf: closed }, ...closed.slice(2)] }, '{}'), plain, 'forms of forms')
  const needed = { oneOf: ['a', 'b'].map(value => ({ ...kind(value), required: ['kind'] })) }
  t.strictSame(faults(needed, '{}'), ['must have the member "kind"'])
  const forms = { oneOf: [{ ...kind('a'), required: ['x'] }, { ...kind('b', 'c'), required: ['y'] }] }
  t.strictSame(faults(forms, '{"kind":"c"}'), ['must have the member "y"'])
  t.strictSame(faults(forms, '{"kind":"d","x":1}'), ['kind must be one of "a", "b", "c"'])
  const some = { oneOf: [kind('a'), { type: 'object', properties: { kind: string }, required: ['y'] }] }
  const [none] = plain
  t.strictSame(faults(some, '{"kind":"b"}'), [`${none}: "kind" in it must be "a", or it must have the member "y"`])
  const shapes = [
    { ...kind('a'), required: ['kind', 'x'] }, kind('b'), { type: 'object', required: ['kind', 'name'] }
  ]
  t.strictSame(faults({ anyOf: shapes }, '{"kind":"a"}'), [
    `${none}: it must have the member "x", or "kind" in it must be "b", or it must have the member "name"`
  ], 'a value of another form is no fault')
  t.strictSame(faults({ anyOf: shapes }, '{}'), [], 'valid')
  const alike = [{ ...kind('a'), required: ['x'] }, { type: 'object', required: ['x'], maxProperties: 0 }, closed[1]]
  t.strictSame(faults({ anyOf: alike }, '{}'), [
    `${none}: it must have the member "x", or it must have the member "b"`
  ], 'each reason once')
  t.strictSame(faults({ oneOf: [kind('a'), kind('b'), string, true, false] }, '{"kind":"a"}'), [
    'matches more than one of the forms that the contract declares'
  ])
})

t.test('a union of a recursive schema has the fault that is inside', async t => {
  const tree = { anyOf: [integer, { type: 'object', properties: { next: { $ref: 'Tree#' } } }] }
  t.strictSame(faults({ $ref: 'Tree#' }, '{"next":{"next":"x"}}', { Tree: tree }), [
    'next/next must be an integer or an object'
  ])
})

t.test('conditions and names of members have the faults inside of them', async t => {
  const needs = (name: string) => ({ type: 'object', required: [name] })
  const schema = {
    type: 'object',
    propertyNames: { maxLength: 2 },
    if: { required: ['a'] },
    then: needs('b'),
    else: { allOf: [needs('c'), needs('d')] }
  }
  t.strictSame(faults(schema, '{"a":1,"long":2}'), [
    'has the member "long", whose name must have at most 2 characters',
    'must have the member "b"'
  ])
  t.strictSame(faults(schema, '{}'), ['must have the member "c"', 'must have the member "d"'])
})

t.test('a member is not called unevaluated because of another fault', async t => {
  const schema = { type: 'object', allOf: [{ type: 'object', properties: { a: integer } }], unevaluatedProperties: false }
  t.strictSame(faults(schema, '{"a":"x"}'), ['a must be an integer'])
  t.strictSame(faults(schema, '{"a":1,"b":1}'), ['must not have the member "b"'])
})

t.test('a member that a branch leaves unevaluated is named as in a schema without a union', async t => {
  const closed = (name: string) => {
    return { type: 'object', required: ['kind'], properties: { kind: { const: name } }, unevaluatedProperties: false }
  }
  const list = { type: 'array', prefixItems: [integer], unevaluatedItems: false }
  const unions = [{ anyOf: [closed('a'), list, { type: 'null' }] }, { oneOf: [closed('a'), closed('b'), list] }]
  for (const union of unions) {
    t.strictSame(faults(union, '{"kind":"a","z":1}'), ['must not have the member "z"'])
    t.strictSame(faults({ anyOf: [union, string] }, '{"kind":"a","z":1}'), ['must not have the member "z"'])
    t.strictSame(faults(union, '[1,2]'), ['must not have the item 1'])
  }
  const { fault } = readJson(createCompiler({}, 'request')(unions[0] as object), Buffer.from('{"kind":"a","z":1}'))
  t.strictSame(fault, { path: '', problem: 'must not have the member "z"', member: 'z' })
})

t.test('items that contains does not mean are no fault', async t => {
  const items = { anyOf: [integer, { type: 'boolean' }] }
  const schema = { type: 'array', contains: { $ref: 'Integer#' }, items, minItems: 3 }
  const none = 'must have at least 1 of the items that the contract asks for'
  const components = { Integer: integer }
  t.strictSame(faults(schema, '[true,true]', components), [none, 'must have at least 3 items'])
  t.strictSame(faults(schema, '["x",1,1]', components), ['0 must be an integer or a boolean'])
  t.strictSame(faults(schema, '["x","x","x"]', components), [
    ...[0, 1, 2].map(index => `${index} must be an integer or a boolean`), none
  ])
})

t.test('an empty array has no item that contains means, also after another array', async t => {
  const list = { type: 'array', contains: integer }
  const none = 'must have at least 1 of the items that the contract asks for'
  t.strictSame(faults({ type: 'array', items: list }, '[[1],[]]'), [`1 ${none}`])
  t.strictSame(faults({ type: 'object', additionalProperties: list }, '{"a":[1],"b":[]}'), [`b ${none}`])
})

t.test('patternProperties beside a union that has them, too, has the fault of the union', async t => {
  const any = { anyOf: [{ type: 'string', patternProperties: { '^[ab]': {} } }] }
  const schema = { $ref: 'Any#', patternProperties: { '^[ab]': {} } }
  t.strictSame(faults(schema, '{"b":[]}', { Any: any }), ['must be a string, not an object'])
})

t.test('contains inside of a union counts its items, and names none', async t => {
  const some = { type: 'array', contains: integer, minContains: 2, maxContains: 3 }
  const schema = { anyOf: [some, string] }
  for (const text of ['[1,1]', '["x",1,1,1]', '"x"']) t.strictSame(faults(schema, text), [], text)
  for (const text of ['[]', '[1]', '["x",1]', '[1,1,1,1]']) {
    const problem = 'must have 2 to 3 of the items that the contract asks for'
    t.strictSame(faults(schema, text), [problem], text)
    t.strictSame(readJson(createCompiler({}, 'request')(schema), Buffer.from(text)).fault, { path: '', problem })
  }
  t.strictSame(faults({ not: { type: 'array', contains: integer } }, '["x"]'), [])
  t.strictSame(faults({ not: { type: 'array', contains: integer } }, '[1]'), ['has a form that the contract excludes'])
})

t.test('a large value gets only its first fault, because all would take long', async t => {
  const schema = { type: 'array', items: { type: 'array', items: string } }
  const rows = (count: number) => JSON.stringify(Array(count).fill([1]))
  t.equal(faults(schema, rows(31))?.length, 31)
  t.equal(faults(schema, rows(32)), undefined)
  t.equal(faults(schema, JSON.stringify([Array(300).fill(1)])), undefined)
  const map = { type: 'object', additionalProperties: { type: 'object', required: ['a', 'b'] } }
  t.equal(faults(map, JSON.stringify({ ['/'.repeat(1024)]: {} }))?.length, 2)
  t.equal(faults(map, JSON.stringify({ ['/'.repeat(1025)]: {} })), undefined)
})

t.test('a format that only standards explain has an example, which is valid', async t => {
  const formats = [
    'date', 'time', 'date-time', 'duration', 'uri', 'uri-reference', 'url', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'byte',
    'json-pointer'
  ]
  for (const format of formats) {
    const schema = { type: 'string', format }
    const [fault = ''] = faults(schema, '"\\\\ no"') ?? []
    const [, example] = new RegExp(`^must have the format ${format}, such as (.*)$`).exec(fault) ?? []
    t.ok(example, fault)
    t.strictSame(faults(schema, JSON.stringify(example)), [])
  }
  t.strictSame(faults({ type: 'string', format: 'regex' }, '"["'), ['must have the format regex'])
  const time = { type: 'string', format: 'date-time' }
  const example = 'must have the format date-time, such as 2026-01-31T12:30:00Z'
  t.strictSame(faults(time, '"2026-01-31T12:30:00 01:00"'), [`${example}: send its + as %2B`])
  t.strictSame(faults(time, '"2026-01-31 12:30:00"'), [example])
})

t.test('a union of single values names them, and a value of another type has one fault', async t => {
  const choice = { anyOf: [{ const: 'small', title: 'S' }, { const: 'large' }, { enum: ['huge', 1] }] }
  t.strictSame(faults(choice, '"smal"'), ['must be one of "small", "large", "huge", 1'])
  const size = { type: 'string', enum: ['small', 'large'] }
  t.strictSame(faults(size, '5'), ['must be a string, not a number: put it in quotes'])
  t.strictSame(faults({ items: size }, '[5, "huge"]'), ['0 must be a string, not a number: put it in quotes', '1 must be one of "small", "large"'])
})
