// Schemas that are allowed and hardly meant.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readContract } from '../../../../../src/contract/generate/read-contract.ts'
import { contractText } from '../../../../fixtures/contract.ts'

/** Warnings of a contract with these component schemas, without those about style. */
async function warningsOf (t: Test, schemas: Record<string, object>, paths = '  {}'): Promise<string[]> {
  const text = `${contractText({ paths })}\ncomponents: ${JSON.stringify({ schemas })}\n`
  const { warnings } = await readContract(join(t.testdir({ 'main.yaml': text }), 'main.yaml'))
  return warnings.filter(warning => !warning.includes('Matters of style'))
}

function named (schemas: object[]): Record<string, object> {
  return Object.fromEntries(schemas.map((schema, index) => [`Schema${index}`, schema]))
}

t.test('bounds that leave no value are a warning', async t => {
  const least = ['minimum', 'minLength', 'minItems', 'minProperties', 'minContains']
  for (const lower of least) {
    const upper = lower.replace('min', 'max')
    const empty = { [lower]: 3, [upper]: 2 }
    t.match(await warningsOf(t, { Empty: empty }), [
      new RegExp(`#/components/schemas/Empty/${lower} \`${lower}\` is more than \`${upper}\`: no value satisfies both\\.$`)
    ], lower)
    t.strictSame(await warningsOf(t, { Narrow: { [lower]: 3, [upper]: 3 } }), [], lower)
  }
  const exclusive = [
    { exclusiveMinimum: 3, maximum: 3 }, { minimum: 3, exclusiveMaximum: 3 }, { exclusiveMinimum: 3, exclusiveMaximum: 3 }
  ]
  t.match(await warningsOf(t, named(exclusive)), [
    /`exclusiveMinimum` leaves nothing below `maximum`/, /`minimum` leaves nothing below `exclusiveMaximum`/,
    /`exclusiveMinimum` leaves nothing below `exclusiveMaximum`/
  ])
})

t.test('a closed part of an allOf that refuses the members of another is a warning', async t => {
  const Closed = { properties: { a: {} }, additionalProperties: false }
  const part = { $ref: '#/components/schemas/Closed' }
  const refusing = { allOf: [part, { properties: { b: {} } }] }
  t.match(await warningsOf(t, { Closed, A: refusing, B: { ...part, allOf: [part], properties: { c: {} } } }), [
    /schemas\/A\/allOf A part with `additionalProperties: false` refuses .* beside this allOf instead\. \(1 more\)$/
  ])
  t.strictSame(await warningsOf(t, { Closed, A: { allOf: [part, { required: ['a'], properties: { a: {} } }] } }), [])
})

t.test('a value of a discriminator that its schema excludes is a warning', async t => {
  const branch = (kind: object) => ({ type: 'object', required: ['kind'], properties: { kind } })
  const mapping = { dog: '#/components/schemas/Dog', cat: 'Cat' }
  const oneOf = ['Dog', 'Cat'].map(name => ({ $ref: `#/components/schemas/${name}` }))
  const Pet = { oneOf, discriminator: { propertyName: 'kind', mapping } }
  t.match(await warningsOf(t, { Pet, Dog: branch({ const: 'dogs' }), Cat: branch({ enum: ['cats'] }) }), [
    /schemas\/Dog The value `dog` of a discriminator selects a schema whose own `kind` refuses it\.$/,
    /mapping\/cat The value `cat` of a discriminator selects a schema whose own `kind` refuses it\.$/
  ])
  t.strictSame(await warningsOf(t, { Pet, Dog: branch({ const: 'dog' }), Cat: branch({ type: 'string' }) }), [])
  t.match(await warningsOf(t, { Pet, Dog: branch({ const: 1 }), Cat: branch({}) }), [/The value `dog` .* refuses it\.$/])
})

t.test('a discriminator by a member that no schema has is a warning', async t => {
  const Dog = { properties: { kind: { type: 'string' } } }
  const Cat = { allOf: [{ properties: { kinds: { type: 'string' } } }] }
  const oneOf = ['Dog', 'Cat'].map(name => ({ $ref: `#/components/schemas/${name}` }))
  const by = (propertyName: string) => ({ Dog, Cat, Pet: { oneOf, discriminator: { propertyName } } })
  t.match(await warningsOf(t, by('kund')), [
    /schemas\/Pet\/discriminator\/propertyName No schema of this discriminator has the member `kund`\. Did you mean kind\?$/
  ])
  for (const name of ['kind', 'kinds']) t.strictSame(await warningsOf(t, by(name)), [], 'one has it')
})

t.test('a discriminator without oneOf is a warning', async t => {
  const discriminator = { propertyName: 'kind' }
  const Kind = { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } }
  const Pet = { oneOf: [{ $ref: '#/components/schemas/Kind' }], discriminator }
  t.match(await warningsOf(t, { Kind, Base: { ...Kind, discriminator }, Pet }), [
    /schemas\/Base\/discriminator A discriminator without `oneOf` beside it is ignored\.$/
  ])
})

t.test('an object of an answer that is sent without members is a warning', async t => {
  const free = { type: ['object', 'null'] }
  const sent = {
    Answer: { properties: { free, list: { items: { $ref: '#/components/schemas/Free' } }, open: { ...free, additionalProperties: true } } },
    Free: free,
    Part: { allOf: [{ type: 'object' }, { properties: { a: {} } }] },
    Request: { properties: { payload: { type: 'object' } } }
  }
  const content = (name: string) => `content: { application/json: { schema: { $ref: '#/components/schemas/${name}' } } }`
  const post = (status: string, name: string) => `'${status}': { description: x, ${content(name)} }`
  // Its body is bytes, which the schema does not change.
  const xml = "'202': { description: x, content: { application/xml: { schema: { type: object } } } }"
  const responses = `responses: { ${post('200', 'Answer')}, ${post('201', 'Part')}, ${xml} }`
  const operation = `post: { requestBody: { ${content('Request')} }, ${responses} }`
  t.match(await warningsOf(t, sent, `  /a: { ${operation} }`), [
    /schemas\/Answer\/properties\/free This object of an answer declares no member, .* to send all\. \(1 more\)$/
  ])
})

t.test('an unknown keyword is a warning with the one that was meant', async t => {
  const $ref = '#/components/schemas/A'
  t.match(await warningsOf(t, { A: { requried: ['b'] }, B: { nullable: true }, C: { $ref, nullable: true } }), [
    /`requried` is ignored: .* Did you mean required\?$/,
    /`nullable` is ignored: .* In OpenAPI 3\.1 it is `type: \[string, 'null'\]`\.$/,
    /`nullable` is ignored: .* In OpenAPI 3\.1 it is `anyOf: \[\{ \$ref: \.\.\. \}, \{ type: 'null' \}\]`\.$/
  ])
})

t.test('a pattern between slashes is a warning', async t => {
  const patterned = ['/^a+$/', '/^b$/i'].map(pattern => ({ type: 'string', pattern }))
  t.match(await warningsOf(t, named(patterned)), [
    /\/pattern No text matches this pattern: write it without the slashes around it\. \(1 more\)$/
  ])
  t.strictSame(await warningsOf(t, named(['^/a/$', '/a/', '^/'].map(pattern => ({ type: 'string', pattern })))), [])
})

t.test('a class of characters of POSIX in a pattern is a warning', async t => {
  t.match(await warningsOf(t, named([{ type: 'string', pattern: '^[[:alpha:]]+$' }, { pattern: '^[a:]b[:c]$' }])), [
    /Schema0\/pattern `\[:alpha:\]` is no class of characters in JavaScript: write \\p\{L\} for letters, \\d for digits\.$/
  ])
})

t.test('a media type that is hardly another one is a warning, and its body is bytes', async t => {
  const types = ['aplication/json', 'multipart/formdata; a=b', 'application/json', 'application/pdf', 'text/even-stream']
  const content = types.map(type => `'${type}': {}`).join(', ')
  const post = `post: { requestBody: { content: { ${content} } }, responses: { default: { description: x } } }`
  t.match(await warningsOf(t, {}, `  /a: { ${post} }`), [
    /:5:\d+ #\S+aplication~1json `aplication\/json` is bytes to the service\. Did you mean application\/json\?$/,
    /`multipart\/formdata; a=b` is bytes to the service\. Did you mean multipart\/form-data\?$/
  ])
})

t.test('an encoding of a member that the form does not have is a warning, as is a type like another', async t => {
  const Note = { allOf: [{ properties: { note: {} } }] }
  const form = {
    schema: { properties: { image: {} }, $ref: '#/components/schemas/Note' },
    encoding: { imge: {}, note: { contentType: 'text/plain, aplication/json' }, image: { contentType: 'image/png' } }
  }
  const content = JSON.stringify({ 'multipart/form-data': form, 'application/x-www-form-urlencoded': { encoding: { a: {} } } })
  const post = `post: { requestBody: { content: ${content} }, responses: { default: { description: x } } }`
  t.match(await warningsOf(t, { Note }, `  /a: { ${post} }`), [
    /encoding\/note\/contentType `aplication\/json` is bytes to the service\. Did you mean application\/json\?$/,
    /:5:\d+ #\S+encoding\/imge The schema has no member `imge`, which this encoding is for\. Did you mean image\?$/
  ])
})

t.test('a style of a part that means another form of it is a warning, and so are header fields', async t => {
  const encoding = {
    own: { style: 'form' },
    exploded: { explode: true },
    text: { contentType: 'text/plain' },
    pipes: { style: 'pipeDelimited' },
    commas: { explode: false },
    named: { headers: { 'X-Name': { schema: {} } } }
  }
  const content = JSON.stringify({ 'multipart/form-data': { encoding }, 'application/x-www-form-urlencoded': { encoding } })
  const post = `post: { requestBody: { content: ${content} }, responses: { default: { description: x } } }`
  t.match(await warningsOf(t, {}, `  /a: { ${post} }`), [
    /:5:\d+ #\S+form-data\/encoding\/pipes The style of a part .* is ignored: .* for each item\. \(1 more\)$/,
    /:5:\d+ #\S+form-data\/encoding\/named The header fields of a part of multipart\/form-data are ignored\.$/
  ])
})

t.test('an empty enum, a value twice and a path parameter that is not required are warnings', async t => {
  const schemas = { Empty: { enum: [] }, Twice: { enum: ['a', 'b', 'a'] }, Closed: { required: ['c', 'c'], properties: { c: {} } } }
  const parameter = '{ name: id, in: path, schema: { type: string } }'
  const get = `get: { parameters: [${parameter}], responses: { default: { description: x } } }`
  t.match(await warningsOf(t, schemas, `  /a/{id}: { ${get} }\n  /b/{id}: { ${get} }`), [
    /:5:\d+ #\S+\/parameters\/0 A parameter in the path is required always: write `required: true`\. \(1 more\)$/,
    /schemas\/Empty\/enum No value satisfies an empty `enum`\.$/,
    /schemas\/Twice\/enum `enum` has "a" twice\.$/,
    /schemas\/Closed\/required `required` has "c" twice\.$/
  ])
})
