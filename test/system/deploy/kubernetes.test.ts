// deploy/kubernetes.yaml by Kubernetes' own types, and its process as a node runs it.
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseYaml } from '@redocly/openapi-core'
import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
import type { Secret } from 'kubernetes-types/core/v1.d.ts'
import t from 'tap'
import { compilePrograms } from '../../fixtures/compiler.ts'
import { testToken } from '../../fixtures/secrets.ts'
import { startService } from '../../fixtures/service.ts'

const text = readFileSync('deploy/kubernetes.yaml', 'utf8')
const resources = text.split(/^---$/m).map(part => parseYaml(part))
const [secret, deployment] = resources as [Secret, Deployment]
const pod = deployment.spec?.template.spec
const container = pod?.containers[0]

t.test("Kubernetes' types accept the file, and no field that they do not have", async t => {
  const program = `import type { Deployment } from 'kubernetes-types/apps/v1.d.ts'
    import type { Secret, Service } from 'kubernetes-types/core/v1.d.ts'
    import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts'
    export const resources: [Secret, Deployment, Service, PodDisruptionBudget] =
      ${JSON.stringify(resources)}`
  const { messages } = await compilePrograms(t, undefined, {
    program,
    misspelt: program.replace('readinessProbe', 'readynessProbe'),
    mistyped: program.replace('"containerPort":3000', '"containerPort":"3000"')
  })
  t.strictSame(messages('program'), [])
  t.match(messages('misspelt').join(), '\'"readynessProbe"\' does not exist')
  t.match(messages('mistyped').join(), "Type 'string' is not assignable to type 'number'")
})

t.test('every selector finds the pods, and every key is in the Secret', async t => {
  const labels = deployment.spec?.template.metadata?.labels
  const selectors = JSON.stringify(resources).matchAll(/"(?:matchLabels|selector)":(\{"app[^}]+\})/g)
  const found = Array.from(selectors, ([, selector = '']) => JSON.parse(selector))
  t.strictSame(found, [labels, labels, labels, labels])
  const keys = Array.from(text.matchAll(/\bkey: ([a-z-]+)/g), ([, key = '']) => key)
  t.strictSame(keys, Object.keys(secret.stringData ?? {}))
})

/** Writes a file as Kubernetes mounts it: a new version of a Secret replaces the link ..data. */
function writeMounted (folder: string, version: string, tokens: string): void {
  mkdirSync(join(folder, version))
  writeFileSync(join(folder, version, 'access-tokens'), tokens)
  chmodSync(join(folder, version, 'access-tokens'), 0o440)
  symlinkSync(version, join(folder, '..data_tmp'))
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
}

t.test('the process fits its probes, its Secret and its grace period', async t => {
  const folder = t.testdir({ secrets: {}, work: {} })
  const [secrets, work] = [join(folder, 'secrets'), join(folder, 'work')]
  writeMounted(secrets, '..1', secret.stringData?.['access-tokens'] ?? '')
  symlinkSync('..data/access-tokens', join(secrets, 'access-tokens'))
  const env: Record<string, string> = {}
  for (const { name, value } of container?.env ?? []) env[name] = value ?? 'memory:'
  const [mount] = container?.volumeMounts ?? []
  const path = env.ACCESS_TOKENS_FILE ?? ''
  env.ACCESS_TOKENS_FILE = path.replace(mount?.mountPath ?? '', secrets)
  const refused = await startService(t, work, env)
  t.equal(await refused.ended, 2, 'the Secret of the file has no token yet')
  writeMounted(secrets, '..2', 'alice:an-old-token-of-alice')
  const service = await startService(t, work, { ...env, LOG_LEVEL: 'info' })
  const { origin, child, ended, output } = service
  t.notMatch(output(), /"level":40/, 'no variable is unknown, and no file too open')

  const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe]
  const statuses = () => Promise.all(probes.map(async probe => {
    return (await fetch(origin + (probe?.httpGet?.path ?? ''))).status
  }))
  t.strictSame(await statuses(), [200, 200, 200])
  const add = async () => {
    const headers = { authorization: `Bearer ${testToken}`, 'content-type': 'application/json' }
    const body = '{"id":1,"name":"fern"}'
    return (await fetch(`${origin}/plants`, { method: 'POST', headers, body })).status
  }
  t.equal(await add(), 401)
  writeMounted(secrets, '..3', `alice:${testToken}`)
  while (await add() !== 200) await sleep(50)

  child.kill('SIGTERM')
  await service.waitForOutput(/shutting down/)
  t.strictSame(await statuses(), [200, 200, 503])
  t.equal(await add(), 200, 'a request of a node that does not know yet')
  // The slowest request that the service takes, from the last moment before it refuses connections.
  await sleep(Number(env.SHUTDOWN_DELAY) * 900)
  const { port } = new URL(origin)
  const slow = connect(Number(port), '127.0.0.1').on('error', () => {})
  slow.write('POST /plants HTTP/1.1\r\nHost: plants\r\nContent-Length: 9\r\n' +
    `Authorization: Bearer ${testToken}\r\nContent-Type: application/json\r\n\r\n{`)
  const graceMs = (pod?.terminationGracePeriodSeconds ?? 0) * 1000
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs - Number(env.SHUTDOWN_DELAY) * 900)
  t.equal(await ended, 0)
  clearTimeout(timer)
})
