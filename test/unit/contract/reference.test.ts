// The reference names each export and each option. Its examples and the program of the README
// compile and run.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { compilePrograms } from '../../fixtures/compiler.ts'
import { codeIn, namesIn, sectionsOf } from '../../fixtures/documents.ts'

const folder = 'src/contract'
const reference = readFileSync(join(folder, 'REFERENCE.md'), 'utf8')
const { exports: doors } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

function parse (file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext)
}

/** The names that a door exports. */
function exportsOf (file: string): string[] {
  return parse(file).statements.flatMap(statement => {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined
    return clause && ts.isNamedExports(clause) ? clause.elements.map(({ name }) => name.text) : []
  })
}

/** The members of an interface. */
function membersOf (file: string, name: string): string[] {
  for (const statement of parse(join(folder, file)).statements) {
    if (!ts.isInterfaceDeclaration(statement) || statement.name.text !== name) continue
    return statement.members.flatMap(({ name }) => name && ts.isIdentifier(name) ? name.text : [])
  }
  throw new Error(`${file} has no interface ${name}`)
}

for (const [name, file] of Object.entries<string>(doors)) {
  const heading = `fastify-openapi-contract${name.slice(1)}`
  t.test(`the reference of ${heading} has an entry for each export, and for nothing else`, async t => {
    const section = sectionsOf(reference, 1).get(heading) ?? ''
    const entries = [...sectionsOf(section, 2).keys()].flatMap(namesIn)
    t.strictSame(entries.toSorted(), exportsOf(join(folder, file)).toSorted())
  })
}

/** The interfaces whose members are options, by the entry that lists them. */
const options: Record<string, Array<[file: string, name: string]>> = {
  '`ContractService`': [
    ['serve.ts', 'ContractService'], ['answers/answers.ts', 'AnswerOptions'],
    ['server/error-reporter.ts', 'ErrorReporter']
  ],
  '`BodyLimits`': [['bodies/body-readers.ts', 'BodyLimits'], ['bodies/multipart-parts.ts', 'MultipartLimits']],
  '`ServerOptions`': [['server/http-server.ts', 'ServerOptions'], ['server/open-connections.ts', 'ConnectionCounts']],
  '`generate`, `GenerateOptions`, `TypesEmitter`': [
    ['generate/generate.ts', 'GenerateOptions'], ['generate/read-options.ts', 'ReadOptions'],
    ['generate/read-options.ts', 'Leniency']
  ]
}

t.test('each option has a row with its default', async t => {
  for (const [entry, interfaces] of Object.entries(options)) {
    const text = sectionsOf(reference, 2).get(entry) ?? ''
    const rows = Array.from(text.matchAll(/^\| `(\w+)` \|/gm), ([, name = '']) => name)
    t.strictSame(rows.toSorted(), interfaces.flatMap(place => membersOf(...place)).toSorted(), entry)
  }
})

t.test('the examples compile and run', async t => {
  const [contract, ...examples] = codeIn(reference)
  const programs: Record<string, string> = {}
  for (const [index, { text }] of examples.entries()) programs[`example-${index}`] = text
  const readme = codeIn(readFileSync(join(folder, 'README.md'), 'utf8'))
  const ofReadme = readme.find(({ language }) => language === 'ts')
  programs.readme = String(ofReadme?.text).replace(/^await app\.listen.*$/m, 'await app.ready()')
  const { folder: compiled, messages } = await compilePrograms(t, contract?.text, programs)
  t.capture(console, 'log', () => {})
  t.capture(console, 'warn', () => {})
  t.capture(console, 'error', () => {})
  for (const name of Object.keys(programs)) {
    t.strictSame(messages(name), [], `${name} compiles`)
    await t.resolves(import(join(compiled, `${name}.ts`)), `${name} runs`)
  }
})

t.test('each function of the doors is in an example', async t => {
  const examples = codeIn(reference).map(({ text }) => text).join('\n')
  for (const file of Object.values<string>(doors)) {
    const door = await import(join(process.cwd(), folder, file))
    for (const name of Object.keys(door)) {
      if (name === 'ServerResponse') continue
      t.match(examples, new RegExp(`\\b${name}\\b`), `${dirname(file)}: ${name}`)
    }
  }
})
