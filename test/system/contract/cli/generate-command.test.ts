// fastify-openapi-contract generate, and what all commands have in common.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { describeFailure } from '../../../../src/contract/cli/failure.ts'
import { runGenerate } from '../../../../src/contract/cli/generate-command.ts'
import { openFolder, printed } from '../../../fixtures/command-line.ts'
import { holdProcess } from '../../../fixtures/leash.ts'
import { anyResponse, contractText, jsonBody, jsonResponse, noContent, ref } from '../../../fixtures/contract.ts'

const main = resolve('src/contract/cli/main.ts')
const { version } = JSON.parse(readFileSync('src/contract/package.json', 'utf8'))
const small = contractText({ paths: `  /a: { get: { operationId: a, security: [], ${noContent} } }` })
const open = contractText({ root: '', paths: `  /a: { get: { operationId: a, ${anyResponse} } }` })
const unsupported = contractText({
  paths: `  /a: { get: { operationId: a, ${anyResponse} } }
  /b*: { get: { operationId: b, ${anyResponse} } }`
})

const endless = contractText({
  paths: `  /a: { get: { operationId: a, ${jsonResponse(ref('Value'))} } }`,
  components: `  schemas: { Value: { anyOf: [{ type: string }, { type: array, items: ${ref('Value')} }] } }`
})

const misspelt = contractText({
  paths: `  /a: { get: { operationId: a, ${anyResponse} } }
  /b: { post: { operationId: b, ${jsonBody(ref('None'))}, ${anyResponse} } }`
})

const overlay = (title: string) => `overlay: 1.0.0
info: { title: Changes, version: 1.0.0 }
actions: [{ target: $.info, update: { title: ${title} } }]
`

/** Runs the command in a process. */
function runProcess (args: string[], node: string[] = []) {
  const command = [...node, main, ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' })
  return { status, stdout, stderr }
}

t.test('the command ends with 2 and a sentence where it cannot do its work', async t => {
  t.strictSame(runProcess(['serve']), {
    status: 2,
    stdout: '',
    stderr: 'There is no command serve: use init, generate, --help or --version.\n'
  })
  t.strictSame(runProcess(['--version']), { status: 0, stdout: `${version}\n`, stderr: '' })
})

t.test('the command and the package refuse an old Node by one sentence', async t => {
  const old = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "24.3.9" } })'
  const node = ['--import', `data:text/javascript,${encodeURIComponent(old)}`]
  const needs = 'fastify-openapi-contract needs Node 24.4 or newer; this is'
  const wayOut = 'Install one, or put npx -p node@26 before the command.'
  const stderr = `${needs} v24.3.9. ${wayOut}\n`
  t.strictSame(runProcess(['--version'], node), { status: 2, stdout: '', stderr })
  const versions = Object.getOwnPropertyDescriptor(process, 'versions') as PropertyDescriptor
  Object.defineProperty(process, 'versions', { ...versions, value: { ...process.versions, node: '22.1.0' } })
  t.teardown(() => Object.defineProperty(process, 'versions', versions))
  const door = '../../../../src/contract/node-version.ts?old'
  await t.rejects(import(door), { message: `${needs} v22.1.0. ${wayOut}` })
  t.match(readFileSync(join(import.meta.dirname, '../../../../src/contract/index.ts'), 'utf8'), /^(\/\/.*\n)*import '\.\/node-version\.ts'\n/)
})

t.test('init writes all files for a reader of its output that ends first', async t => {
  const { folder } = openFolder(t)
  const child = holdProcess(spawn(process.execPath, [main, 'init'], {
    stdio: ['ignore', 'pipe', 'pipe']
  }))
  child.stdout.destroy()
  const ended = once(child, 'close')
  t.equal(await text(child.stderr), '')
  t.strictSame(await ended, [0, null])
  t.ok(existsSync(join(folder, 'generated/types.ts')))
  t.ok(existsSync(join(folder, 'test/app.test.ts')))
})

t.test('--help describes the commands', async t => {
  const { run } = openFolder(t)
  for (const args of [[], ['--help'], ['generate', '-h'], ['init', '--help']]) {
    t.match(await run(...args), { code: 0, stdout: /^Usage: .*COMMAND[^]*--watch/, stderr: '' })
  }
})

t.test('generate writes the files, and --check compares them', async t => {
  const { run, read, write } = openFolder(t, { 'openapi.yaml': small })
  t.match(await run('generate'), { code: 0, stdout: /^(wrote generated\/.*\n){4}$/ })
  t.match(read('generated/index.ts'), /^\/\/ Generated from openapi\.yaml by `npx fastify-openapi-contract generate`\./)
  t.match(await run('generate', '--check'), { code: 0, stdout: 'generated/ matches openapi.yaml.\n' })
  write('openapi.yaml', small.replace('/a:', '/b:'))
  const differs = /^generated\/document\.ts does not match openapi\.yaml\. Run `npx fastify-openapi-contract generate` and commit the result\.$/m
  t.match(await run('generate', '--check'), { code: 1, stderr: differs })
})

t.test('the generated files name the arguments that made them', async t => {
  const { run, read, write } = openFolder(t, { 'the api.yaml': open })
  const flags = '--overlay one.yaml --overlay two.yaml --out src/api --allow-open --skip-unsupported --int64 number --types built-in'
  for (const name of ['one.yaml', 'two.yaml']) write(name, overlay(name))
  t.match(await run('generate', 'the api.yaml', ...flags.split(' ')), { code: 0 })
  const command = `npx fastify-openapi-contract generate "the api.yaml" ${flags}`
  t.ok(read('src/api/types.ts').startsWith(`// Generated from the api.yaml by \`${command}\`.`))
})

t.test('a wrong command line is refused by a sentence', async t => {
  const { run, folder } = openFolder(t, { 'openapi.yaml': small })
  const refused = async (stderr: string | RegExp, ...args: string[]) => {
    t.match(await run(...args), { code: 2, stdout: '', stderr }, args.join(' '))
  }
  const wayOut = 'Name the file of the contract: npx fastify-openapi-contract'
  await refused('--check and --watch exclude each other.\n', 'generate', '--check', '--watch')
  await refused("Unexpected argument 'b': name one contract.\n", 'generate', 'a', 'b')
  await refused('--int64 is bigint or number, and not string.\n', 'generate', '--int64', 'string')
  await refused('There is no option --chek. Did you mean --check?\n', 'generate', '--chek')
  await refused('There is no option --type. Did you mean --types?\n', 'init', '--type=built-in')
  await refused('There is no option --chek. --help lists the options.\n', 'init', '--chek')
  await refused('There is no option -x. --help lists the options.\n', 'generate', '-x')
  await refused('--out is an option of generate, and not of init.\n', 'init', '--out', 'src')
  await refused(/^--out needs a value: --out=VALUE\.\n$/, 'generate', '--out')
  await refused(/^--out needs a value: --out=VALUE\.\n$/, 'generate', '--out', '--check')
  await refused(/^--check takes no value\.\n$/, 'generate', '--check=1')
  await refused(`There is no file none.yaml. ${wayOut} generate FILE\n`, 'generate', 'none.yaml')
  await refused('There is no file none.yaml. Name the file of the overlay: npx fastify-openapi-contract generate --overlay FILE\n', 'generate', '--overlay', 'none.yaml')
  await refused(`.. is a folder. ${wayOut} generate FILE\n`, 'generate', '..')
  await refused(`There is no file none.yaml. ${wayOut} init FILE\n`, 'init', 'none.yaml')
  t.notOk(existsSync(join(folder, 'generated')))
})

t.test('a contract that cannot be served is refused with the place and the flags that help', async t => {
  const { run, write } = openFolder(t)
  const correct = 'Correct the contract.'
  const cases: Array<[contract: string, finding: RegExp, wayOut: string]> = [
    [small.replace('3.1.0', '2.0'), /:1:1 #\/openapi Not supported: an OpenAPI version/, correct],
    [small.replace('paths:', 'paths: ['), /:\d+:\d+ \S/, correct],
    [open, /:\d+:\d+ #\/paths\/~1a\/get.* without security/, 'Correct the contract, or add --allow-open, which serves operations without security to everyone.'],
    [unsupported, /:\d+:\d+ #\/paths\/~1b\* Not supported/, 'Correct the contract, or add --skip-unsupported, which leaves out the operations that cannot be served.'],
    [misspelt, /there is no #\/components\/schemas\/None\. \(no-unresolved-refs\)/, correct],
    [open.replace('/a:', '/*:'), /without security.* \(security: \[\] or --allow-open serves it to everyone\)\./, correct],
    [unsupported.replace('security: []', ''), /without security/, 'Correct the contract, or add --allow-open --skip-unsupported, which ' +
      'serves operations without security to everyone, and leaves out the operations that cannot be served.'],
    [open.replace('/a:', '/*:'), /Not supported/, correct],
    [endless, /a list that contains itself/, 'Correct the contract, or add --types built-in, which has types for lists that contain themselves.'],
    [endless.replace('security: []', ''), /without security/, 'Correct the contract, or add --allow-open --types built-in, which ' +
      'serves operations without security to everyone, and has types for lists that contain themselves.']
  ]
  for (const [contract, finding, wayOut] of cases) {
    write('openapi.yaml', contract)
    const { code, stdout, stderr } = await run('generate')
    t.strictSame({ code, stdout }, { code: 2, stdout: '' })
    t.match(stderr, new RegExp(`^openapi\\.yaml.*${finding.source}`, 'm'))
    t.equal(stderr.trimEnd().split('\n').at(-1), wayOut)
  }
})

t.test('generate applies overlays, --check compares with them, and a bad one is refused', async t => {
  const { run, read, write } = openFolder(t, { 'openapi.yaml': small, 'changes.yaml': overlay('New') })
  t.match(await run('generate', '--overlay', 'changes.yaml'), { code: 0 })
  t.match(read('generated/document.ts'), /"title": "New"/)
  t.match(await run('generate', '--overlay', 'changes.yaml', '--check'), { code: 0, stdout: 'generated/ matches openapi.yaml.\n' })
  const written = 'It was written by `npx fastify-openapi-contract generate --overlay changes.yaml`: give --check the same ' +
    'options, or run `npx fastify-openapi-contract generate` and commit the result.\n'
  t.match(await run('generate', '--check'), { code: 1, stderr: `generated/document.ts does not match openapi.yaml. ${written}` })
  write('changes.yaml', overlay('Newer'))
  t.match(await run('generate', '--overlay', 'changes.yaml', '--check'), { code: 1, stderr: /does not match/ })
  write('changes.yaml', 'overlay: 2.0.0')
  t.strictSame(await run('generate', '--overlay', 'changes.yaml'), {
    code: 2,
    stdout: '',
    stderr: 'changes.yaml:1:10 #/overlay This is no overlay of version 1.0: begin it with `overlay: 1.0.0`.\n' +
      'Correct the contract or its overlays.\n'
  })
})

t.test('an error of the folder is one sentence', async t => {
  const { run } = openFolder(t, { 'openapi.yaml': small, generated: 'a file' })
  t.match(await run('generate'), { code: 2, stderr: /^generated\/document\.ts cannot be written: E[A-Z]+: .*generated'\. Name another folder by --out\.\n$/m })
})

t.test('--watch generates again after a change of any file, and survives a fault', async t => {
  const { folder, read, write } = openFolder(t, {
    'openapi.yaml': contractText({ paths: '  /a: { $ref: parts/a.yaml }' }),
    'parts/a.yaml': `get: { operationId: a, ${noContent} }`,
    'changes.yaml': 'overlay: 2.0.0'
  })
  const watching = new AbortController()
  t.teardown(() => watching.abort())
  const output = printed(t)
  const waitFor = async (stream: 'stdout' | 'stderr', text: string) => {
    while (!output[stream].includes(text)) await sleep(20)
    output[stream] = ''
  }
  // A last build may run when the test has left its folder.
  const args = [join(folder, 'openapi.yaml'), '--overlay', join(folder, 'changes.yaml'), '--out', join(folder, 'generated'), '--watch']
  t.equal(await runGenerate(args, watching.signal), 0)
  t.equal(output.stdout, `Watching ${join(folder, 'openapi.yaml')} and ${join(folder, 'changes.yaml')}. Ctrl-C ends it.\n`)
  await waitFor('stderr', 'Waiting for a change.')
  write('changes.yaml', overlay('New'))
  await waitFor('stdout', 'generated/types.ts')
  write('parts/a.yaml', `get: { operationId: b, ${noContent} }`)
  await waitFor('stdout', 'generated/types.ts')
  t.match(read('generated/operations.ts'), /"b": \{/)
  write('openapi.yaml', 'openapi: 2.0.0')
  await waitFor('stderr', 'Correct the contract or its overlays.\nWaiting for a change.')
})

t.test('a package of the generator that is missing is named with the command that installs it', async t => {
  const code = 'ERR_MODULE_NOT_FOUND'
  const message = "Cannot find package '@redocly/openapi-core' imported from /a/b.js"
  t.equal(describeFailure(Object.assign(new Error(message), { code })), 'The generator needs the package ' +
    '@redocly/openapi-core, which is not installed: npm install --include=optional. If npm runs under a Node ' +
    'older than 22, it leaves the package out: npx -p node@26 npm install --include=optional')
  t.equal(describeFailure(Object.assign(new Error("Cannot find module '/a'"), { code })), "Cannot find module '/a'")
})
