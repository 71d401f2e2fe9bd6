// Types of schemas that the programs of the compiler's tests do not have.
import { join } from 'node:path'
import t from 'tap'
import { emitBuiltInTypes } from '../../../../../src/contract/generate/emit/emit-built-in-types.ts'
import { emitTypes } from '../../../../../src/contract/generate/emit/emit-types.ts'
import { readContract } from '../../../../../src/contract/generate/index.ts'
import { contractText, jsonResponse, ref } from '../../../../fixtures/contract.ts'

t.test('compositions, empty enums and enums of int64', async t => {
  const members = ['Composed', 'Beside', 'None', 'Some'].map(name => `${name}: ${ref(name)}`)
  const text = contractText({
    paths: `  /a: { get: { operationId: a, ${jsonResponse(`{ type: object, properties: { ${members.join(', ')} } }`)} } }`,
    components: `  schemas:
    Composed: { type: object, allOf: [{ type: object, properties: { a: { type: string } } }] }
    Beside: { type: object, properties: { b: { type: string } }, anyOf: [{ type: object, properties: { a: { type: string } } }] }
    None: { enum: [] }
    Some: { type: [integer, 'null'], format: int64, enum: [1, null] }`
  })
  const { served } = await readContract(join(t.testdir({ 'openapi.yaml': text }), 'openapi.yaml'))
  const types = emitBuiltInTypes(served).replaceAll(/\s+/g, ' ')
  t.match(types, /type Composed = \{ a\?: string \}/)
  t.match(types, /type Beside = \(\{ b\?: string \} & \{ a\?: string \}\)/)
  t.match(types, /type None = never/)
  t.match(types, /type Some = \(1n \| null\)/)
})

t.test('both emitters have operations and queries that openapi-typescript does not know', async t => {
  const { served } = await readContract('test/fixtures/contracts/library.yaml')
  for (const types of [emitBuiltInTypes(served), await emitTypes(served)].map(text => text.replaceAll(/[\s;]+/g, ' '))) {
    t.match(types, /findBooks: \{ parameters: \{ query\?: \{ shelf\?: number \}/)
    t.match(types, /copyBooks: \{/)
    t.match(types, /search: \{ parameters: \{.* querystring: \{ filter: /)
    t.match(types, /mark: \{ parameters: \{.* querystring\?: \{ selector\?: /)
    t.match(types, /kind: \(?"(?:film" \| "movie|movie" \| "film)"/)
    t.match(types, /Other(?:: | = )\{ kind\?: string name: string \}(?: |$)(?!&)/)
    t.notMatch(types, /"method |query\?: \{ selector/)
  }
})
