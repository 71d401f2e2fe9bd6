import t from 'tap'
import { allPlants } from '../../../../src/plants/plant-store.ts'
import { compileBody, jsonReader } from '../../../../src/contract/bodies/body-parser.ts'
import { faultIn, repetition } from '../../../../src/contract/parameters/text-json.ts'
import { createCompiler } from '../../../../src/contract/schema/index.ts'
import { HttpError } from '../../../../src/contract/server/http-error.ts'
import { authorization, isError, listen, startApp } from '../../../fixtures/app.ts'
import { exchangeOne, requestText } from '../../../fixtures/raw.ts'

const fern = { id: 1, name: 'fern' }

t.test('a JSON body is accepted under its media type alone or with charset=utf-8', async t => {
  const { post } = await startApp(t)
  const types = [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json \t;\t charset="utf-8"',
    'application/json;',
    'application/json;charset=utf-8;',
    'application/json; ; charset=utf-8'
  ]
  for (const type of types) {
    t.equal((await post(fern, { 'content-type': type })).statusCode, 200, type)
  }
})

t.test('any other spelling of the media type is answered 415, and nothing is stored', async t => {
  const { post, store } = await startApp(t)
  // Bodies went unvalidated by some of these: CVE-2025-32442, CVE-2026-25223, CVE-2026-33806,
  // CVE-2026-3419, GHSA-hwr6-493r-vm6h.
  const spellings = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/xml',
    '*/*',
    'application/*',
    'application/jsonx',
    'application/json+x',
    'application/vnd.api+json',
    'application/json; ',
    'application/json;;charset=utf-8x',
    'application/json; charset',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json; charset=utf-8; x=y',
    'application/json\tx',
    '\tapplication/json\t;',
    'application/json a',
    'application/json garbage',
    'application/json, text/plain',
    'text/plain; application/json',
    'text/plain;application/json',
    'application /json',
    'application/ json',
    'json',
    '""',
    "application/json; charset='utf-8'",
    'application/json; Charset=utf-8x'
  ]
  for (const type of spellings) {
    isError(
      t,
      await post(fern, { 'content-type': type }),
      415,
      /application\/json/,
      JSON.stringify(type)
    )
  }
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

t.test('a body without a media type is answered 415', async t => {
  const { app } = await startApp(t)
  const headers = { authorization, 'content-length': '2' }
  const response = await app.inject({
    method: 'POST',
    url: '/plants',
    headers,
    payload: Buffer.from('{}')
  })
  isError(t, response, 415, /application\/json/, 'no Content-Type')
})

t.test('an error that a validator throws is not reported as an invalid body', async t => {
  const validate = () => {
    throw new Error('a bug')
  }
  const compile = compileBody(() => Object.assign(validate, { accepts: validate }), undefined, {})
  const read = compile({ schema: {}, method: 'POST', url: '/', httpPart: 'body' })
  t.throws(() => read(Buffer.from('{}')), { message: 'a bug' })
})

t.test('an error cuts long names and paths: its response is not larger than the body', async t => {
  const closed = { type: 'object', properties: {}, additionalProperties: false }
  const cases: Array<[schema: object, inside?: object]> = [
    [{ additionalProperties: { type: 'integer' } }],
    [{ additionalProperties: closed }, { ['~'.repeat(30_000)]: 1 }],
    [closed],
    [{ type: 'object', unevaluatedProperties: false }],
    [{ type: 'object', propertyNames: { maxLength: 2 } }]
  ]
  for (const [schema, inside = {}] of cases) {
    const read = jsonReader(schema, {}, createCompiler({}, 'request'))
    const refused = () => {
      try {
        return read(Buffer.from(JSON.stringify({ ['~'.repeat(30_000)]: inside })))
      } catch (error) {
        return error as HttpError
      }
    }
    const { message, faults } = refused() as HttpError
    t.match(message, /[~0]{128}…[~0]{128}"/)
    const { length } = JSON.stringify([message, faults])
    t.ok(length > 400 && length < 2500, `${length} characters`)
  }
  const whole = faultIn('~'.repeat(128), repetition)
  t.equal(whole.path, '~0'.repeat(128), 'of 256 characters')
  const cut = faultIn(`${'a'.repeat(127)}🌿${'~'.repeat(64)}`, repetition)
  t.equal(cut.path, `${'a'.repeat(127)}\ufffd…${'~0'.repeat(64)}`, 'half of a pair')
})

t.test('members that the contract does not name do not reach the handler', async t => {
  const { app, post } = await startApp(t)
  let given: unknown
  app.addHook('preHandler', async ({ body }) => {
    given = body
  })
  const response = await post(
    '{"id":9223372036854775807,"x":[{}],"__proto__":{"tag":"x"},"name":"fern","constructor":1}'
  )
  t.equal(response.statusCode, 200)
  t.strictSame(given, { id: 9223372036854775807n, name: 'fern' })
})

t.test('a body with a Content-Encoding is answered 415', async t => {
  const { post } = await startApp(t)
  for (const encoding of ['gzip', 'br', 'identity']) {
    isError(
      t,
      await post(fern, { 'content-encoding': encoding }),
      415,
      /Content-Encoding/,
      encoding
    )
  }
})

t.test('a request without a body is answered 400', async t => {
  const { app, post } = await startApp(t)
  const bare = await app.inject({ method: 'POST', url: '/plants', headers: { authorization } })
  isError(t, bare, 400, /needs a body/, 'no Content-Length')
  isError(t, await post('', { 'content-length': '0' }), 400, /needs a body/, 'an empty body')
  const { port } = await listen(app)
  const chunks = requestText(
    'POST /plants',
    [
      'Host: x',
      `Authorization: ${authorization}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      'Connection: close'
    ],
    '0\r\n\r\n'
  )
  isError(
    t,
    await exchangeOne(port, chunks),
    400,
    /needs a body, sent as application\/json, with a Content-Length or in chunks\./,
    'no chunk'
  )
})

t.test('a body that breaks the contract is answered 400 with the member and the rule', async t => {
  const { post, store } = await startApp(t)
  const invalid: Array<[string, RegExp]> = [
    ['null', /^The body must be an object, not null\.$/],
    ['[]', /^The body must be an object, not an array\.$/],
    ['"x"', /^The body must be an object\.$/],
    ['{}', /^The body must have the member "name"\. The body must have the member "id"\.$/],
    [
      '{"id":1e400,"tag":7}',
      new RegExp(
        '^The body must have the member "name"\\. "tag" in the body must be a string, not a number: put it in quotes\\. ' +
          '"id" in the body must be an integer .*\\.$'
      )
    ],
    ['{"id":1}', /^The body must have the member "name"\.$/],
    ['{"name":"x"}', /^The body must have the member "id"\.$/],
    ['{"id":1,"name":null}', /^"name" in the body must be a string, not null\.$/],
    ['{"id":1,"name":7}', /^"name" in the body must be a string, not a number: put it in quotes\.$/],
    ['{"id":1,"name":"x","tag":null}', /^"tag" in the body must be a string, not null: leave it out\.$/],
    ['{"id":1,"name":"x","tag":["a"]}', /^"tag" in the body must be a string, not an array\.$/],
    [
      '{"id":"1","name":"x"}',
      /^"id" in the body must be an integer from -9223372036854775808 to 9223372036854775807, not a string: remove its quotes\.$/
    ],
    ['{"id":"x","name":"x"}', /9223372036854775807\.$/],
    ['{"id":1.5,"name":"x"}', /^"id" in the body must be an integer/],
    ['{"id":1e300,"name":"x"}', /^"id" in the body must be an integer/],
    ['{"id":null,"name":"x"}', /^"id" in the body must be an integer .*, not null\.$/],
    ['{"id":true,"name":"x"}', /^"id" in the body must be an integer/],
    ['{"id":9223372036854775808,"name":"x"}', /^"id" in the body must be an integer/],
    ['{"id":-9223372036854775809,"name":"x"}', /^"id" in the body must be an integer/],
    ['{"id":1,"name":"a\\u0000b"}', /^"name" in the body must not contain the character U\+0000\.$/],
    ['{"id":1,"name":"x","tag":"\\u0000"}', /^"tag" in the body must not contain/],
    ['{"id":1,"name":"\\ud800"}', /surrogate/],
    ['{"__proto__":{"id":1,"name":"x"}}', /must have the member/],
    ['{"id":1,"name":"x"', /^The body is not valid JSON: unexpected end at column 19\.$/],
    ['{"id":1,"name":x}', /^The body is not valid JSON: unexpected 'x' at column 16\.$/],
    ["{'id':1}", /^The body is not valid JSON: unexpected ''' at column 2\.$/]
  ]
  for (const [body, message] of invalid) isError(t, await post(body), 400, message, body)
  const latin1 = Buffer.from('{"id":1,"name":"\xff"}', 'latin1')
  isError(t, await post(latin1), 400, /UTF-8 at column 17\.$/, 'bytes that are not UTF-8')
  const cut = /^The body is not valid .*\. If it was cut: Content-Length counts bytes, not characters\.$/
  for (const body of ['{"id":1,"name":"éé"}', '{"id":1,"name":"日本語"}']) {
    isError(t, await post(Buffer.from(body).subarray(0, body.length)), 400, cut, body)
  }
  const name = Buffer.from('{"id":1,"name":"🌿')
  for (const missing of [1, 2, 3]) isError(t, await post(name.subarray(0, -missing)), 400, cut, `${missing}`)
  isError(t, await post('{"id":1,"name":"x"}\u00a0'), 400, /unexpected U\+00a0 at column 20\.$/, 'a whole character')
  t.strictSame(await Array.fromAsync(allPlants(store)), [])
})

t.test(
  'undeclared members of a body are ignored: they are neither stored nor returned',
  async t => {
    const { post, store } = await startApp(t)
    const nested = '{"__proto__":{"tag":"y"},"deep":[1e400,12345678901234567890]}'
    const response = await post(
      `{"id":5,"name":"x","colour":"green","nested":${nested},"constructor":1}`
    )
    t.equal(response.statusCode, 200)
    t.equal(response.body, '{"name":"x"}')
    t.strictSame(await Array.fromAsync(allPlants(store)), [{ id: 5n, name: 'x' }])
  }
)

t.test('undeclared members are ignored, also deep ones, with and without an exponent', async t => {
  const { post } = await startApp(t)
  isError(t, await post(`{"id":1,"name":"x","nested":${'[1,'.repeat(9_000)}1}`), 400, 'The body is nested too deeply: more than 1000 levels.', '9,000 levels')
  for (const depth of [500, 999]) {
    for (const number of ['1', '1e0', '9007199254740993']) {
      const nested = `${'['.repeat(depth)}${number}${']'.repeat(depth)}`
      const { statusCode } = await post(`{"id":${depth},"name":"x","nested":${nested}}`)
      t.equal(statusCode, 200, `${number} in ${depth} arrays`)
    }
  }
})

t.test('a body at the size limit is accepted, a larger one is answered 413', async t => {
  const { post } = await startApp(t, { bodyLimit: 100 })
  const bodyOfSize = (bytes: number) => `{"id":1,"name":"${'x'.repeat(bytes - 18)}"}`
  t.equal(bodyOfSize(100).length, 100)
  t.equal((await post(bodyOfSize(100))).statusCode, 200)
  isError(t, await post(bodyOfSize(101)), 413, 'The body is larger than 100 bytes, the limit of this service.', '101 bytes')
})
