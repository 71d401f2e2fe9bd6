// docs/build/add-an-operation.md, followed step by step in a copy of the project.
import { ESLint } from 'eslint'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openGuide } from '../../fixtures/guide.ts'

/** The messages of the linter about these files. */
async function lint (cwd: string, files: string[]): Promise<string[]> {
  const results = await new ESLint({ cwd }).lintFiles(files)
  return results.flatMap(({ messages }) => messages.map(({ message }) => message))
}

t.setTimeout(120_000)
t.test('the guide adds an operation that compiles, obeys the linter and passes its tests', async t => {
  const files = ['openapi.yaml', 'package.json', 'eslint.config.js']
  const parts = ['src', 'scripts', 'test', 'generated', ...files]
  const guide = openGuide(t, 'docs/build/add-an-operation.md', parts)
  const app = 'src/service/app.ts'
  const [contract, ...others] = guide.blocks('diff')
  if (contract !== undefined) guide.apply(contract)
  t.match(await guide.run('scripts/generate.ts'), { code: 0 })
  const [quoted = ''] = /^src\/service\/app\.ts: .*$/m.exec(guide.text) ?? []
  const errors = await guide.compile({ files: [app] })
  t.equal(errors.length, 1)
  const error = errors[0]?.replace(/\(\d+,\d+\): error TS\d+:/, ':')
  t.match(error, quoted, 'the compiler reports what the guide quotes')

  const created = guide.blocks('ts')
  for (const { file, text } of created) writeFileSync(join(guide.folder, file), text)
  others.forEach(guide.apply)
  const written = [app, ...created.map(({ file }) => file)]
  t.strictSame(await guide.compile({ files: written }), [])
  t.strictSame(await lint(guide.folder, written), [])
  const output = await guide.run('test/unit/plants/get-label.test.ts')
  t.match(output, { code: 0, output: /^1\.\.2$/m })
})
