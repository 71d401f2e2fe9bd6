import { execFile } from 'node:child_process'
import {
  chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const exampleNames = [
  ...readFileSync('.env.example', 'utf8').matchAll(/^# ([A-Z_]+)=/gm)
].map(([, name]) => name)

/** Runs the service with arguments, in an empty folder. */
async function run (
  cwd: string, ...args: string[]
): Promise<{ code: number, stdout: string, stderr: string }> {
  const main = resolve('src/main.ts')
  const ended = promisify(execFile)(process.execPath, [main, ...args], { cwd, timeout: 60_000 })
  return await ended.then(output => ({ code: 0, ...output }), error => error)
}

t.test('--help names each variable with a value, and starts nothing', async t => {
  const folder = t.testdir()
  for (const option of ['--help', '-h']) {
    const { code, stdout, stderr } = await run(folder, option)
    t.strictSame([code, stderr], [0, ''])
    t.match(stdout, /^Usage: plant-store /)
    t.strictSame([...stdout.matchAll(/^ {4}([A-Z_]+)=./gm)].map(([, name]) => name), exampleNames)
    t.notMatch(stdout, '#')
  }
  t.strictSame(readdirSync(folder), [])
})

t.test('without packages or generated files each npm script that needs them is one sentence, and exit code 2', async t => {
  const folder = t.testdir({ bin: {}, nodes: { v20: {}, none: {} } })
  for (const file of ['package.json', 'bin/plant-store', 'scripts/packages.sh']) cpSync(file, join(folder, file))
  const old = join(folder, 'nodes/v20/node')
  writeFileSync(old, '#!/bin/sh\necho v20.20.2\n', { mode: 0o755 })
  for (const name of ['sh', 'readlink', 'uname']) {
    const { stdout } = await promisify(execFile)('which', [name])
    for (const at of ['v20', 'none']) symlinkSync(stdout.trim(), join(folder, 'nodes', at, name))
  }
  const call = (command: string, at: string) => {
    const options = { cwd: folder, env: { PATH: join(folder, 'nodes', at) } }
    return promisify(execFile)('/bin/sh', ['-c', command], options).catch(error => error)
  }
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const needs = 'Plant Store needs Node 24.4 or newer; the PATH has'
  const runCi = 'Run npm ci in its folder, which installs one, or put one on the PATH.'
  t.match(await call(scripts.start, 'v20'), { code: 2, stderr: `${needs} v20.20.2. ${runCi}\n` })
  t.match(await call(scripts.copy, 'v20'), { code: 2, stderr: `${needs} v20.20.2. ${runCi}\n` })
  t.match(await call(scripts.start, 'none'), { code: 2, stderr: `${needs} none. ${runCi}\n` })
  const stderr = 'This command needs the packages of development: run npm ci, without --omit, first.\n'
  for (const name of ['generate', 'dev', 'lint:contract', 'build-tap']) t.match(await call(scripts[name], 'v20'), { code: 2, stderr }, name)
  for (const [name, script] of Object.entries(scripts)) {
    if (['start', 'copy'].includes(name)) continue
    t.match(script, /^(?:scripts\/packages\.sh &&|npm run generate) /, name)
  }
  for (const name of ['start', 'copy', 'dev']) t.match(scripts[name], /^(?:\S+ && )?exec \S+/, `SIGTERM of npm ends ${name}`)
  mkdirSync(join(folder, 'node_modules'))
  t.match(await call(scripts.generate, 'v20'), { code: 2, stderr }, 'after npm ci --omit=dev')
  const missing = 'Put one on the PATH: npm has installed none that runs on this machine.'
  t.match(await call(scripts.start, 'v20'), { code: 2, stderr: `${needs} v20.20.2. ${missing}\n` })
  for (const [fault, way] of [
    ['libatomic.so.1: cannot open shared object file', 'Install libatomic1 (Debian, Ubuntu) or libatomic (Fedora): the one that npm has installed needs it.'],
    ['not found', 'Put one on the PATH: the one that npm has installed does not run here (not found).']
  ]) {
    for (const name of ['linux-x64', 'linux-arm64', 'darwin-x64', 'bin-darwin-arm64']) {
      const bin = join(folder, 'node_modules', `node-${name}`, 'bin')
      mkdirSync(bin, { recursive: true })
      writeFileSync(join(bin, 'node'), `#!/bin/sh\necho '${fault}' >&2\nexit 127\n`, { mode: 0o755 })
    }
    t.match(await call(scripts.start, 'v20'), { code: 2, stderr: `${needs} v20.20.2. ${way}\n` })
  }
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src/main.ts'), '')
  const notGenerated = /\/generated is missing or not complete: run npm run generate first\.\n$/
  t.match(await call(scripts.start, 'v20'), { code: 2, stderr: notGenerated })
})

t.test('a package that is missing, or a Node that is too old, is one sentence with a way out', async t => {
  // A folder of the project would find its packages.
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  cpSync('src', join(folder, 'src'), { recursive: true })
  const failed = promisify(execFile)(process.execPath, ['src/main.ts', '--help'], { cwd: folder }).catch(error => error)
  const stderr = /^Node v\S+ cannot load a part of it: [^]+\. Install its packages again \(npm ci\), and start it by bin\/plant-store, which looks for a Node that runs it\.\n$/
  t.match(await failed, { code: 2, stderr })
})

t.test('parts of it that this user may not read are one sentence, and exit code 2', async t => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'plant-store-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  cpSync('bin', join(folder, 'bin'), { recursive: true })
  mkdirSync(join(folder, 'generated'))
  for (const name of ['src', 'node_modules']) mkdirSync(join(folder, name), { mode: 0 })
  writeFileSync(join(folder, 'package.json'), '{}', { mode: 0o200 })
  const user = process.getuid?.() === 0 ? { uid: 65534 } : {}
  const failed = promisify(execFile)(join(folder, 'bin/plant-store'), { cwd: folder, ...user }).catch(error => error)
  const parts = ['src', 'node_modules', 'package.json'].map(name => ` ${folder}/${name}`).join('')
  const stderr = `This user may not read all of the service: let its owner run chmod -R go+rX${parts}\n`
  t.match(await failed, { code: 2, stderr })
})

t.test('--version prints the version of package.json', async t => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const option of ['--version', '-v']) {
    t.match(await run(t.testdir(), option), { code: 0, stdout: `${version}\n`, stderr: '' })
  }
})

t.test('an unknown argument is one sentence, without what may be a password, and exit code 2', async t => {
  const folder = t.testdir()
  const unknown = {
    '--port': '--port', '--token=hunter2': '--token', 'postgres://u:hunter2@h': 'postgres', '': ''
  }
  for (const [argument, name] of Object.entries(unknown)) {
    for (const args of [[argument], ['--help', argument], [argument, 'hunter2']]) {
      const stderr = `The argument "${name}" is unknown: variables such as PORT configure the service, ` +
        'and --help lists them.\n'
      t.match(await run(folder, ...args), { code: 2, stdout: '', stderr })
    }
  }
  t.strictSame(readdirSync(folder), [])
})

t.test('copy is the program of npm run copy', async t => {
  const folder = t.testdir({ 'a.ndjson': '{"id":1,"name":"fern"}\n' })
  const { code, stdout, stderr } = await run(folder, 'copy', 'a.ndjson', '-')
  t.match(
    { code, stdout, stderr }, { code: 0, stdout: '{"id":1,"name":"fern"}\n', stderr: /^1 added/ }
  )
  for (const option of ['--help', '-h']) {
    t.match(
      await run(folder, 'copy', option),
      { code: 0, stdout: /plant-store copy \[--fail-fast\] FROM TO\n/ }
    )
  }
  t.match(await run(folder, 'copy', 'none.ndjson', '-'), { code: 2 })
})
