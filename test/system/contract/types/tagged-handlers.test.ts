// Handlers in several files, one for each tag, and stubs for those that are missing: what must
// compile and what must not.
import { join, resolve } from 'node:path'
import t from 'tap'
import { compilePrograms } from '../../../fixtures/compiler.ts'
import { contractText, jsonResponse, serveLoaded } from '../../../fixtures/contract.ts'

const text = jsonResponse('{ type: string }')
const get = (id: string, tags: string) => `{ get: { operationId: ${id}, ${tags} ${text} } }`
const paths = `
  /pets: ${get('listPets', 'tags: [pets],')}
  /pets/mine: ${get('listMine', 'tags: [pets, owners],')}
  /owners: ${get('listOwners', 'tags: [owners],')}
  /status: ${get('status', '')}
  /empty: ${get('empty', 'tags: [],')}`

const head = `
import { stubs } from '${resolve('src/contract/index.ts')}'
import type { Answer, Handlers, HandlersTagged } from '${resolve('src/contract/index.ts')}'
import * as contract from './generated/operations.ts'
import type { operations } from './generated/types.ts'

type Tags = 'pets' | 'owners' | undefined
type Tagged<Tag extends Tags> = HandlersTagged<operations, typeof contract, Tag>
export type Status = Promise<Answer<operations, 'status'>>
type All = Handlers<operations, keyof operations & keyof typeof contract.operations>
const answer = (body: string) => () => ({ status: 200 as const, body })
`
const pets = `export const pets: Tagged<'pets'> = {
  listPets: answer('pets'), listMine: answer('mine')
}
`
const owners = "export const owners: Tagged<'owners'> = { listOwners: answer('owners') }\n"
const others = `export const others: Tagged<undefined> = {
  status: answer('fine'), empty: answer('')
}
`
const all = 'export const handlers: All = { ...pets, ...owners, ...others }\n'

/** Programs, and the mistake that the compiler must report in the last line, if there is one. */
const programs: Record<string, [program: string, mistake?: RegExp]> = {
  complete: [head + pets + owners + others + all],
  stubs: [`${head}export const handlers: All = { ...stubs(contract), listPets: answer('pets') }\n`],
  'a file without one of its operations': [
    `${head}export const pets: Tagged<'pets'> = { listPets: answer('') }\n`,
    /'listMine' is missing/
  ],
  'an operation in the file of its second tag': [
    `${head}export const owners: Tagged<'owners'> = {
  listOwners: answer(''), listMine: answer('') }\n`,
    /'listMine' does not exist/
  ],
  'an operation with a tag in the file of those without': [
    `${head}export const others: Tagged<undefined> = {
  status: answer(''), empty: answer(''), listPets: answer('') }\n`,
    /'listPets' does not exist/
  ],
  'an answer that the contract does not declare': [
    `${head}export const owners: Tagged<'owners'> = {
  listOwners: () => ({ status: 201, body: '' }) }\n`,
    /'number' is not assignable to type 'DeclaredStatus<"listOwners", 200>'/
  ],
  'a wrong answer of an async handler that names its answers, in one line': [
    `${head}export const others: Tagged<undefined> = {
  empty: answer(''), status: async (): Status => ({ status: 200, body: 1 }) }\n`,
    /TS2322: Type 'number' is not assignable to type 'string'\.\s*$/
  ],
  'a missing file': [
    head + pets + owners + 'export const handlers: All = { ...pets, ...owners }\n',
    /missing the following properties .*: status, empty/
  ],
  'an unknown tag': [
    `${head}export type Other = HandlersTagged<operations, typeof contract, 'cats'>\n`,
    /'"cats"' does not satisfy the constraint '"owners" \| "pets" \| undefined'/
  ],
  'a stub of an operation that the contract does not have': [
    `${head}export const other = stubs(contract).readPet\n`,
    /'readPet' does not exist/
  ]
}

t.test('the first tag of an operation is the group whose handlers must have its own', async t => {
  const sources: Record<string, string> = {}
  Object.values(programs).forEach(([program], index) => { sources[`program-${index}`] = program })
  const { folder, messages } = await compilePrograms(t, contractText({ paths }), sources)
  Object.entries(programs).forEach(([name, [program, mistake]], index) => {
    const found = messages(`program-${index}`)
    const lastLine = program.split('\n').length - 1
    const wanted = new RegExp(`^program-\\d+\\.ts\\(${lastLine},.*${mistake?.source}`, 's')
    t.match(found, mistake === undefined ? [] : [wanted], name)
    t.equal(found.length, mistake === undefined ? 0 : 1, `${name}: one report of a mistake`)
  })

  const contract = await import(join(folder, 'generated/operations.ts'))
  t.strictSame(contract.operations.listMine.tags, ['pets', 'owners'])
  t.notOk('tags' in contract.operations.status || 'tags' in contract.operations.empty)
  const { handlers } = await import(join(folder, 'program-0.ts'))
  const { app } = await serveLoaded(t, contract, { handlers })
  const bodies = { '/pets/mine': 'mine', '/owners': 'owners', '/status': 'fine' }
  for (const [path, body] of Object.entries(bodies)) {
    t.equal((await app.inject(path)).json(), body, path)
  }
  const stubbed = await serveLoaded(t, contract, await import(join(folder, 'program-1.ts')))
  t.equal((await stubbed.app.inject('/pets')).json(), 'pets')
  t.equal((await stubbed.app.inject('/owners')).statusCode, 501)
})

t.test('a literal in a handler within the call of serveContract() keeps its type', async t => {
  const state = '{ type: string, enum: [waiting, done] }'
  const schema = `{ type: object, required: [state], properties: { state: ${state}, of: { type: array, items: ${state} } } }`
  const content = `content: { application/json: { schema: ${schema} } }`
  const headers = `headers: { X-State: { required: true, schema: ${state} } }`
  const read = `operationId: read, responses: { '200': { description: fine, ${headers}, ${content} } }`
  const list = `operationId: list, ${jsonResponse(`{ type: array, items: ${schema} }`)}`
  const program = (state: string) => `
import { serveContract } from '${resolve('src/contract/index.ts')}'
import { contract } from './generated/index.ts'
export const plugin = serveContract({
  contract,
  handlers: {
    list: () => ({ status: 200, body: [{ state: 'done', of: ['waiting'] }] }),
    read: async ({ body }) => ({ status: 200, headers: { 'X-State': 'done' }, body: { state: body ?? ${state} } })
  },
  verifiers: {}
})
`
  const text = contractText({ paths: `  /a: { get: { ${list} } }\n  /b: { get: { ${read} } }` })
  const { messages } = await compilePrograms(t, text, { right: program("'done'"), wrong: program("'dne'") })
  t.strictSame(messages('right'), [])
  t.match(messages('wrong'), [/Type '"dne"' is not assignable to type '"done" \| "waiting"'/])
})
