import { resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'

const port = resolve('src/plants/plant-store.ts')
const engines = ['memory.ts', 'postgres/engine.ts', 'sqlite/worker.ts']
const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, '.')
const host = ts.createCompilerHost(options)
/** What the compiler of this test, TypeScript 5.9, does not know yet. */
const additions = 'additions.d.ts'
const ofAdditions = 'interface RegExpConstructor { escape (text: string): string }'
const sources = new Map<string, ts.SourceFile | undefined>([
  [additions, ts.createSourceFile(additions, ofAdditions, ts.ScriptTarget.ESNext)]
])

/** Compiles the engines with another text of the port; returns the first error of each file. */
function compile (change: (text: string) => string): Map<string, string> {
  const getSourceFile: typeof host.getSourceFile = (file, ...others) => {
    if (resolve(file) === port) {
      return ts.createSourceFile(
        file, change(String(ts.sys.readFile(port))), ts.ScriptTarget.ESNext
      )
    }
    if (!sources.has(file)) sources.set(file, host.getSourceFile(file, ...others))
    return sources.get(file)
  }
  const rootNames = [additions, ...engines.map(engine => resolve('src/stores', engine))]
  const program = ts.createProgram({ rootNames, options, host: { ...host, getSourceFile } })
  const errors = new Map<string, string>()
  for (const { file, messageText } of ts.getPreEmitDiagnostics(program)) {
    const name = String(file?.fileName).replace(/^.*src\//, '')
    if (!errors.has(name)) errors.set(name, ts.flattenDiagnosticMessageText(messageText, '\n'))
  }
  return errors
}

t.setTimeout(120_000)

t.test('the engines compile with the port as it is', async t => {
  t.strictSame([...compile(text => text)], [])
})

t.test('a method with one more parameter does not compile until each engine takes it', async t => {
  const errors = compile(text => text.replace('limit: number)', 'limit: number, after: string)'))
  const inEngines = ['stores/memory.ts', 'stores/postgres/engine.ts', 'stores/sqlite/worker.ts']
  t.strictSame([...errors.keys()].sort(), ['plants/plant-store.ts', ...inEngines])
  for (const file of inEngines) t.match(errors.get(file), 'TakesFewerArgumentsThanThePort', file)
})

t.test('a further method does not compile until each engine has it', async t => {
  const further = '\n  furtherMethod (id: bigint): Promise<void>\n  count ()'
  const errors = compile(text => text.replace('\n  count ()', further))
  t.match(errors.get('plants/plant-store.ts'), "Property 'furtherMethod' is missing")
  const complete = compile(text => text
    .replace('\n  count ()', further)
    .replace('directCalls = {', "directCalls = {\n  furtherMethod: 'Not done.',"))
  t.strictSame([...complete.keys()].sort(), engines.map(engine => `stores/${engine}`))
  for (const [file, error] of complete) t.match(error, "'furtherMethod' is missing", file)
})
