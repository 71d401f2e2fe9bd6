// Handlers in several files, one for each tag, and stubs for those that are missing: what must compile and what must not.
import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { contractText, jsonResponse, serveLoaded } from '../../../fixtures/contract.ts'

const run = promisify(execFile)

const get = (id: string, tags: string) => `{ get: { operationId: ${id}, ${tags} ${jsonResponse('{ type: string }')} } }`
const paths = `
  /pets: ${get('listPets', 'tags: [pets],')}
  /pets/mine: ${get('listMine', 'tags: [pets, owners],')}
  /owners: ${get('listOwners', 'tags: [owners],')}
  /status: ${get('status', '')}
  /empty: ${get('empty', 'tags: [],')}`

const head = `
import { stubs } from '${resolve('src/contract/index.ts')}'
import type { Handlers, HandlersTagged } from '${resolve('src/contract/index.ts')}'
import * as contract from './generated/operations.ts'
import type { operations } from './generated/types.ts'

type Tagged<Tag extends 'pets' | 'owners' | undefined> = HandlersTagged<operations, typeof contract, Tag>
type All = Handlers<operations, keyof operations & keyof typeof contract.operations>
const answer = (body: string) => () => ({ status: 200 as const, body })
`
const pets = "export const pets: Tagged<'pets'> = { listPets: answer('pets'), listMine: answer('mine') }\n"
const owners = "export const owners: Tagged<'owners'> = { listOwners: answer('owners') }\n"
const others = "export const others: Tagged<undefined> = { status: answer('fine'), empty: answer('') }\n"
const all = 'export const handlers: All = { ...pets, ...owners, ...others }\n'

/** Programs, and the mistake that the compiler must report in the last line; none for those that compile. */
const programs: Record<string, [program: string, mistake?: RegExp]> = {
  complete: [head + pets + owners + others + all],
  stubs: [`${head}export const handlers: All = { ...stubs(contract), listPets: answer('pets') }\n`],
  'a file without one of its operations': [
    `${head}export const pets: Tagged<'pets'> = { listPets: answer('') }\n`,
    /'listMine' is missing/
  ],
  'an operation in the file of its second tag': [
    `${head}export const owners: Tagged<'owners'> = { listOwners: answer(''), listMine: answer('') }\n`,
    /'listMine' does not exist/
  ],
  'an operation with a tag in the file of those without': [
    `${head}export const others: Tagged<undefined> = { status: answer(''), empty: answer(''), listPets: answer('') }\n`,
    /'listPets' does not exist/
  ],
  'an answer that the contract does not declare': [
    `${head}export const owners: Tagged<'owners'> = { listOwners: () => ({ status: 201, body: '' }) }\n`,
    /'201' is not assignable/
  ],
  'a missing file': [
    head + pets + owners + 'export const handlers: All = { ...pets, ...owners }\n',
    /missing the following properties .*: status, empty/
  ],
  'an unknown tag': [
    `${head}export type Other = HandlersTagged<operations, typeof contract, 'cats'>\n`,
    /'"cats"' does not satisfy the constraint '"pets" \| "owners" \| undefined'/
  ],
  'a stub of an operation that the contract does not have': [
    `${head}export const other = stubs(contract).readPet\n`,
    /'readPet' does not exist/
  ]
}

t.test('each operation is in the group of its first tag, and the compiler reports a missing handler of any group', async t => {
  const config = JSON.stringify({ extends: resolve('tsconfig.json'), include: ['*.ts', 'generated'] })
  const files = Object.values(programs).map(([program], index) => [`program-${index}.ts`, program])
  const folder = t.testdir({
    ...Object.fromEntries(files),
    'tsconfig.json': config,
    'openapi.yaml': contractText({ paths })
  })
  const options = ['--contract', join(folder, 'openapi.yaml'), '--out', join(folder, 'generated')]
  await run(process.execPath, ['scripts/generate.ts', ...options])
  const tsc = [resolve('node_modules/typescript/bin/tsc'), '--pretty', 'false', '--noUnusedLocals', 'false']
  const { stdout } = await run(process.execPath, tsc, { cwd: folder }).catch(error => error as { stdout: string })

  const reports = stdout.trimEnd().split(/\n(?=\S)/)
  Object.entries(programs).forEach(([name, [program, mistake]], index) => {
    const own = reports.filter(report => report.startsWith(`program-${index}.ts(`))
    const lastLine = program.split('\n').length - 1
    const wanted = new RegExp(`^program-\\d+\\.ts\\(${lastLine},.*${mistake?.source}`, 's')
    t.match(own, mistake === undefined ? [] : [wanted], name)
    t.equal(own.length, mistake === undefined ? 0 : 1, `${name}: one report of a mistake`)
  })

  const contract = await import(join(folder, 'generated/operations.ts'))
  t.strictSame(contract.operations.listMine.tags, ['pets', 'owners'])
  t.notOk('tags' in contract.operations.status || 'tags' in contract.operations.empty)
  const { handlers } = await import(join(folder, 'program-0.ts'))
  const { app } = await serveLoaded(t, contract, { handlers })
  for (const [path, body] of [['/pets/mine', 'mine'], ['/owners', 'owners'], ['/status', 'fine']] as const) {
    t.equal((await app.inject(path)).json(), body, path)
  }
  const stubbed = await serveLoaded(t, contract, await import(join(folder, 'program-1.ts')))
  t.equal((await stubbed.app.inject('/pets')).json(), 'pets')
  t.equal((await stubbed.app.inject('/owners')).statusCode, 501)
})
