// fastify-openapi-contract init. package.test.ts beside this folder runs what it writes.
import { ESLint, type Linter } from 'eslint'
import neostandard from 'neostandard'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import t from 'tap'
import { sourceOf, startScripts } from '../../../../src/contract/cli/project-files.ts'
import { openFolder } from '../../../fixtures/command-line.ts'
import { compile } from '../../../fixtures/compiler.ts'
import { anyResponse, contractText, noContent, parameter } from '../../../fixtures/contract.ts'
import { holdProcess } from '../../../fixtures/leash.ts'

const modules = resolve('node_modules')
const engine = resolve('src/contract')
const compilerOptions = { target: 'esnext', module: 'nodenext', types: ['node'], strict: true, noEmit: true, skipLibCheck: true }
const rules = neostandard({ ts: true }) as Linter.Config[]
rules.push({ rules: { '@stylistic/max-len': ['error', { code: 100 }] } })
const small = contractText({ paths: `  /a: { get: { operationId: a, ${noContent} } }`, root: 'security: []' })

const overlay = `overlay: 1.0.0
info: { title: Tags, version: 1.0.0 }
actions: [{ target: $.paths, update: { /over: { get: { tags: [over], ${noContent} } } } }]
`

t.test('init writes a service for an empty folder, and keeps its files the next time', async t => {
  const { run, read } = openFolder(t)
  const files = [
    'openapi.yaml', 'package.json', 'tsconfig.json', 'tsconfig.build.json', '.gitignore', 'generated/document.ts', 'generated/index.ts',
    'generated/operations.ts', 'generated/types.ts', 'src/main.ts', 'src/app.ts', 'src/service.ts', 'src/handlers/notes.ts',
    'src/verifiers.ts', 'test/app.test.ts'
  ]
  const next = `
Next:
  npm install
  npm test
  TOKEN_SECRET=choose-one npm start
Then open http://localhost:3000/docs, and write the handlers in src/handlers/.
npm run dev restarts the service after each change of the code. Run beside it, to generate after
each change of the contract: npm run generate -- --watch
In production run node src/main.ts itself: npm does not pass SIGTERM on.
`
  const first = { code: 0, stdout: files.map(file => `wrote ${file}\n`).join('') + next, stderr: '' }
  t.strictSame(await run('init'), first)
  const { name, scripts, dependencies } = JSON.parse(read('package.json'))
  t.match({ name, scripts, dependencies }, {
    name: 'my-service',
    // generate-command.test.ts proves that the command refuses an old Node.
    scripts: {
      prestart: 'fastify-openapi-contract --version',
      predev: 'npm run generate',
      dev: /^node --watch-path=src --watch-path=generated src\/main\.ts$/,
      generate: 'fastify-openapi-contract generate'
    },
    dependencies: { fastify: /^\^5\./, 'fastify-openapi-contract': `file:${relative('', engine)}` }
  })
  const kept = files.filter(file => !file.startsWith('generated/'))
  kept.splice(5, 0, 'generated/')
  t.equal((await run('init')).stdout, kept.map(file => `kept ${file}\n`).join('') + next)
  t.match(await run('generate', '--check'), { code: 0 })
})

t.test('a service depends on the file or the folder that the package came from, or else on its version', async t => {
  const own = { name: 'engine', version: '1.2.3' }
  const manifest = (source: string) => JSON.stringify({ dependencies: { engine: source } })
  const folder = t.testdir({
    file: { 'package.json': manifest('file:../packed/engine.tgz') },
    registry: { 'package.json': manifest('^1.0.0') },
    global: {}
  })
  const sourceIn = (project: string) => sourceOf(own, join(folder, project, 'node_modules/engine'))
  t.equal(sourceIn('file'), `file:${relative('', join(folder, 'packed/engine.tgz'))}`)
  t.equal(sourceIn('registry'), '^1.2.3')
  t.equal(sourceIn('global'), '^1.2.3')
  t.equal(sourceOf(own, join(folder, 'built')), `file:${relative('', join(folder, 'built'))}`)
})

t.test('the code compiles, is clean, and starts for tags, ids and security schemes of all kinds', async t => {
  const response = `security: [{ 'the-key': [], queryKey: [], cookieKey: [], user: [] }], ${anyResponse}`
  const id = parameter('id', 'path')
  const { run, read, folder, write } = openFolder(t, {
    'openapi.yaml': contractText({
      root: 'security: [{ token: [] }, { oauth: [] }]',
      paths: `  /a/{id}/ä: { get: { operationId: readA, parameters: [${id}], tags: [Pet owners], ${response} } }
  /b: { post: { operationId: "it's/b", tags: ["it's: pet-owners"], ${response} } }
  /c: { get: { operationId: default, tags: [2fa], ${response} } }
  /d: { get: { operationId: d, tags: ['!'], ${response} } }
  /e: { get: { operationId: e, ${anyResponse} } }
  /f: { get: { operationId: f, tags: [v1], ${response} } }
  /g: { get: { operationId: g, tags: [V-1], ${response} } }`,
      components: `  securitySchemes:
    the-key: { type: apiKey, in: header, name: X-Key }
    queryKey: { type: apiKey, in: query, name: key }
    cookieKey: { type: apiKey, in: cookie, name: key }
    user: { type: http, scheme: Basic }
    token: { type: http, scheme: bearer }
    oauth: { type: openIdConnect, openIdConnectUrl: 'https://example.com' }`
    })
  })
  const { code, stdout } = await run('init')
  t.equal(code, 0)
  const secrets = ['THE_KEY', 'QUERY_KEY', 'COOKIE_KEY', 'USER', 'TOKEN', 'OAUTH']
  const forms = secrets.map(name => `${name}_SECRET=${name === 'USER' ? 'user:password' : 'choose-one'}`)
  t.equal(/^ {2}(.*) npm start$/m.exec(stdout)?.[1]?.split(' ').sort().join(), forms.sort().join())
  const handlers = ['2fa.ts', 'it-s-pet-owners.ts', 'other.ts', 'other2.ts', 'pet-owners.ts', 'v-1.ts', 'v1.ts']
  t.strictSame(readdirSync(join(folder, 'src/handlers')).sort(), handlers)
  t.match(read('src/handlers/it-s-pet-owners.ts'), "  // POST /b\n  'it\\'s/b': stub['it\\'s/b']\n")
  t.match(read('src/service.ts'), /{\n {6}\.\.\.petOwnersHandlers,\n {6}\.\.\.itSPetOwnersHandlers,\n {6}\.\.\._2faHandlers,\n {6}\.\.\.otherHandlers,\n/)
  symlinkSync(modules, join(folder, 'node_modules'))
  t.strictSame(await compile(folder), [])
  const env = { ...process.env, NODE_OPTIONS: '' }
  const tested = execFileSync(process.execPath, ['--test', '--test-reporter=tap'], { cwd: folder, env, encoding: 'utf8' })
  t.match(tested, /^# Subtest: GET \/c needs credentials$[^]*^# pass 2$/m)
  const tagged = read('src/handlers/2fa.ts')
  write('src/handlers/2fa.ts', tagged.replace('stub.default', "() => { throw new Error('why') }"))
  const broken = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], { cwd: folder, env, encoding: 'utf8' })
  t.match(broken, { status: 1, stdout: /"message":"why"/ }, 'a failed test shows the cause of a 500')
  write('src/handlers/2fa.ts', tagged)
  const { status, stdout: lines, stderr } = spawnSync(process.execPath, ['src/main.ts'], { cwd: folder, env, encoding: 'utf8' })
  const missing = secrets.map(name => name === 'USER' ? 'USER_SECRET=user:password' : `${name}_SECRET`).join(' and ')
  t.strictSame({ status, lines, stderr }, { status: 1, lines: '', stderr: `Set ${missing} in the environment or in .env.\n` })
  write('.env', secrets.map(name => `${name}_SECRET=user:password\n`).join(''))
  const misconfigured = { ...env, PORT: 'abc' }
  const failed = spawnSync(process.execPath, ['src/main.ts'], { cwd: folder, env: misconfigured, encoding: 'utf8' })
  t.match(failed, { status: 1, stderr: /^The service cannot listen at HOST=localhost and PORT=abc: .*\n$/ })
  const service = read('src/service.ts')
  const mistakes: Array<[from: string, to: string, stderr: RegExp]> = [
    ['...petOwnersHandlers,', '', /^The operation readA has no handler\. Correct `handlers` .*\n$/],
    ['./verifiers.ts', './verifiers.js', /^Cannot find module '.*verifiers\.js' imported from .*service\.ts\. Let the import end with \.ts\.\n$/],
    ['./verifiers.ts', './verifiers', /^Cannot find module '.*verifiers' imported from .*service\.ts\. Let the import end with \.ts\.\n$/],
    ['createVerifiers(env)', 'createVerifiers(env).none.none', /^TypeError: [^]*\n {4}at createService \(/],
    ['createVerifiers(env)', '(() => { throw "why" })()', /^why\n$/]
  ]
  for (const [from, to, stderr] of mistakes) {
    write('src/service.ts', service.replace(from, to))
    t.match(spawnSync(process.execPath, ['src/main.ts'], { cwd: folder, env, encoding: 'utf8' }), { status: 1, stderr })
  }
  write('src/service.ts', service.replace('./handlers/', './none/'))
  const start = () => spawnSync(process.execPath, ['src/main.ts'], { cwd: folder, env, encoding: 'utf8' })
  t.match(start(), { status: 1, stderr: /ERR_MODULE_NOT_FOUND/ }, 'a module of the owner keeps its stack')
  write('src/service.ts', service)
  renameSync(join(folder, 'generated'), join(folder, 'away'))
  const stderrOfMissing = 'The folder generated/ is missing or not complete. Run npm run generate first.\n'
  t.match(start(), { status: 1, stdout: '', stderr: stderrOfMissing })
  renameSync(join(folder, 'away'), join(folder, 'generated'))
  const { createVerifiers, missingSecrets } = await import(join(folder, 'src/verifiers.ts'))
  const given = Object.fromEntries(secrets.map(name => [`${name}_SECRET`, 'x']))
  t.strictSame(missingSecrets(given), ['USER_SECRET=user:password'], 'a secret without a user lets nobody in')
  t.throws(() => createVerifiers(given), { message: 'Set USER_SECRET=user:password.' })
  const eslint = new ESLint({ cwd: folder, overrideConfigFile: true, overrideConfig: rules })
  const linted = await eslint.lintFiles(['src', 'test'])
  t.strictSame(linted.flatMap(({ filePath, messages }) => messages.map(({ message }) => [filePath, message])), [])
  t.equal(linted.length, 4 + handlers.length + 1)
})

t.test('the log of a service has no key of a query', async t => {
  const { run, folder } = openFolder(t, {
    'openapi.yaml': contractText({
      root: 'security: [{ key: [] }]',
      paths: `  /a: { get: { operationId: a, ${noContent} } }`,
      components: '  securitySchemes: { key: { type: apiKey, in: query, name: key } }'
    })
  })
  t.match(await run('init'), { code: 0 })
  symlinkSync(modules, join(folder, 'node_modules'))
  const env = { ...process.env, NODE_OPTIONS: '', PORT: '0', KEY_SECRET: 'fern-key' }
  const service = holdProcess(spawn(process.execPath, ['src/main.ts'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] }))
  t.teardown(() => service.kill('SIGKILL'))
  let log = ''
  for await (const text of service.stdout.setEncoding('utf8')) {
    log += text
    const [, origin] = /listening at (http:[^"]+)"/.exec(text) ?? []
    if (origin !== undefined) {
      t.equal((await fetch(`${origin}/a?key=fern-key`)).status, 204)
      service.kill()
    }
  }
  t.match(log, '"url":"/a"')
  t.notMatch(log, 'fern-key')
})

t.test('the test of a service sends a valid request, or says that it lacks something', async t => {
  const operation = (id: string, more: string) => `{ operationId: ${id}, ${more}, ${noContent} }`
  const body = 'requestBody: { required: true, content: { text/plain: {} } }'
  const inQuery = `parameters: [${parameter('q', 'query')}]`
  const required = inQuery.replace('name:', 'required: true, name:')
  const inPath = (schema: string) => `parameters: [${parameter('id', 'path', schema)}]`
  const lacking = `  /query: { get: ${operation('a', required)} }
  /body: { post: ${operation('b', body)} }
  /uuid/{id}: { get: ${operation('c', inPath('{ type: string, format: uuid }'))} }
  /enum/{id}: { get: ${operation('d', inPath('{ enum: [a] }'))} }
  /long/{id}: { get: ${operation('e', inPath('{ type: string, minLength: 2 }'))} }`
  const cases: Array<[paths: string, request: RegExp]> = [
    [lacking, /GET \/query[^]*The request lacks[^]*\[400, 415\]\.includes/],
    [`${lacking}\n  /id/{id}: { put: ${operation('f', inPath('{ type: integer, format: int64, title: Id }'))} }`, /url: '\/id\/1'[^]*statusCode < 400/],
    [`  /events: { get: { operationId: s, responses: { 200: { description: A, content: { text/event-stream: {} } } } } }
  /id/{id}: { put: ${operation('f', inPath('{ type: string }'))} }`, /url: '\/id\/1'/],
    [`${lacking}\n  /id/{id}: { put: ${operation('f', inPath('{ type: string }'))} }\n  /all: { get: ${operation('g', inQuery)} }`, /GET \/all[^]*statusCode < 400/]
  ]
  for (const [paths, expected] of cases) {
    await t.test(expected.source, async t => {
      const { run, read } = openFolder(t, { 'openapi.yaml': contractText({ paths }) })
      t.match(await run('init'), { code: 0 })
      t.match(read('test/app.test.ts'), expected)
    })
  }
})

t.test('a contract in another place is copied with the files that it refers to', async t => {
  const { run, read, folder, write } = openFolder(t, {
    '../given/other.yaml': contractText({ paths: '  /a: { $ref: parts/a.yaml }' }),
    '../given/parts/a.yaml': `get: { operationId: a, ${anyResponse} }`,
    '../given/far.yaml': contractText({ paths: '  /a: { $ref: ../far/a.yaml }' }),
    '../far/a.yaml': `get: { operationId: a, ${noContent} }`
  })
  const far = `../given/far.yaml refers to ${join(folder, '../far/a.yaml')}: copy both here, and name the copy.\n`
  t.match(await run('init', '../given/far.yaml'), { code: 2, stderr: far })
  t.match(await run('init', '../given/other.yaml'), { code: 0, stdout: /^wrote other.yaml\nwrote parts\/a.yaml\nFrom now on change other\.yaml, a copy of \.\.\/given\/other\.yaml\.\nwrote package.json\n/ })
  t.equal(JSON.parse(read('package.json')).scripts.generate, 'fastify-openapi-contract generate other.yaml')
  t.match(read('test/app.test.ts'), /GET \/a is served/)
  t.notMatch(read('test/app.test.ts'), /needs credentials/)
  t.match(await run('init', '../given/other.yaml'), { code: 0, stdout: /^kept other.yaml\nkept parts\/a.yaml\n/ })
  write('parts/a.yaml', 'mine')
  const differs = 'parts/a.yaml is here, and differs from that of ../given/other.yaml: rename one of them.\n'
  t.match(await run('init', '../given/other.yaml'), { code: 2, stderr: differs })
  t.equal(read('parts/a.yaml'), 'mine')
})

t.test('a contract below the folder stays where it is, and the flags go into the script', async t => {
  const open = contractText({ root: '', paths: `  /a: { get: { operationId: a, ${noContent} } }` })
  const { run, read, folder } = openFolder(t, { 'api/open.yaml': open })
  t.match(await run('init', 'api/open.yaml'), { code: 2, stderr: /add --allow-open,/ })
  t.strictSame(readdirSync(folder), ['api'])
  t.match(await run('init', 'api/open.yaml', '--allow-open'), { code: 0, stdout: /^wrote package\.json\n/ })
  t.equal(JSON.parse(read('package.json')).scripts.generate, 'fastify-openapi-contract generate api/open.yaml --allow-open')
  t.match(await run('generate', 'api/open.yaml', '--allow-open', '--check'), { code: 0 })
  const wanted = 'make the script generate "fastify-openapi-contract generate api/open.yaml --allow-open --int64 number", and run it.\n'
  t.ok((await run('init', 'api/open.yaml', '--allow-open', '--int64', 'number')).stdout.endsWith(wanted))
})

t.test('init without arguments takes those of the script generate', async t => {
  const tagged = (tag: string) => contractText({ root: '', paths: `  /a: { get: { operationId: a, tags: [${tag}], ${noContent} } }` })
  const { run, read, write, folder } = openFolder(t, { 'the api/open.yaml': tagged('a'), 'over.yaml': overlay })
  t.match(await run('init', 'the api/open.yaml', '--allow-open', '--types', 'built-in'), { code: 0 })
  const { scripts } = JSON.parse(read('package.json'))
  t.equal(scripts.generate, 'fastify-openapi-contract generate "the api/open.yaml" --allow-open --types built-in')
  write('the api/open.yaml', tagged('b'))
  t.match(await run('init'), { code: 0, stdout: /^kept package\.json\n[^]*wrote src\/handlers\/b\.ts\n[^]*\n {2}npm start\n/ })
  const command = `${scripts.generate} --overlay over.yaml --out src/made`
  write('package.json', read('package.json').replace(JSON.stringify(scripts.generate), JSON.stringify(command)))
  const { code, stdout } = await run('init')
  t.equal(code, 0)
  t.match(stdout, 'wrote src/made/types.ts\n')
  t.match(read('src/made/index.ts'), '--overlay over.yaml')
  t.ok(existsSync(join(folder, 'src/handlers/over.ts')), 'the tag of the overlay')
  t.notOk(existsSync(join(folder, 'openapi.yaml')))
  write('package.json', read('package.json').replace('--allow-open', '--allow-opn'))
  t.match(await run('init'), { code: 2, stderr: /^There is no option --allow-opn\. Did you mean --allow-open\?/ })
})

t.test('in a project, init says what to add to the files that it keeps', async t => {
  const { run, read, write } = openFolder(t, {
    'openapi.yaml': small,
    'package.json': '{ "type": "module", "scripts": { "start": "node x.js", "test": "tap" }, "devDependencies": { "typescript": "*" } }',
    'tsconfig.json': '{}'
  })
  const { code, stdout } = await run('init')
  t.equal(code, 0)
  const [, missing = ''] = /Set in your package.json:\n(\{\n[^]*?\n\})\n/.exec(stdout) ?? []
  t.match(JSON.parse(missing), {
    type: undefined,
    scripts: { start: undefined, test: undefined, dev: undefined, generate: 'fastify-openapi-contract generate', build: 'tsc' },
    dependencies: { fastify: /^\^/, 'fastify-openapi-contract': /^file:/ },
    devDependencies: { typescript: undefined, '@types/node': /^\^/ }
  })
  t.match(stdout, /\nNext:\n {2}npm install\n {2}npx tsc\n {2}node --test src\/app\.test\.js\n {2}node src\/main\.js\n/)
  t.match(stdout, /\nYour own scripts stay as they are: start, test\.\n$/)
  t.match(stdout, /\nYour tsconfig\.json does not set allowImportingTsExtensions, so the files import \.js, /)
  t.match(read('src/main.ts'), "import('./app.js')")
  write('package.json', JSON.stringify({ ...JSON.parse(missing), type: 'commonjs' }))
  t.match((await run('init')).stdout, /\n\{\n {2}"type": "module",\n/)
  write('package.json', '{')
  t.match(await run('init'), { code: 2, stdout: '', stderr: /^package\.json: .*JSON.*\. Correct the file\.\n$/ })
})

t.test('a configuration that compiles to CommonJS is refused', async t => {
  const { run, folder } = openFolder(t, { 'tsconfig.json': '{ "compilerOptions": { "module": "CommonJS" } }' })
  t.match(await run('init'), { code: 2, stdout: '', stderr: /^init writes ES modules, .* Set it to "nodenext", or run init in another folder\.\n$/ })
  t.strictSame(readdirSync(folder), ['tsconfig.json'])
})

t.test('where files import compiled ones, init names those that the compiler writes', async t => {
  const options = { module: 'nodenext', outDir: './built', rootDir: '.' }
  const { run, folder, read } = openFolder(t, { 'tsconfig.json': JSON.stringify({ compilerOptions: options }) })
  const { stdout } = await run('init')
  t.match(stdout, /\nNext:\n {2}npm install\n {2}npx tsc\n {2}npm test\n {2}TOKEN_SECRET=choose-one npm start\n/)
  t.match(stdout, 'In production run node built/src/main.js itself')
  t.notOk(existsSync(join(folder, 'tsconfig.build.json')))
  const { scripts } = JSON.parse(read('package.json'))
  t.strictSame([scripts.start, scripts.build, scripts.dev], ['node built/src/main.js', 'tsc', undefined])
  t.equal(scripts.test, 'npm run generate -- --check && tsc && node --test built/src/app.test.js')
  t.match(read('src/app.test.ts'), "import { buildApp } from './app.js'")
})

t.test('in an app with Fastify, init writes what it lacks, and prints the code to add', async t => {
  const { run, folder } = openFolder(t, {
    'package.json': '{ "type": "module", "scripts": { "dev": "node --watch server.ts" }, "dependencies": { "fastify": "^5.0.0" } }'
  })
  const { stdout } = await run('init')
  t.strictSame(readdirSync(folder).sort(), ['generated', 'openapi.yaml', 'package.json', 'src'])
  t.strictSame(readdirSync(join(folder, 'src')).sort(), ['handlers', 'service.ts', 'verifiers.ts'])
  const [, missing = '', code = '', next] =
    /\nSet in your package.json:\n(\{\n[^]*?\n\})\n\nAdd to your app, here in a file of src\/:\n([^]*?)\nThen ([^]*)$/.exec(stdout) ?? []
  t.strictSame(Object.keys(JSON.parse(missing)), ['scripts', 'dependencies'])
  t.equal(next, 'npm install, and write the handlers in src/handlers/.\nThe app needs TOKEN_SECRET in its environment.\n')
  writeFileSync(join(folder, 'src/server.ts'), `import fastify from 'fastify'\n${code.replace('await', 'const app = fastify()\n$&')}\n`)
  symlinkSync(modules, join(folder, 'node_modules'))
  const config = { compilerOptions: { ...compilerOptions, allowImportingTsExtensions: true } }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  t.strictSame(await compile(folder), [])
})

t.test('in an app that is compiled, the files and the code to add import compiled files', async t => {
  const { run, read } = openFolder(t, {
    'package.json': '{ "type": "module", "dependencies": { "fastify": "^5.0.0" } }',
    'tsconfig.json': '{ "compilerOptions": { "module": "nodenext" } }',
    'server.ts': ''
  })
  t.match((await run('init')).stdout, /\nYour tsconfig\.json does not set allowImportingTsExtensions, [^]*'\.\/service\.js'\n/)
  t.match(read('src/service.ts'), "from './verifiers.js'")
})

t.test('code beside the package fastify is an app, without a script too; one of CommonJS is refused', async t => {
  const dependencies = '"dependencies": { "fastify": "^5.0.0" }'
  // The last two are no code of an app.
  for (const file of ['server.js', 'src/server.ts', 'a.config.js', 'src/a.txt']) {
    await t.test(file, async t => {
      const { run, folder } = openFolder(t, { 'package.json': `{ "type": "module", ${dependencies} }`, [file]: '' })
      const isApp = file.includes('server')
      t.match((await run('init')).stdout, isApp ? /\nAdd to your app/ : /\nNext:/)
      t.equal(existsSync(join(folder, 'src/main.ts')), !isApp)
    })
  }
  const { run, folder } = openFolder(t, { 'package.json': `{ ${dependencies} }`, 'server.js': '' })
  t.match(await run('init'), { code: 2, stdout: '', stderr: /^The app in this folder is CommonJS/ })
  t.strictSame(readdirSync(folder).sort(), ['package.json', 'server.js'])
})

t.test('npm run build compiles a service of init', async t => {
  const { run, read, folder } = openFolder(t, { 'openapi.yaml': small })
  await run('init')
  symlinkSync(modules, join(folder, 'node_modules'))
  const [command = '', ...args] = JSON.parse(read('package.json')).scripts.build.split(' ')
  execFileSync('env', ['-u', 'NODE_OPTIONS', join(modules, '.bin', command), ...args], { cwd: folder })
  t.match(read('dist/src/main.js'), "import('./app.js')")
  t.match(read('dist/src/service.js'), "from '../generated/index.js'")
  t.strictSame(readdirSync(join(folder, 'dist')).sort(), ['generated', 'src'])
})

t.test('in an app whose sources must be below src, the generated files are there', async t => {
  const config = { compilerOptions: { ...compilerOptions, rootDir: './src', allowImportingTsExtensions: true }, include: ['src'] }
  const { run, folder } = openFolder(t, {
    'package.json': '{ "type": "module", "dependencies": { "fastify": "^5.0.0" } }',
    'tsconfig.json': JSON.stringify(config),
    'src/server.ts': '',
    'openapi.yaml': contractText({
      paths: `  /a: { get: { operationId: a, tags: [a], ${anyResponse} } }`,
      components: '  securitySchemes: { key: { type: apiKey, in: header, name: X-Key } }'
    })
  })
  t.match(await run('init'), { code: 0, stdout: '"generate": "fastify-openapi-contract generate --out src/generated"' })
  t.match(startScripts({ out: 'src/generated', extension: '.ts' }).dev, /^node --watch-path=src src\/main\.ts$/, 'below src there is one folder to watch')
  t.strictSame(readdirSync(folder).sort(), ['openapi.yaml', 'package.json', 'src', 'tsconfig.json'])
  symlinkSync(modules, join(folder, 'node_modules'))
  t.strictSame(await compile(folder), [])
})

t.test('a second contract is refused with the command for another folder', async t => {
  const { run, folder } = openFolder(t, { 'a.yaml': small, 'the b.yaml': small })
  t.match(await run('init'), { code: 2, stderr: 'Name your contract: npx fastify-openapi-contract init a.yaml or the b.yaml\n' })
  t.match(await run('init', 'a.yaml'), { code: 0 })
  const before = readdirSync(folder, { recursive: true })
  t.match(await run('init', 'the b.yaml', '--int64', 'number'), {
    code: 2,
    stdout: '',
    stderr: 'generated/ has another contract than the b.yaml, and init writes one service. Generate into another folder: ' +
      'npx fastify-openapi-contract generate "the b.yaml" --out "src/the b/generated" --int64 number. ' +
      'Then register the contract in your app as the README shows.\n'
  })
  t.strictSame(readdirSync(folder, { recursive: true }), before)
})

t.test('a service of init is an app of another start only when its script changes', async t => {
  const { run, read, write } = openFolder(t, { 'openapi.yaml': small })
  await run('init')
  t.match(await run('init'), { stdout: /^kept openapi\.yaml\nkept package\.json\nkept tsconfig\.json\n[^]*kept src\/main\.ts\n/ })
  write('package.json', read('package.json').replace('src/main.ts', 'src/other.ts'))
  t.match(await run('init'), { stdout: /^kept openapi\.yaml\nkept generated\/\nkept src\/service\.ts\nkept src\/handlers\/other\.ts\n\nAdd to your app[^]*src\/handlers\/\.\n$/ })
})

t.test('after a new tag, init writes the file of its handlers, and prints the lines for the kept service', async t => {
  const operation = (tag: string) => `  /${tag}: { get: { operationId: ${tag}, tags: [${tag}], ${noContent} } }`
  const withTags = (...tags: string[]) => contractText({ root: 'security: []', paths: tags.map(operation).join('\n') })
  const { run, read, folder, write } = openFolder(t, { 'openapi.yaml': withTags('mother') })
  await run('init')
  write('openapi.yaml', withTags('mother', 'b', 'other'))
  const { stdout } = await run('init')
  const [, imports = '', spreads = ''] = /\n\nRun npm run generate\. .*\nsrc\/service\.ts:\n((?:import .*\n)+)((?: {6}\.\.\..*\n)+)\nNext:\n/.exec(stdout) ?? []
  const service = read('src/service.ts').replace('import { motherH', `${imports}$&`).replace('      ...motherH', `${spreads}$&`)
  write('src/service.ts', service)
  t.match(await run('generate'), { code: 0 })
  symlinkSync(modules, join(folder, 'node_modules'))
  t.strictSame(await compile(folder), [])
  t.match(service, /\.\.\.bHandlers,\n {6}\.\.\.otherHandlers,\n {6}\.\.\.motherHandlers\n/)
  t.notMatch((await run('init')).stdout, 'src/service.ts:')
})

t.test('after a new security scheme, init prints the lines for the kept service, its verifiers and its test', async t => {
  const withSchemes = (...schemes: string[]) => contractText({
    root: `security: [${schemes.map(scheme => `{ ${scheme}: [] }`).join(', ')}]`,
    paths: `  /a: { get: { operationId: a, ${noContent} } }`,
    components: `  securitySchemes:
    token: { type: http, scheme: bearer }
    user: { type: http, scheme: basic }
    key: { type: apiKey, in: header, name: X-Key }`.split('\n').filter(line => !line.includes(':') || schemes.some(name => line.includes(` ${name}:`)) || line.includes('securitySchemes')).join('\n')
  })
  const linesOf = (stdout: string) => {
    const [, text = ''] = /\n\nRun npm run generate. Then add these lines, or put them in place of those that they change:\n([^]*?)\n\nNext:/.exec(stdout) ?? []
    return Object.fromEntries(text.split(/^(?=\S+\.ts:$)/m).map(part => part.split(/:\n/)))
  }
  const { run, read, folder, write } = openFolder(t, { 'openapi.yaml': small })
  await run('init')
  const edit = (file: string, changes: Array<[from: string | RegExp, to: string]>) => {
    const text = changes.reduce((text, [from, to]) => text.replace(from, () => to), read(file))
    t.not(text, read(file), file)
    write(file, text)
  }
  write('openapi.yaml', withSchemes('token'))
  const first = linesOf((await run('init')).stdout)
  t.strictSame(Object.keys(first), ['src/service.ts', 'test/app.test.ts'], 'src/verifiers.ts is new')
  const [imported = '', head = '', member = ''] = first['src/service.ts'].split('\n')
  edit('src/service.ts', [['\nexport', `${imported}\n\nexport`], [/export function .*/, head], [/ {4}verifiers: \{\}/, member]])
  const [secret = '', credentials = ''] = first['test/app.test.ts'].split('\n')
  edit('test/app.test.ts', [['{}', `{\n${secret}\n}`], ["    url: '/a'", `    url: '/a',\n${credentials}`]])

  write('openapi.yaml', withSchemes('token', 'user'))
  const second = linesOf((await run('init')).stdout)
  t.strictSame(Object.keys(second), ['src/verifiers.ts', 'test/app.test.ts'])
  const [types = '', variable = '', verifier = '', ...lines] = second['src/verifiers.ts'].split('\n')
  edit('src/verifiers.ts', [
    [/import type .* from 'fastify-openapi-contract'/, types], ["'TOKEN_SECRET'\n", `'TOKEN_SECRET',\n${variable}\n`],
    ['  return {\n', `  return {\n${verifier}\n`], [/$/, lines.join('\n')]
  ])
  edit('test/app.test.ts', [['({\n', `({\n${second['test/app.test.ts']}`]])
  t.match(await run('generate'), { code: 0 })
  symlinkSync(modules, join(folder, 'node_modules'))
  t.strictSame(await compile(folder), [])
  const env = { ...process.env, NODE_OPTIONS: '' }
  t.match(execFileSync(process.execPath, ['--test', '--test-reporter=tap'], { cwd: folder, env, encoding: 'utf8' }), /^# fail 0$/m)
  t.notMatch((await run('init')).stdout, 'Then add these lines')
  edit('src/verifiers.ts', [["token: secretVerifier(env, 'TOKEN_SECRET')", 'token: () => undefined'], [/ {2}'TOKEN_SECRET',\n/, '']])
  edit('test/app.test.ts', [[/ {2}TOKEN_SECRET.*\n/, '']])
  t.notMatch((await run('init')).stdout, 'Then add these lines', 'a scheme with another verifier is served')
  t.match(read('src/verifiers.ts'), / key:/, 'a comment has the name of the next scheme')
  write('openapi.yaml', withSchemes('token', 'user', 'key'))
  t.match(linesOf((await run('init')).stdout)['src/verifiers.ts'], "key: secretVerifier(env, 'KEY_SECRET')")
})

t.test('in a complete project there is nothing to add, and a contract may have no operation', async t => {
  const { run, read, folder } = openFolder(t, { 'openapi.yaml': contractText({ paths: '  {}' }) })
  t.match(await run('init'), { code: 0 })
  t.notMatch((await run('init')).stdout, /(?:Add to|Set in) your/)
  t.match(read('test/app.test.ts'), /'GET \/docs is served'[^]*method: 'GET',\n {4}url: '\/docs'\n/)
  // The files are as those of any other contract.
  symlinkSync(modules, join(folder, 'node_modules'))
  t.strictSame(await compile(folder), [])
})

t.test('a folder whose name npm does not allow makes a service', async t => {
  const { run, folder } = openFolder(t)
  mkdirSync(join(folder, '___'))
  process.chdir(join(folder, '___'))
  t.match(await run('init'), { code: 0 })
  rmSync(join(folder, '___/generated/types.ts'))
  t.match(await run('init'), { code: 0, stdout: /\nwrote generated\/types\.ts\n/ }, 'a folder that is not complete')
})

t.test('a file that cannot be written is one sentence with the way out', async t => {
  const { run } = openFolder(t, { src: '' })
  const stderr = /^src\/main\.ts cannot be written: E[A-Z]+: .*\. Run init in another folder\.\n$/
  t.match(await run('init'), { code: 2, stderr })
})
