// docs/build/add-an-operation.md, followed step by step on a copy of the project.
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { applyPatch, parsePatch, reversePatch } from 'diff'
import type { StructuredPatch } from 'diff'
import t from 'tap'
import { holdProcess } from '../../fixtures/leash.ts'

const guide = readFileSync('docs/build/add-an-operation.md', 'utf8')
const compiler = resolve('node_modules/typescript/bin/tsc')

/** The code blocks of the guide in a language, in order. */
function blocks (language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')
  return Array.from(guide.matchAll(pattern), ([, text]) => text as string)
}

interface Copy {
  path: (file: string) => string
  /** Runs a script with Node; resolves to its exit code and both outputs. */
  run: (...args: string[]) => Promise<{ code: number, output: string }>
}

function copyProject (): Copy {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-guide-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const folders = ['src', 'scripts', 'test', 'generated', 'docs']
  const files = ['README.md', 'openapi.yaml', 'tsconfig.json', 'package.json']
  for (const part of [...folders, ...files]) cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  // Without the variables by which tap observes its tests.
  const options = { cwd: folder, env: { PATH: process.env.PATH } }
  return {
    path: file => join(folder, file),
    run: (...args) => new Promise(resolve => {
      holdProcess(execFile(process.execPath, args, options, (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr })
      }))
    })
  }
}

// It compiles and tests a copy of the project.
t.setTimeout(300_000)
t.test('the guide adds an operation that compiles and passes its tests', { timeout: 290_000 }, async t => {
  const { path, run } = copyProject()
  const apply = (patch: StructuredPatch): void => {
    const file = path(patch.newFileName?.replace(/^[ab]\//, '') ?? '')
    const patched = applyPatch(readFileSync(file, 'utf8'), patch)
    t.type(patched, 'string', `the diff of ${patch.newFileName} applies`)
    writeFileSync(file, String(patched))
  }
  const patches = blocks('diff').flatMap(text => parsePatch(text))
  if (existsSync(path('src/plants/get-plant.ts'))) {
    for (const patch of patches) apply(reversePatch(patch))
    for (const file of ['src/plants/get-plant.ts', 'test/plants/get-plant.test.ts']) rmSync(path(file))
  }
  const [contract, ...others] = patches as [StructuredPatch]
  apply(contract)
  t.match(await run('scripts/generate.ts'), { code: 0 })
  const [quoted] = /^src\/app\.ts: .*$/m.exec(guide) ?? []
  const { output } = await run(compiler, '--pretty', 'false')
  t.equal(output.trim().replace(/\(\d+,\d+\): error TS\d+/, ''), quoted, 'the compiler reports what the guide quotes')

  const [handler = '', test = ''] = blocks('ts')
  writeFileSync(path('src/plants/get-plant.ts'), handler)
  writeFileSync(path('test/plants/get-plant.test.ts'), test)
  others.forEach(apply)
  t.strictSame(await run(compiler, '--pretty', 'false'), { code: 0, output: '' }, 'everything compiles')
  t.match(await run('test/plants/get-plant.test.ts'), { code: 0, output: /^1\.\.2$/m })
  t.match(await run('test/unit/service/app.test.ts'), { code: 0 })
})
