// The project is compiled by TypeScript 7. The package, and the code that it generates, suit 5.9 as
// well, and the compiler options of their user.
import { execFileSync } from 'node:child_process'
import { realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import t from 'tap'
import { generate } from '../../../../src/contract/generate/index.ts'
import { compiler } from '../../../../scripts/compiler.ts'
import { compile } from '../../../fixtures/compiler.ts'

const require = createRequire(import.meta.url)
const native = 'node_modules/@typescript/native'
const compilers = [compiler, require.resolve('typescript/bin/tsc')]

t.test('tsc is TypeScript 7, although the package typescript has the same command', async t => {
  t.equal(realpathSync('node_modules/.bin/tsc'), realpathSync(`${native}/bin/tsc`))
  t.match(require(resolve(native, 'package.json')).version, /^7\./)
  t.match(require('typescript').version, /^5\.9\./)
})

/** Uses every door of the package, and all of the generated code. */
const program = `import fastify, { type FastifyInstance } from 'fastify'
import { type ServedOperation, serveContract, serverOptions, stubs } from 'fastify-openapi-contract'
import * as engine from 'fastify-openapi-contract'
import * as generator from 'fastify-openapi-contract/generate'
import * as schema from 'fastify-openapi-contract/schema'
import * as server from 'fastify-openapi-contract/server'
import {
  type Answer, type components, contract, type Handler, type Handlers, type HandlersTagged,
  type operations, type Request, type Verifiers
} from './FOLDER/index.EXTENSION'
import { document } from './FOLDER/document.EXTENSION'
import * as parts from './FOLDER/operations.EXTENSION'
import type { paths, webhooks } from './FOLDER/types.EXTENSION'

const plant: components['schemas']['Plant'] = { name: 'fern' }
const createPlant: Handler<'createPlant'> = (
  { body }: Request<'createPlant'>
): Answer<'createPlant'> => ({ status: 200, body: { ...plant, name: body.name } })
const handlers: Handlers = { ...stubs(contract), createPlant }
export const tagged: HandlersTagged<'plants'> = handlers
const verifiers: Verifiers = { bearerAuth: token => ({ name: token }) }

export async function start (): Promise<FastifyInstance> {
  const app = fastify(serverOptions())
  await app.register(serveContract({ contract, handlers, verifiers }))
  // @ts-expect-error: a verifier is missing
  serveContract({ contract, handlers, verifiers: {} })
  // @ts-expect-error: a status that the contract does not declare
  serveContract({ contract, handlers: { ...handlers, createPlant: () => ({ status: 299 }) }, verifiers })
  return app
}

export const values = [engine, generator, schema, server, document, parts]
export type Types = [operations, paths, webhooks, ServedOperation]
`

/** Installs the package as its user gets it. */
function install (folder: string): void {
  const out = join(folder, 'node_modules/fastify-openapi-contract')
  const script = ['scripts/package-engine.ts', '--out', out]
  execFileSync(process.execPath, script, { stdio: 'pipe' })
  for (const name of ['fastify', '@types', 'openapi-typescript', '@redocly']) {
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  }
}

const common = {
  target: 'esnext',
  lib: ['esnext'],
  types: ['node'],
  noEmit: true,
  strict: true,
  noUnusedLocals: true,
  noUncheckedIndexedAccess: true
}
const settings = {
  nodenext: {
    module: 'nodenext',
    allowImportingTsExtensions: true,
    exactOptionalPropertyTypes: true,
    // Declarations are checked, too: once, as this takes 5.9 four times as long.
    skipLibCheck: false
  },
  bundler: {
    module: 'esnext',
    moduleResolution: 'bundler',
    exactOptionalPropertyTypes: false,
    skipLibCheck: true
  }
}

t.test('the package and generated code compile by TypeScript 5.9 and 7 with usual options', async t => {
  t.capture(console, 'log')
  const folder = t.testdir({ 'package.json': '{ "type": "module" }', node_modules: {} })
  install(folder)
  for (const [name, options] of Object.entries(settings)) {
    const compilerOptions = { ...common, ...options }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    const extension = name === 'nodenext' ? 'ts' : 'js'
    for (const types of ['openapi-typescript', 'built-in'] as const) {
      const out = join(folder, types)
      await generate({ contract: 'openapi.yaml', out, command: 'x', check: false, types })
      const text = program.replaceAll('EXTENSION', extension).replaceAll('FOLDER', types)
      writeFileSync(join(folder, `${types}-program.ts`), text)
    }
    for (const file of compilers) t.strictSame(await compile(folder, file), [], `${name} ${file}`)
  }
})
