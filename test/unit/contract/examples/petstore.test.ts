// The example petstore, called as its clients call it.
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { buildPetstore } from '../../../../src/contract/examples/petstore/app.ts'

const json = { 'content-type': 'application/json', authorization: 'Bearer good' }
const form = { ...json, 'content-type': 'application/x-www-form-urlencoded' }
const xml = { ...json, 'content-type': 'application/xml' }

async function startPetstore (t: Test) {
  const app: FastifyInstance = await buildPetstore({
    petstore_auth: token => token === 'good' ? { name: 'keeper' } : undefined,
    api_key: key => key === 'special-key' ? { name: 'visitor' } : undefined
  })
  t.teardown(() => app.close())
  return async (target: string, payload: unknown = undefined, headers: Record<string, string> = json) => {
    const [method = 'GET', path] = target.split(' ') as ['GET', string]
    const body = payload === undefined ? {} : { payload: typeof payload === 'string' ? payload : JSON.stringify(payload) }
    const { 'content-type': type, ...others } = headers
    const sent = payload === undefined || type === undefined ? others : headers
    const response = await app.inject({ method, url: `/api/v3${path}`, headers: sent, ...body })
    return { status: response.statusCode, type: response.headers['content-type'], body: response.body }
  }
}

const doggie = { name: 'doggie', photoUrls: ['a.png'], status: 'available', tags: [{ name: 'small' }] }

t.test('a pet is added, found, changed and deleted', async t => {
  const send = await startPetstore(t)
  const type = 'application/json; charset=utf-8'
  const added = await send('POST /pet', doggie)
  t.strictSame([added.status, added.type], [200, type])
  t.strictSame(JSON.parse(added.body), { ...doggie, id: 1 })
  t.match(await send('POST /pet', 'name=cat&photoUrls=b.png', form), { status: 200, body: '"id":2' })
  t.strictSame(await send('GET /pet/1'), added)
  t.strictSame(await send('GET /pet/1', undefined, { api_key: 'special-key' }), added)
  t.match(await send('GET /pet/1', undefined, { ...json, accept: 'application/xml' }), { status: 200, type })
  t.strictSame(JSON.parse((await send('GET /pet/findByStatus')).body), [{ ...doggie, id: 1 }])
  t.strictSame(JSON.parse((await send('GET /pet/findByStatus?status=sold')).body), [])
  t.strictSame(JSON.parse((await send('GET /pet/findByTags?tags=small&tags=x')).body), [{ ...doggie, id: 1 }])
  t.strictSame(JSON.parse((await send('GET /pet/findByTags')).body), [])
  t.match(await send('PUT /pet', { ...doggie, id: 1, tags: [{}] }), { status: 200, body: '"tags":[{}]' })
  t.strictSame(JSON.parse((await send('GET /pet/findByTags?tags=x')).body), [])
  t.match(await send('PUT /pet', { ...doggie, id: 9 }), { status: 404 })
  t.match(await send('PUT /pet', doggie), { status: 400 })
  t.match(await send('POST /pet/1?name=rex'), { status: 200, body: '"name":"rex"' })
  t.match(await send('POST /pet/1'), { status: 400 })
  t.match(await send('DELETE /pet/1'), { status: 200, body: '' })
  t.match(await send('DELETE /pet/1'), { status: 400 })
  t.match(await send('GET /pet/1'), { status: 404 })
})

t.test('ids are exact beyond 2^53', async t => {
  const send = await startPetstore(t)
  const pet = '{"id":9007199254740993,"name":"a","photoUrls":[]}'
  t.match(await send('POST /pet', pet), { status: 200, body: pet })
  t.match(await send('GET /pet/9007199254740993'), { status: 200, body: pet })
  t.match(await send('GET /pet/9007199254740992'), { status: 404 })
})

t.test('the engine refuses what the contract does not allow', async t => {
  const send = await startPetstore(t)
  t.match(await send('POST /pet', { name: 'doggie' }), { status: 400, body: 'photoUrls' })
  t.match(await send('POST /pet', doggie, { ...json, authorization: 'Bearer bad' }), { status: 401 })
  t.match(await send('GET /store/inventory', undefined, { api_key: 'other' }), { status: 401 })
  t.match(await send('GET /pet/findByStatus?status=lost'), { status: 400, body: 'status' })
  t.match(await send('POST /pet', '<pet/>', xml), { status: 415, body: 'reads no XML' })
})

t.test('an image is uploaded as bytes', async t => {
  const send = await startPetstore(t)
  await send('POST /pet', doggie)
  const bytes = { ...json, 'content-type': 'application/octet-stream' }
  t.match(await send('POST /pet/1/uploadImage', 'PNG', bytes), { status: 200, body: '{"message":"3 bytes"}' })
  t.match(await send('POST /pet/1/uploadImage'), { status: 400 })
  t.match(await send('POST /pet/2/uploadImage', 'PNG', bytes), { status: 404 })
})

t.test('an order is placed, read and deleted', async t => {
  const send = await startPetstore(t)
  await send('POST /pet', doggie)
  await send('POST /pet', { name: 'x', photoUrls: [] })
  await send('POST /pet', doggie)
  const inventory = await send('GET /store/inventory', undefined, { api_key: 'special-key' })
  t.strictSame(JSON.parse(inventory.body), { available: 2, unknown: 1 })
  t.match(await send('POST /store/order', { petId: 1, quantity: 2 }), { status: 200, body: '"id":1' })
  t.match(await send('POST /store/order'), { status: 400 })
  t.match(await send('GET /store/order/1'), { status: 200, body: '"quantity":2' })
  t.match(await send('DELETE /store/order/1'), { status: 200 })
  t.match(await send('DELETE /store/order/1'), { status: 404 })
  t.match(await send('GET /store/order/1'), { status: 404 })
})

t.test('a user is created, logged in, changed and deleted', async t => {
  const send = await startPetstore(t)
  const ann = { username: 'ann', password: 'secret' }
  t.match(await send('POST /user', ann), { status: 200 })
  t.match(await send('POST /user', {}), { status: 200 })
  t.match(await send('POST /user'), { status: 400 })
  t.match(await send('POST /user/createWithList', [{ username: 'bob' }]), { status: 200, body: 'bob' })
  t.match(await send('POST /user/createWithList'), { status: 400 })
  const toJson = { accept: 'application/json' }
  t.match(await send('GET /user/login?username=ann&password=secret', undefined, toJson), { status: 200, body: /^"[\da-f-]{36}"$/ })
  const toXml = { accept: 'application/xml' }
  t.match(await send('GET /user/login?username=ann&password=secret', undefined, toXml), {
    status: 200, type: 'application/xml', body: /^<session>[\da-f-]{36}<\/session>$/
  })
  t.match(await send('GET /user/login?username=ann&password=x'), { status: 400 })
  t.match(await send('GET /user/login?username=eve'), { status: 400 })
  t.match(await send('GET /user/logout'), { status: 200 })
  t.match(await send('PUT /user/ann', { phone: '1' }), { status: 200 })
  t.match(await send('PUT /user/ann'), { status: 400 })
  t.match(await send('PUT /user/eve', { phone: '1' }), { status: 404 })
  t.match(await send('GET /user/ann'), { status: 200, body: '"phone":"1"' })
  t.match(await send('GET /user/eve'), { status: 404 })
  t.match(await send('DELETE /user/ann'), { status: 200 })
  t.match(await send('DELETE /user/ann'), { status: 404 })
})
