// npm run prove -- json-schema FOLDER: judges the tests of the JSON Schema Test Suite for 2020-12
// as the body of a request and of an answer. FOLDER is a copy of its repository. Every difference
// must be in differences.ts, and every one of that list must be there.
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { exitWith, readArguments } from '../../../scripts/options.ts'
import { type Contract } from '../../../src/contract/index.ts'
import { readContract } from '../../../src/contract/generate/index.ts'
import { createCompiler, readJson } from '../../../src/contract/schema/door.ts'
import { differences } from './differences.ts'

interface Group {
  description: string
  schema: unknown
  tests: Array<{ description: string, data: unknown, valid: boolean }>
}

const [folder] = readArguments({}, 1).positionals
if (folder === undefined || !existsSync(join(folder, 'tests/draft2020-12'))) {
  exitWith('Name the folder of the JSON Schema Test Suite: it has tests/draft2020-12.')
}
const suite = resolve(folder)
const work = mkdtempSync(join(tmpdir(), 'json-schema-suite-'))
// The suite names documents of the network; what it needs of them is in its folder `remotes`.
globalThis.fetch = () => Promise.reject(new Error('there is no network'))
try {
  await judgeSuite()
} finally {
  rmSync(work, { recursive: true })
}

async function judgeSuite (): Promise<void> {
  const expected = listed()
  const counts = new Map<string, { groups: number, refused: number, tests: number, right: number }>()
  for (const file of globSync('**/*.json', { cwd: join(suite, 'tests/draft2020-12') }).sort()) {
    const kind = /^optional\/format\/|^optional\/|^/.exec(file)?.[0] || 'required'
    const count = counts.get(kind) ?? { groups: 0, refused: 0, tests: 0, right: 0 }
    counts.set(kind, count)
    for (const [index, group] of readGroups(file).entries()) {
      const place = `${file} ${index + 1}`
      const { refusal, wrong } = await judge(group)
      count.groups++
      if (refusal === undefined) {
        count.tests += group.tests.length
        count.right += group.tests.length - wrong.length
      } else count.refused++
      compare(place, expected.get(place), refusal === undefined ? wrong.length : 'refused', [
        `  ${group.description}`, ...wrong.map(test => `    ${test}`), `    ${refusal ?? ''}`
      ])
      expected.delete(place)
    }
  }
  for (const place of expected.keys()) fail(`${place} is in differences.ts, but not in the suite.`)
  console.table(Object.fromEntries(counts))
}

/** The tests of a group that are judged otherwise, or `refused`, by file and number. */
function listed (): Map<string, number | 'refused'> {
  const found = new Map<string, number | 'refused'>()
  for (const { refused = {}, judged = {} } of differences) {
    for (const [file, groups] of Object.entries(refused)) {
      for (const group of groups) found.set(`${file} ${group}`, 'refused')
    }
    for (const [file, groups] of Object.entries(judged)) {
      for (const [group, tests] of Object.entries(groups)) found.set(`${file} ${group}`, tests)
    }
  }
  return found
}

function readGroups (file: string): Group[] {
  const text = readFileSync(join(suite, 'tests/draft2020-12', file), 'utf8')
  return JSON.parse(text.replaceAll('http://localhost:1234', join(suite, 'remotes')))
}

interface Judgement { refusal?: string, wrong: string[] }

/** Generates a contract with the schema in a file of its own, and judges bodies. */
async function judge ({ schema, tests }: Group): Promise<Judgement> {
  const content = { 'application/json': { schema: { $ref: './schema.json' } } }
  const responses = { 204: { description: 'fine' } }
  writeFileSync(join(work, 'schema.json'), JSON.stringify(schema))
  writeFileSync(join(work, 'contract.json'), JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Suite', version: '1' },
    servers: [{ url: '/' }],
    security: [],
    paths: { '/a': { post: { operationId: 'a', requestBody: { content }, responses } } }
  }))
  try {
    const file = join(work, 'contract.json')
    const { contract } = await readContract(file, { types: 'built-in' })
    return { wrong: wrongTests(contract, tests) }
  } catch (error) {
    return { refusal: (error as Error).message, wrong: [] }
  }
}

function wrongTests ({ schemas, operations }: Contract, tests: Group['tests']): string[] {
  const schema = operations.a?.body?.content['application/json']?.schema ?? {}
  const wrong: string[] = []
  for (const { description, data, valid } of tests) {
    for (const direction of ['request', 'answer'] as const) {
      const { fault } = readJson(createCompiler(schemas, direction)(schema), JSON.stringify(data))
      if ((fault === undefined) === valid) continue
      wrong.push(`${description}: ${fault?.problem ?? 'is accepted'} (${direction})`)
      break
    }
  }
  return wrong
}

function compare (
  place: string,
  expected: number | 'refused' = 0,
  found: number | 'refused',
  details: string[]
): void {
  if (found !== expected) fail([`${place}: ${found} instead of ${expected}`, ...details].join('\n'))
}

function fail (message: string): void {
  console.log(message)
  process.exitCode = 1
}
