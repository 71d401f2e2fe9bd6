import fc from 'fast-check'
import t from 'tap'
import { allPlants } from '../../../src/plants/plant-store.ts'
import { isError, startApp } from '../../fixtures/app.ts'
import { members } from '../../proofs/fuzz/members.ts'
import { valuesOf } from '../../proofs/fuzz/plants.ts'

t.test('a new plant is stored, and the response is the plant without its id', async t => {
  const { post, store } = await startApp(t)
  const response = await post({ id: 1, name: 'Boston fern', tag: 'fern' })
  t.equal(response.statusCode, 200)
  t.equal(response.body, '{"name":"Boston fern","tag":"fern"}')
  t.match(response.headers['content-type'], /^application\/json/)
  t.equal((await post({ id: 2, name: 'ivy' })).body, '{"name":"ivy"}')
  t.equal((await post({ id: 3, name: '', tag: '' })).body, '{"name":"","tag":""}')
  t.strictSame(await Array.fromAsync(allPlants(store)), [
    { id: 1n, name: 'Boston fern', tag: 'fern' },
    { id: 2n, name: 'ivy' },
    { id: 3n, name: '', tag: '' }
  ])
})

t.test('the same plant gets the same response again and is stored once', async t => {
  const { post, store } = await startApp(t)
  const bodies = [
    '{"id":1,"name":"x","tag":"y"}',
    '{"id":1.0,"tag":"y","name":"x","not a member":1}',
    '{"id":1e0,"name":"\\u0078","tag":"y"}'
  ]
  for (const body of bodies) t.strictSame((await post(body)).json(), { name: 'x', tag: 'y' }, body)
  t.equal((await Array.fromAsync(allPlants(store))).length, 1)
})

t.test('another plant with the same id is answered 409, and the stored plant is neither changed nor shown', async t => {
  const { post, store } = await startApp(t)
  await post({ id: 1, name: 'first', tag: 'a' })
  const others = [
    { name: 'second', tag: 'a' },
    { name: 'first', tag: 'b' },
    { name: 'first' },
    { name: 'first', tag: '' }
  ]
  for (const other of others) {
    const response = await post({ id: 1, ...other })
    isError(t, response, 409, 'Another plant has the id 1. The stored plant does not change.', JSON.stringify(other))
    t.notMatch(response.body, /first/)
  }
  t.strictSame(await Array.fromAsync(allPlants(store)), [{ id: 1n, name: 'first', tag: 'a' }])
})

t.test('ids that are equal as doubles are different plants', async t => {
  const { post, store } = await startApp(t)
  const ids = [
    '9007199254740993', '9007199254740992', '9223372036854775807', '-9223372036854775808', '9223372036854775806'
  ]
  for (const id of ids) t.equal((await post(`{"id":${id},"name":"${id}"}`)).body, `{"name":"${id}"}`)
  t.strictSame(await Array.fromAsync(allPlants(store)), [
    { id: -9223372036854775808n, name: '-9223372036854775808' },
    { id: 9007199254740992n, name: '9007199254740992' },
    { id: 9007199254740993n, name: '9007199254740993' },
    { id: 9223372036854775806n, name: '9223372036854775806' },
    { id: 9223372036854775807n, name: '9223372036854775807' }
  ])
})

/** Copies of a value, each with U+0000 at another place: in a text, or in an undeclared member. */
function withNul (value: unknown): unknown[] {
  if (typeof value === 'string') return ['a\0b']
  if (Array.isArray(value)) return value.flatMap((item, index) => withNul(item).map(copy => value.with(index, copy)))
  if (typeof value !== 'object' || value === null) return []
  const inMembers = Object.entries(value).flatMap(([name, member]) => {
    return withNul(member).map(copy => ({ ...value, [name]: copy }))
  })
  return [...inMembers, { ...value, undeclared: 'a\0b' }, { ...value, 'a\0b': 'x' }, { ...value, 'a\0b': 1 }]
}

function hasInt64Within (value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(item => typeof item === 'bigint' || hasInt64Within(item))
}

t.test('each text of a plant is refused with U+0000, which PostgreSQL cannot store', async t => {
  for (const { name, schema } of members) {
    const { post } = await startApp(t)
    const send = (value: unknown, id: number) => {
      const exact = (_name: string, value: unknown) => typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value
      return post(JSON.stringify({ id, name: 'x', [name]: value }, exact))
    }
    const accepted: unknown[] = []
    const values = fc.sample(valuesOf(schema), { seed: 1, numRuns: 20 })
    t.notOk(values.some(hasInt64Within), `make the int64 within ${name} a member of the plant: JSON would round it`)
    for (const [id, value] of values.entries()) {
      t.match(await send(value, id), { statusCode: 200 }, name)
      for (const copy of withNul(value)) {
        const { statusCode, body } = await send(copy, id)
        if (statusCode !== 400 || !body.includes(name)) accepted.push(copy)
      }
    }
    const problem = `give each text of ${name} the pattern of name in openapi.yaml, and each object ` +
      'additionalProperties: false'
    t.strictSame(accepted.slice(0, 3), [], problem)
  }
})

t.test('each integer of a plant has a format or limits: others do not fit a column of integers', async t => {
  for (const { name, schema: { type, format, minimum, maximum } } of members) {
    if (type !== 'integer') continue
    t.ok(format !== undefined || (minimum !== undefined && maximum !== undefined), `give ${name} a format or limits`)
  }
})

t.test('no member of a plant may be null: NULL in a column stands for a missing one', async t => {
  const { post } = await startApp(t)
  for (const { name } of members) {
    t.match(await post({ id: 1, name: 'x', [name]: null }), { statusCode: 400, body: name }, `take null from ${name}`)
  }
})

t.test('the response contains the name without any change', async t => {
  const { post } = await startApp(t)
  const names = [
    'ß', 'e\u0301', '\u00e9', '日本語', '🌵👩‍🌾', 'a\tb\nc\r\u001f\u007f', '"\\/', '\u2028\u2029',
    '\ufeffx\ufffe', '1234567890123456', '<script>', ' ', 'x'.repeat(60_000)
  ]
  for (const [index, name] of names.entries()) t.strictSame((await post({ id: index, name })).json(), { name })
})
