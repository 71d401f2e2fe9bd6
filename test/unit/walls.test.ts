// The walls between the rooms of src and scripts, which test/fixtures/walls.js lists.
import { ESLint } from 'eslint'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'

interface Room { imports: string[], packages: string[] }

const eslint = new ESLint({ ruleFilter: ({ ruleId }) => ruleId === 'house/walls' })
const config = await eslint.calculateConfigForFile('src/main.ts')
const rooms = new Map<string, Room>(Object.entries(config.settings.rooms))
const paths = [...rooms.keys()]
/** The rooms whose files the rule looks at. */
const linted = [...rooms].filter(([path]) => /^(?:src|scripts)\b/.test(path))
const files = globSync('{src,scripts,generated,test/fixtures}/**/*.ts')

/** The messages for a text that stands in a file, by line. */
async function lint (filePath: string, text: string): Promise<Map<number, string>> {
  const [result] = await eslint.lintText(text, { filePath })
  return new Map(result?.messages.map(({ line, message }) => [line, message]))
}

/** A file that a room could have. */
function fileIn (room: string): string {
  return room.endsWith('.ts') ? room : join(room, 'some-file.ts')
}

function isWithin (file: string, path: string): boolean {
  return file === path || file.startsWith(`${path}/`)
}

function importOf (from: string, to: string): string {
  const path = relative(dirname(from), to)
  return `import '${path.startsWith('.') ? path : `./${path}`}'`
}

t.test('every room exists, and imports only from rooms further down', async t => {
  for (const [index, [path, { imports }]] of [...rooms].entries()) {
    t.ok(existsSync(path), path)
    for (const allowed of imports) {
      const below = paths.slice(index + 1).some(lower => isWithin(allowed, lower))
      t.ok(existsSync(allowed) && below, `${path} may import ${allowed}`)
    }
  }
})

t.test('a room can import no file of another one but those that the table allows', async t => {
  for (const [path, { imports }] of linted) {
    const from = fileIn(path)
    const others = files.filter(file => roomOf(file) !== path)
    const messages = await lint(from, others.map(file => importOf(from, file)).join('\n'))
    const admitted = others.filter((_file, index) => !messages.has(index + 1))
    const allowed = others.filter(file => imports.some(each => isWithin(file, each)))
    t.strictSame(admitted, allowed, path)
    t.ok(admitted.length < others.length, `${path} has a wall`)
  }
})

/** The row with the longest path. */
function roomOf (file: string): string | undefined {
  return paths.filter(path => isWithin(file, path)).sort((a, b) => b.length - a.length)[0]
}

t.test('the domain imports neither Fastify, nor a database, nor the inside of another room', async t => {
  const text = [
    "import fastify from 'fastify'",
    "import auth from '@fastify/auth'",
    "import { DatabaseSync } from 'node:sqlite'",
    "import { HttpError } from '../contract/server/http-error.ts'",
    "export * from '../contract/serve.ts'",
    "export { groupCommit } from '../stores/group-commit.ts'",
    "const engine = await import('../stores/memory.ts')",
    'const other = await import(`../stores/memory.ts`)',
    "type Engine = import('../stores/engine.ts').Engine",
    "import { join } from 'node:path'",
    "import type { Handler } from 'fastify-openapi-contract'",
    "import type { NewPlant } from './plant-store.ts'",
    'export const named = 1',
    'await import(named)'
  ].join('\n')
  const messages = await lint('src/plants/some-file.ts', text)
  t.strictSame([...messages.keys()], [1, 2, 3, 4, 5, 6, 7, 8, 9])
  t.equal(messages.get(1), 'src/plants must not import the package fastify (rooms in test/fixtures/walls.js).')
  t.equal(messages.get(4), 'src/plants must not import src/contract/server/http-error.ts (rooms in test/fixtures/walls.js).')
})

t.test('a file in no room is reported with the way out', async t => {
  const message = 'src/shop/main.ts is in no room: add its folder to test/fixtures/walls.js.'
  const messages = await lint('src/shop/main.ts', "import '../server/drain.ts'")
  t.strictSame([...messages.values()], [message])
})

t.test('the table allows nothing that the code does without', async t => {
  for (const [path, { imports, packages }] of linted) {
    const used = files.filter(file => roomOf(file) === path).flatMap(importsOf)
    for (const name of packages) t.ok(used.some(each => isWithin(each, name)), `${path} uses ${name}`)
    for (const allowed of imports) t.ok(used.some(each => isWithin(each, allowed)), `${path} uses ${allowed}`)
  }
})

t.test('no file imports itself through others, not even its types', async t => {
  const circles = (graph: Map<string, string[]>): string[] => {
    const left = new Map(graph)
    const free = () => [...left].filter(([, imports]) => !imports.some(each => left.has(each)))
    for (let next = free(); next.length > 0; next = free()) {
      for (const [file] of next) left.delete(file)
    }
    return [...left.keys()]
  }
  const graph = new Map(files.map(file => [file, importsOf(file)]))
  t.strictSame(circles(graph), [])
  t.strictSame(circles(new Map([['a', ['b']], ['b', ['c']], ['c', ['b']], ['d', ['b']]])), ['a', 'b', 'c', 'd'])
})

/** The packages and files that a file imports. */
function importsOf (file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(/(?:from|import|module) *\(?'([^']+)'/g)
  return Array.from(found, ([, name = '']) => name.startsWith('.') ? join(dirname(file), name) : name)
}
