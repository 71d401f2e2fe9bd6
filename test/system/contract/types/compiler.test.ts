// The project is compiled by TypeScript 7. Its types and the generated code suit 5.9 as well.
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import t from 'tap'
import { compile, compilePrograms } from '../../../fixtures/compiler.ts'

const require = createRequire(import.meta.url)
const native = 'node_modules/@typescript/native'

const program = `
import type { Answer } from '${resolve('src/contract/types/answer.ts')}'
import type { Handler } from '${resolve('src/contract/types/handler.ts')}'
import type { document } from '${resolve('generated/document.ts')}'
import type * as contract from '${resolve('generated/operations.ts')}'
import type { operations } from '${resolve('generated/types.ts')}'

export const createPlant: Handler<operations, 'createPlant'> = (
  { body }
): Answer<operations, 'createPlant'> => {
  return { status: 200, body: { name: body.name } }
}

export type Generated = [typeof document, typeof contract]
`

t.test('npx tsc is TypeScript 7, although the package typescript has the same command', async t => {
  t.equal(realpathSync('node_modules/.bin/tsc'), realpathSync(`${native}/bin/tsc`))
  t.match(require(resolve(native, 'package.json')).version, /^7\./)
})

t.test('TypeScript 5.9 compiles generated code and the types of handlers, too', async t => {
  const { folder, messages } = await compilePrograms(t, undefined, { program })
  t.strictSame(messages('program'), [])
  t.strictSame(await compile(folder, require.resolve('typescript/bin/tsc')), [])
  t.match(require('typescript').version, /^5\.9\./)
})
