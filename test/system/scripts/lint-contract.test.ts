// Redocly is installed with the project. Spectral runs if `npm run lint:contract` has left it in the cache of npm.
import { execFile } from 'node:child_process'
import { copyFileSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'

const contract = readFileSync('openapi.yaml', 'utf8')

/** Lints a contract as `npm run lint:contract` does, without the network. */
function lint (t: Test, text: string): Promise<{ code: number, output: string }> {
  const folder = t.testdir({ 'openapi.yaml': text, scripts: {} })
  for (const file of ['package.json', '.spectral.yaml', 'scripts/packages.sh']) copyFileSync(file, join(folder, file))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const env = { ...process.env, NODE_OPTIONS: '', npm_config_offline: 'true' }
  return new Promise(resolve => {
    execFile('npm', ['run', 'lint:contract'], { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr })
    })
  })
}

t.test('Redocly and Spectral find nothing in the contract', async t => {
  const { code, output } = await lint(t, contract)
  t.match(output, /Your API description is valid/)
  if (/ENOTCACHED/.test(output)) {
    t.comment('Spectral is not in the cache of npm: not tested. `npm run lint:contract` fetches it.')
  } else {
    t.match(output, /No results with a severity of 'warn' or higher found/)
    t.equal(code, 0)
  }
})

t.test('what one of them finds fails the command', async t => {
  const redocly = await lint(t, contract.replace('      summary: Create a plant\n', ''))
  t.equal(redocly.code, 1)
  t.match(redocly.output, /operation-summary/)
  const spectral = await lint(t, contract.replace('      tags:\n        - plants\n', ''))
  t.not(spectral.code, 0)
  t.match(spectral.output, /operation-tags|ENOTCACHED/)
})
