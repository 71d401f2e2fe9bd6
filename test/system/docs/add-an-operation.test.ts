// docs/build/add-an-operation.md, followed step by step in a copy of the project.
import { ESLint } from 'eslint'
import { execFile } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { compile } from '../../fixtures/compiler.ts'
import { holdProcess } from '../../fixtures/leash.ts'

const guide = readFileSync('docs/build/add-an-operation.md', 'utf8')
const folder = t.testdir()
const files = ['openapi.yaml', 'package.json', 'eslint.config.js']
for (const part of ['src', 'scripts', 'test', 'generated', ...files]) {
  cpSync(part, join(folder, part), { recursive: true })
}
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))

/** The code blocks of a language that name their file. */
function blocks (language: string): Array<{ file: string, text: string }> {
  const found = []
  for (const block of guide.matchAll(/^```(\w+) (\S+)\n(.*?)^```$/gms)) {
    const [, of, file = '', text = ''] = block
    if (of === language) found.push({ file: join(folder, file), text })
  }
  return found
}

/** Inserts the lines with + below the line above them, whose text the file has once. */
function insert (source: string, block: string): string {
  let result = source
  let end = 0
  for (const line of block.trimEnd().split('\n')) {
    const text = line.slice(1)
    if (line.startsWith('+')) {
      result = `${result.slice(0, end)}\n${text}${result.slice(end)}`
      end += text.length + 1
    } else {
      const parts = `\n${result}`.split(`\n${text}`)
      t.equal(parts.length, 2, `once: ${text}`)
      end = (parts[0] as string).length + text.length
    }
  }
  return result
}

/** Runs a script with Node in the copy; resolves to its exit code and both outputs. */
function run (script: string): Promise<{ code: number, output: string }> {
  // Without the variables by which tap observes its tests.
  const options = { cwd: folder, env: { PATH: process.env.PATH } }
  return new Promise(resolve => {
    holdProcess(execFile(process.execPath, [script], options, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr })
    }))
  })
}

/** Compiles these files of the copy with all that they import, and returns the errors. */
function compileFiles (...files: string[]): Promise<string[]> {
  const config = { extends: resolve('tsconfig.json'), include: [], files }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return compile(folder)
}

/** The messages of the linter about these files. */
async function lint (files: string[]): Promise<string[]> {
  const results = await new ESLint({ cwd: folder }).lintFiles(files)
  return results.flatMap(({ messages }) => messages.map(({ message }) => message))
}

t.setTimeout(120_000)
t.test('the guide adds an operation that compiles, obeys the linter and passes its tests', async t => {
  const [contract, ...others] = blocks('diff')
  const app = join(folder, 'src/service/app.ts')
  const apply = ({ file, text }: { file: string, text: string }) => {
    writeFileSync(file, insert(readFileSync(file, 'utf8'), text))
  }
  apply(contract as { file: string, text: string })
  t.match(await run('scripts/generate.ts'), { code: 0 })
  const [quoted = ''] = /^src\/service\/app\.ts: .*$/m.exec(guide) ?? []
  const errors = await compileFiles(app)
  t.equal(errors.length, 1)
  const error = errors[0]?.replace(/\(\d+,\d+\): error TS\d+:/, ':')
  t.match(error, quoted, 'the compiler reports what the guide quotes')

  const created = blocks('ts')
  for (const { file, text } of created) writeFileSync(file, text)
  others.forEach(apply)
  const written = [app, ...created.map(({ file }) => file)]
  t.strictSame(await compileFiles(...written), [])
  t.strictSame(await lint(written), [])
  const output = await run('test/unit/plants/get-label.test.ts')
  t.match(output, { code: 0, output: /^1\.\.2$/m })
})
