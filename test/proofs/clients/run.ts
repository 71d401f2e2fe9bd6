// npm run prove -- clients: makes a client from /docs/json by each of the generators that are used
// most, compiles it and sends plants with it. npx downloads two of them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions } from '../../../scripts/options.ts'
import { compile } from '../../fixtures/compiler.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { startService } from '../../fixtures/service.ts'
import { createTeardown } from '../../fixtures/teardown.ts'
import { generators } from './generators.ts'

readOptions({})

const tsconfig = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    allowImportingTsExtensions: true,
    target: 'esnext',
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: ['node'],
    skipLibCheck: true
  },
  include: ['*.ts', 'client']
}

const { t, end } = createTeardown()
const root = mkdtempSync(join(tmpdir(), 'plant-store-clients-'))
t.teardown(() => rmSync(root, { recursive: true }))
const variables = { ACCESS_TOKENS: testToken, DATABASE_URL: 'memory:', LOG_LEVEL: 'info' }
const ownFolder = join(root, 'service')
mkdirSync(ownFolder)
const { origin } = await startService(t, ownFolder, variables)
let faults = 0
for (const name of Object.keys(generators)) {
  const found = await prove(name).catch((error: Error) => [error.message])
  console.log(`${name}: ${found.length === 0 ? 'compiles, stores and reports exactly' : 'fails'}`)
  for (const fault of found) console.log(`  ${fault}`)
  faults += found.length
}
await end()
process.exit(faults === 0 ? 0 : 1)

/** Resolves to what is wrong with a client. */
async function prove (name: string): Promise<string[]> {
  const { command, files, program, id } = generators[name as keyof typeof generators]
  const folder = join(root, name.replace('/', '-'))
  mkdirSync(folder)
  const write = (file: string, text: string) => {
    writeFileSync(join(folder, file), text.replaceAll('ORIGIN', origin))
  }
  write('package.json', '{ "type": "module" }')
  write('tsconfig.json', JSON.stringify(tsconfig))
  for (const [file, text] of Object.entries(files)) write(file, text)
  const run = (line: string) => execFileSync('sh', ['-c', line.replaceAll('ORIGIN', origin)], {
    cwd: folder, encoding: 'utf8', env: { ...process.env, TOKEN: testToken }
  })
  // In a folder with packages npx leaves out those of its -p that are there already.
  run(command)
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  write('program.ts', program)
  write('mistake.ts', program.replace(/\bid: .*?, /, ''))
  const messages = await compile(folder)
  const faults = messages.filter(message => !message.startsWith('mistake.ts'))
  if (faults.length === messages.length) faults.push('A plant without an id compiles.')
  if (faults.length > 0) return faults
  const plant = '{"name":"Boston fern","tag":"fern"}'
  const stored = run(`node program.ts ${id} "Boston fern"`).trim()
  if (stored !== `200 ${plant}`) faults.push(stored)
  const conflict = run(`node program.ts ${id} Ivy`).trim()
  if (!conflict.includes(`409 {"error":409,"message":"Another plant has the id ${id}.`)) faults.push(conflict)
  return faults
}
