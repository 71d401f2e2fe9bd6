import t from 'tap'
import { allPlants } from '../../src/plants/plant-store.ts'
import { isError, startApp } from '../fixtures/app.ts'

t.test('a plant is added and answered without its id', async t => {
  const { post, store } = await startApp(t)
  const response = await post({ id: 1, name: 'Boston fern', tag: 'fern' })
  t.equal(response.statusCode, 200)
  t.equal(response.body, '{"name":"Boston fern","tag":"fern"}')
  t.match(response.headers['content-type'], /^application\/json/)
  t.equal((await post({ id: 2, name: 'ivy' })).body, '{"name":"ivy"}')
  t.equal((await post({ id: 3, name: '', tag: '' })).body, '{"name":"","tag":""}')
  t.strictSame(await Array.fromAsync(allPlants(store)), [{ id: 1n, name: 'Boston fern', tag: 'fern' }, { id: 2n, name: 'ivy' }, { id: 3n, name: '', tag: '' }])
})

t.test('the same plant again is answered the same, and stored once', async t => {
  const { post, store } = await startApp(t)
  const bodies = ['{"id":1,"name":"x","tag":"y"}', '{"id":1.0,"tag":"y","name":"x","other":1}', '{"id":1e0,"name":"\\u0078","tag":"y"}']
  for (const body of bodies) t.strictSame((await post(body)).json(), { name: 'x', tag: 'y' }, body)
  t.equal((await Array.fromAsync(allPlants(store))).length, 1)
})

t.test('another plant with the same id is answered 409, and the stored one stays and is not told', async t => {
  const { post, store } = await startApp(t)
  await post({ id: 1, name: 'first', tag: 'a' })
  for (const other of [{ name: 'second', tag: 'a' }, { name: 'first', tag: 'b' }, { name: 'first' }, { name: 'first', tag: '' }]) {
    const response = await post({ id: 1, ...other })
    isError(t, response, 409, 'Another plant has the id 1. It stays as it is.', JSON.stringify(other))
    t.notMatch(response.body, /first/)
  }
  t.strictSame(await Array.fromAsync(allPlants(store)), [{ id: 1n, name: 'first', tag: 'a' }])
})

t.test('ids that a double cannot tell apart are two plants', async t => {
  const { post, store } = await startApp(t)
  for (const id of ['9007199254740993', '9007199254740992', '9223372036854775807', '-9223372036854775808', '9223372036854775806']) {
    t.equal((await post(`{"id":${id},"name":"${id}"}`)).body, `{"name":"${id}"}`)
  }
  t.strictSame((await Array.fromAsync(allPlants(store))).map(({ id, name }) => [id, name]), [
    [-9223372036854775808n, '-9223372036854775808'], [9007199254740992n, '9007199254740992'], [9007199254740993n, '9007199254740993'],
    [9223372036854775806n, '9223372036854775806'], [9223372036854775807n, '9223372036854775807']
  ])
})

t.test('text comes back to the letter', async t => {
  const { post } = await startApp(t)
  const texts = ['ß', 'e\u0301', '\u00e9', '日本語', '🌵👩‍🌾', 'a\tb\nc\r\u001f\u007f', '"\\/', '\u2028\u2029', '\ufeffx\ufffe', '1234567890123456', '<script>', ' ', 'x'.repeat(60_000)]
  for (const [index, name] of texts.entries()) t.strictSame((await post({ id: index, name })).json(), { name })
})
