// The package that `npm pack` makes, as a user installs and runs it. npm's own part of the install
// needs the registry: here `tar` unpacks the package, and the packages that it declares are links
// to those of the checkout.
import { execFile } from 'node:child_process'
import {
  chmodSync, cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync
} from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { testToken } from '../fixtures/secrets.ts'
import { postPlant, startService } from '../fixtures/service.ts'

const run = promisify(execFile)
// Without the commands of the checkout, as `npm test` puts them first. tap would add its files to
// NODE_OPTIONS.
const path = (process.env.PATH as string).split(delimiter).filter(folder => !folder.includes('node_modules'))
const env = { ...process.env, PATH: path.join(delimiter), NODE_OPTIONS: '' }

const packed = t.testdir()
// tap adds a loader to NODE_OPTIONS with which tsc does not start.
await run('env', ['-u', 'NODE_OPTIONS', 'npm', 'pack', '--pack-destination', packed])
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

/**
 * Returns a folder with the package in its node_modules, and with a folder whose `node` only says
 * an old version.
 */
async function install (t: Test): Promise<string> {
  const old = { node: '#!/bin/sh\necho v20.20.2\n' }
  const folder = realpathSync(t.testdir({ old, node_modules: { '.bin': {}, 'plant-store': {} } }))
  chmodSync(join(folder, 'old', 'node'), 0o755)
  const modules = join(folder, 'node_modules')
  const root = join(modules, 'plant-store')
  await run('tar', ['-xzf', join(packed, `plant-store-${version}.tgz`), '-C', root, '--strip-components=1'])
  const { bin, dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }
  symlinkSync(join('../plant-store', bin['plant-store']), join(modules, '.bin', 'plant-store'))
  return folder
}

t.test('without its tools npm pack says what to do, and removes nothing', async t => {
  const { scripts: { prepack } } = JSON.parse(readFileSync('package.json', 'utf8'))
  const cwd = t.testdir({ dist: { 'main.js': '' }, scripts: {} })
  cpSync('scripts/packages.sh', join(cwd, 'scripts/packages.sh'))
  await t.rejects(run('sh', ['-c', prepack], { cwd, env }), {
    code: 2,
    stderr: 'This command needs the packages of development: run npm ci, without --omit, first.\n'
  })
  t.strictSame(readdirSync(join(cwd, 'dist')), ['main.js'])
})

t.test('the documents of the package link to files that it has', async t => {
  const cwd = join(await install(t), 'node_modules/plant-store')
  const documents = globSync(['*.md', 'docs/**/*.md', 'src/**/*.md'], { cwd })
  const links = documents.flatMap(file => {
    const text = readFileSync(join(cwd, file), 'utf8')
    return Array.from(text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g), ([, link = '']) => join(cwd, dirname(file), link))
  })
  t.ok(links.length > 100, `${links.length} links`)
  t.strictSame(links.filter(link => !existsSync(link)), [])
})

t.test('the command stores plants with the Node of its package, and gets signals', async t => {
  const folder = await install(t)
  const main = join(folder, 'node_modules/.bin/plant-store')
  const command = ['env', 'NODE_OPTIONS=', `PATH=${join(folder, 'old')}${delimiter}${env.PATH}`]
  for (const THREADS of ['1', '2']) {
    const settings = { ACCESS_TOKENS: testToken, THREADS }
    const { origin, child, ended } = await startService(t, folder, settings, [], { command, main })
    t.equal((await postPlant(origin, testToken, `{"id":${THREADS},"name":"x"}`)).status, 200)
    t.equal((await fetch(`${origin}/docs`)).status, 200)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
  }
  const plants = '{"id":1,"name":"x"}\n{"id":2,"name":"x"}\n'
  t.match(await run(main, ['copy', 'sqlite:data/plants.db', '-'], { cwd: folder, env }), { stdout: plants })
  await t.rejects(run(main, ['--port'], { cwd: folder, env }), { code: 2 })
})

t.test('the image has all files that the build of its bundle needs', async t => {
  const cwd = t.testdir()
  const [, stage = ''] = readFileSync('deploy/Dockerfile', 'utf8').split(/^FROM /m)
  const sent = [...readFileSync('deploy/Dockerfile.dockerignore', 'utf8').matchAll(/^!(.+)$/gm)].map(([, path]) => path)
  for (const [, files = ''] of stage.matchAll(/^COPY (.+)$/gm)) {
    const sources = files.split(' ')
    const target = sources.pop() as string
    for (const source of sources) {
      t.ok(sent.some(path => source === path || source.startsWith(`${path}/`)), `${source} is sent to the build`)
      cpSync(source, join(cwd, target, target.endsWith('/') ? basename(source) : ''), { recursive: true })
    }
  }
  symlinkSync(resolve('node_modules'), join(cwd, 'node_modules'))
  t.match(stage, /^RUN npm run prepack && /m)
  await run('npm', ['run', 'prepack'], { cwd, env })
  const built = readdirSync(join(cwd, 'dist'))
  t.strictSame(['main.js', 'http-worker.js', 'worker.js'].filter(name => !built.includes(name)), [])
})

t.test('the image starts its bundle once when it is built, and keeps the compiled code', async t => {
  const folder = await install(t)
  const dockerfile = readFileSync('deploy/Dockerfile', 'utf8').replaceAll('\\\n', '')
  const [, command = '[]'] = /^RUN (\[.+\])$/m.exec(dockerfile) ?? []
  const [program, option, script = ''] = JSON.parse(command)
  t.strictSame([program, option], ['/nodejs/bin/node', '-e'])
  const installed = script.replace('/app', join(folder, 'node_modules/plant-store'))
    .replace('sqlite:/tmp', `sqlite:${folder}`)
  const cache = join(folder, 'cache')
  const variables = { ...env, NODE_COMPILE_CACHE: cache }
  const { stdout } = await run(process.execPath, ['-e', installed], { cwd: folder, env: variables })
  t.match(stdout, /listening at .*shutting down after SIGTERM/s)
  const [version = ''] = readdirSync(cache)
  t.ok(readdirSync(join(cache, version)).length > 100)
})

t.test('npx plant-store finds the command', async t => {
  const cwd = await install(t)
  t.match(await run('npx', ['plant-store', '--version'], { cwd, env }), { stdout: `${version}\n` })
  t.match(await run('npx', ['plant-store', '--help'], { cwd, env }), { stdout: /^Usage: .* {4}PORT=3000\n/s })
  const npx = ['env', 'NODE_OPTIONS=', `PATH=${env.PATH}`, 'sh', '-c', 'exec npx plant-store']
  const { origin, output, ended } = await startService(t, cwd, { ACCESS_TOKENS: testToken }, [], { command: npx })
  t.equal((await postPlant(origin, testToken, '{"id":1,"name":"x"}')).status, 200)
  // A signal to npx would reach only the shell that npx starts.
  process.kill(Number(/"pid":(\d+)/.exec(output())?.[1]), 'SIGTERM')
  t.equal(await ended, 0)
})

t.test('without a Node that is new enough the command is one sentence and exits with code 2', async t => {
  const folder = await install(t)
  for (const name of readdirSync(join(folder, 'node_modules'))) {
    if (name.startsWith('node-')) rmSync(join(folder, 'node_modules', name))
  }
  const main = join(folder, 'node_modules/.bin/plant-store')
  const withPath = (first: string) => ({ cwd: folder, env: { ...env, PATH: `${first}${delimiter}${env.PATH}` } })
  const sentence = /^Plant Store needs Node 24\.4 or newer; the PATH has v\S+\. Put one on the PATH: .*\n$/
  await t.rejects(run(main, ['--version'], withPath(join(folder, 'old'))), { code: 2, stderr: sentence, stdout: '' })
  // Another Node of the PATH is as good.
  const { stdout } = await run(main, ['--version'], withPath(dirname(process.execPath)))
  t.equal(stdout, `${version}\n`)
})
