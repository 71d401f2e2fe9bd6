import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { chmodSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { ConfigError } from '../../../src/config/config.ts'
import { loadEnvFile } from '../../../src/config/env-file.ts'
import { replaceExports } from '../../fixtures/builtins.ts'

/** Makes an empty folder the working directory, and leaves no variables. */
function enterFolder (t: Test): void {
  const folder = process.cwd()
  t.teardown(() => process.chdir(folder))
  process.chdir(t.testdir({}))
  t.intercept(process, 'env', { value: {} })
}

t.test('a .env whose lines would be skipped or contradict one another is refused', async t => {
  enterFolder(t)
  const refused = {
    'it is not UTF-8': [Buffer.from('PORT=1\n', 'utf16le'), Buffer.from([0x50, 0xff])],
    'line 2 is neither NAME=value nor NAME="a value with blanks or #"': [
      '# comment\nPORT: 40010\n', '\n"PORT=1"', 'A=b\nPGPASSWORD= \nPORT=0',
      '\nHOST="127.0.0.1\nB="x"', 'A=1\r\nB="c","d"', '\nDATABASE_URL=sqlite:my#plants.db',
      '\nexport\tPORT=1', '\n\ufeffPORT=1'
    ],
    'line 3 sets PORT again': ['PORT=1\n\nPORT=2', 'PORT=1\nA=b\nexport PORT=1']
  }
  for (const [reason, texts] of Object.entries(refused)) {
    const message = `.env cannot be read: ${reason}. Correct or remove it.`
    for (const text of texts) {
      writeFileSync('.env', text)
      t.throws(loadEnvFile, { message })
      t.strictSame(process.env, {}, 'no variable is set')
    }
  }
})

t.test('all lines that are refused are reported at once', async t => {
  enterFolder(t)
  writeFileSync('.env', 'PORT 1\nHOST=a\nHOST=b\n\nLOG_LEVEL="x\nHOST=c')
  const lines = [
    'line 1 is neither NAME=value nor NAME="a value with blanks or #"',
    'line 3 sets HOST again',
    'line 5 is neither NAME=value nor NAME="a value with blanks or #"',
    'line 6 sets HOST again'
  ]
  const mistakes = lines.map(line => `.env cannot be read: ${line}. Correct or remove it.`)
  t.throws(loadEnvFile, { message: mistakes.join('\n') })
})

t.test('a folder .env is refused', async t => {
  enterFolder(t)
  mkdirSync('.env')
  t.throws(loadEnvFile, { message: /^\.env cannot be read: EISDIR.*[^.]\. Correct or remove it\.$/ })
  rmdirSync('.env')
})

t.test('a .env that the user may not read is named with the way out', async t => {
  enterFolder(t)
  writeFileSync('.env', 'PORT=1')
  // root may read every file.
  const readFileSync = () => { throw Object.assign(new Error('EACCES'), { code: 'EACCES' }) }
  replaceExports(t, fs, { readFileSync } as object)
  t.throws(loadEnvFile, new ConfigError('.env cannot be read: let the user of the service read it, for example by chown.'))
})

t.test('a folder that may not be searched is named', async t => {
  enterFolder(t)
  // root may search every folder.
  const lstatSync = () => { throw Object.assign(new Error('EACCES'), { code: 'EACCES' }) }
  replaceExports(t, fs, { lstatSync } as object)
  const message = `.env cannot be looked for in ${process.cwd()}. Start the service in a folder ` +
    'that its user may search.'
  t.throws(loadEnvFile, new ConfigError(message))
})

t.test('a .env that is a pipe is waited for, and says so', async t => {
  enterFolder(t)
  execFileSync('mkfifo', ['.env'])
  const lines = t.capture(console, 'error', () => {})
  const writer = spawn('sh', ['-c', 'echo PORT=40010 > .env'])
  t.strictSame(loadEnvFile().names, ['PORT'])
  await once(writer, 'exit')
  t.strictSame(lines().map(({ args }) => args), [['.env is a pipe: waiting for what is written to it.']])
})

t.test('a .env with a secret that every user may read or change is warned of', async t => {
  enterFolder(t)
  t.strictSame(loadEnvFile(), { names: [], warnings: [] })
  const warningsOf = (line: string, mode: number) => {
    writeFileSync('.env', line)
    chmodSync('.env', mode)
    return loadEnvFile().warnings
  }
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
