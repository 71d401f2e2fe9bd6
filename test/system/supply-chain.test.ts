// The packages that run in production: no version with a known advisory, a licence and a hash for
// each, all documented.
import { execFile } from 'node:child_process'
import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { testToken } from '../fixtures/secrets.ts'
import { postPlant, startService } from '../fixtures/service.ts'

/** The first version without the advisory; a second one for the next major version. */
const floors: Array<{ name: string, floor: string[], advisory: string }> = [
  // A spelling of Content-Type let bodies through without validation.
  { name: 'fastify', floor: ['5.12.6'], advisory: 'GHSA-hwr6-493r-vm6h' },
  // The result of checks that must all pass depended on their order.
  { name: '@fastify/auth', floor: ['5.1.1'], advisory: 'GHSA-7h52-2rwr-m76r' },
  // Paths with dots reached files that a filter was to hide.
  { name: '@fastify/static', floor: ['10.1.3'], advisory: 'GHSA-8pvw-jcv7-9cmj' },
  // A pattern under $data took exponential time.
  { name: 'ajv', floor: ['8.18.0'], advisory: 'GHSA-2g4f-4pwh-qvx6' },
  // Nested braces exhausted the stack.
  { name: 'brace-expansion', floor: ['5.0.11'], advisory: 'GHSA-qhr7-859c-m2p7' },
  // A malformed host was read as another host.
  { name: 'fast-uri', floor: ['3.1.9', '4.2.3'], advisory: 'GHSA-wjr9-j795-jxcr' },
  // Two parameters in one segment of a route took exponential time.
  { name: 'find-my-way', floor: ['9.0.1'], advisory: 'GHSA-rrr8-f88r-h8q6' }
]

interface Locked { version: string, dev?: boolean, link?: boolean, hasInstallScript?: boolean, devDependencies?: object, workspaces?: string[] }
interface Lockfile { packages: Record<string, Locked> }
interface Component { 'bom-ref': string, name: string, hashes?: unknown[], licenses?: unknown[] }
interface Sbom { components: Component[], dependencies: Array<{ ref: string, dependsOn: string[] }> }

const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const lockfile: Lockfile = JSON.parse(readFileSync('package-lock.json', 'utf8'))
/** What a production install has. The engine is a part of the project: its bundle contains it. */
const production = Object.entries(lockfile.packages).filter(([path, { dev, link }]) => {
  return dev !== true && link !== true && !path.startsWith('src/')
})

/** Negative when version a is lower than version b. */
function compare (a: string, b: string): number {
  const [one, other] = [a, b].map(version => version.split('.').map(Number)) as [number[], number[]]
  return one.map((part, index) => part - (other[index] ?? 0)).find(difference => difference !== 0) ?? 0
}

function isBelow (version: string, floor: string[]): boolean {
  const major = (text: string) => Number.parseInt(text)
  const sameMajor = floor.find(text => major(text) === major(version))
  return compare(version, sameMajor ?? floor.at(-1) as string) < 0
}

/**
 * The SBOM of a production install. `npm sbom --omit=dev` leaves out what development packages need
 * as well.
 */
async function productionSbom (folder: string): Promise<Sbom> {
  const { devDependencies, workspaces, ...withoutDev } = manifest
  const packages: Lockfile['packages'] = Object.fromEntries(production)
  packages[''] = { ...packages[''] as Locked, devDependencies: {}, workspaces: [] }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(withoutDev))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lockfile, packages }))
  const args = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx']
  return JSON.parse((await promisify(execFile)('npm', args, { cwd: folder, maxBuffer: 1e8 })).stdout)
}

/** The number of packages that a package needs, directly or not. */
function countNeeded ({ dependencies }: Sbom, ref: string, seen = new Set<string>()): number {
  for (const next of dependencies.find(dependency => dependency.ref === ref)?.dependsOn ?? []) {
    if (!seen.has(next)) countNeeded({ components: [], dependencies }, next, seen.add(next))
  }
  return seen.size
}

t.test('no package has a version with a known advisory', async t => {
  const versions = Object.entries(lockfile.packages).map(([path, { version }]) => {
    return { name: path.replace(/^.*node_modules\//, ''), path, version }
  })
  for (const { name, floor, advisory } of floors) {
    const used = versions.filter(locked => locked.name === name && production.some(([path]) => path === locked.path))
    t.not(used.length, 0, `${name} is used`)
    for (const { path, version } of used) t.notOk(isBelow(version, floor), `${path} ${version}: ${advisory}`)
  }
  t.ok(isBelow('3.1.8', ['3.1.9', '4.2.3']) && isBelow('4.2.2', ['3.1.9', '4.2.3']) && isBelow('2.9.9', ['3.1.9']))
  t.notOk(isBelow('3.2.0', ['3.1.9', '4.2.3']) || isBelow('5.0.0', ['3.1.9', '4.2.3']) || isBelow('3.1.10', ['3.1.9']))
})

t.test('every package has a licence and a hash, no install script, and a place in docs/proof/dependencies.md', async t => {
  const sbom = await productionSbom(t.testdir())
  t.strictSame(sbom.components.filter(({ hashes, licenses }) => !hashes?.length || !licenses?.length), [])
  t.strictSame(production.filter(([, { hasInstallScript }]) => hasInstallScript === true), [])

  const text = readFileSync('docs/proof/dependencies.md', 'utf8')
  const table = [...text.matchAll(/^\| `([^`]+)` \| .+ \| (\d+) \|$/gm)]
  const rows = table.map(([, name, needs]) => [name, Number(needs)])
  const refOf = (name: string) => sbom.components.find(component => component.name === name)?.['bom-ref'] ?? ''
  const direct = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  t.strictSame(rows, direct.map(name => [name, countNeeded(sbom, refOf(name))]))
  const others = new Set(sbom.components.map(({ name }) => name).filter(name => !direct.includes(name)))
  t.strictSame(/^<!-- others -->\n(.+)$/m.exec(text)?.[1]?.match(/[^ ,`.]+(?:\.[^ ,`]+)*/g)?.sort(), [...others].sort())
  t.match(text, `runs ${sbom.components.length} packages: ${direct.length} direct ones`)
})

t.test('under the permission model the service stores plants, and writes no other folder', async t => {
  const folder = t.testdir({ data: {} })
  const nodeArgs = [
    '--permission', '--allow-fs-read=/proc/self/mountinfo', `--allow-fs-read=${folder}`, `--allow-fs-read=${resolve('.')}`,
    `--allow-fs-read=${realpathSync('node_modules')}`, `--allow-fs-write=${join(folder, 'data')}`, '--allow-net',
    '--allow-worker'
  ]
  // tap would add its own files to NODE_OPTIONS.
  const launch = { command: ['env', '-u', 'NODE_OPTIONS', process.execPath] }
  const env = { ACCESS_TOKENS: testToken }
  for (const file of ['new', 'old']) {
    const { origin, child, ended } = await startService(t, folder, env, nodeArgs, launch)
    t.equal((await postPlant(origin, testToken, '{"id":1,"name":"x"}')).status, 200, `a ${file} file`)
    child.kill('SIGTERM')
    t.equal(await ended, 0)
  }
  const url = `sqlite:${join(folder, 'other', 'plants.db')}`
  const refused = await startService(t, folder, { ...env, DATABASE_URL: url }, nodeArgs, launch)
  t.equal(await refused.ended, 1)
  t.match(refused.output(), /cannot be used: .*--allow-fs-write/)
})
