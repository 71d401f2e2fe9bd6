import { chmodSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { loadEnvFile } from '../../../src/config/env-file.ts'

t.test('a .env with a secret that every user may read or change is warned of', async t => {
  const folder = process.cwd()
  t.teardown(() => process.chdir(folder))
  process.chdir(t.testdir())
  t.strictSame(loadEnvFile(), { names: [], warnings: [] })
  const warningsOf = (line: string, mode: number) => {
    writeFileSync('.env', line)
    chmodSync('.env', mode)
    return loadEnvFile().warnings
  }
  t.intercept(process, 'env', { value: {} })
  const warning = (mode: string, rights: string) => [
    `.env has the mode ${mode}: every user of this machine who reaches it may ${rights} its ` +
      'tokens and passwords. Set the mode to 0640 or 0600.'
  ]
  const secrets = [
    'ACCESS_TOKENS=a', 'PGPASSWORD=a', 'DATABASE_URL=postgres://u:p@h/d',
    'DATABASE_URL="postgres://u:p/#@h/d"'
  ]
  for (const line of secrets) {
    t.strictSame(warningsOf(line, 0o644), warning('0644', 'read'), line)
    t.strictSame(warningsOf(line, 0o640), [], 'its group may read it')
  }
  t.strictSame(warningsOf('ACCESS_TOKENS=a', 0o666), warning('0666', 'read and change'))
  const harmless = [
    'PORT=0', 'ACCESS_TOKENS=', 'DATABASE_URL=sqlite:a@b', 'DATABASE_URL=postgres://u@h:1/d'
  ]
  for (const line of harmless) t.strictSame(warningsOf(line, 0o644), [], line)
})
