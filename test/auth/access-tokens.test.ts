import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openTokens, parseTokens, readTokens } from '../../src/auth/access-tokens.ts'

const none = { accessTokens: undefined, accessTokensFile: undefined, ownFile: '/nowhere/access-token' }
const noError = (error: unknown) => { throw error }

t.test('tokens are separated by commas or lines and may have names', async t => {
  const tokens = parseTokens(' alice:abc-._~+/9== , xyz\n\nbob:b\r\n')
  t.strictSame([...tokens.keys()], ['abc-._~+/9==', 'xyz', 'b'])
  t.strictSame([...tokens.values()].map(({ name }) => name), ['alice', 'token-3608bca1', 'bob'])
  t.equal(parseTokens(' , \n').size, 0)
  t.throws(() => parseTokens('a:x,b:x'), { message: 'has the same token twice' })
})

t.test('an entry that is no token is refused by its number, not shown', async t => {
  for (const entry of ['with space', 'a:b:c', 'ümlaut', '"quoted"', 'a=b', ':x', 'name:']) {
    t.throws(() => parseTokens(`good,${entry}`), { message: 'is not valid: entry 2 is neither `token` nor `name:token`' }, entry)
  }
})

t.test('a token of the environment is known by its name, any other is not', async t => {
  const { verify, isOwn } = openTokens({ ...none, accessTokens: parseTokens('alice:abc') }, noError)
  t.strictSame(verify('abc'), { name: 'alice' })
  for (const token of ['', 'ab', 'abcd', 'ABC', 'alice', 'alice:abc', '__proto__']) t.equal(verify(token), undefined, token)
  t.equal(isOwn, false)
})

t.test('a file of tokens is read again when it changes, and kept when it cannot be', async t => {
  const folder = t.testdir({ first: 'old', second: 'new', broken: 'not a token' })
  const path = join(folder, 'tokens')
  symlinkSync('first', path)
  const errors: unknown[] = []
  const { verify, close } = openTokens({ ...none, accessTokens: parseTokens('fixed'), accessTokensFile: { path, tokens: readTokens(path) } }, error => errors.push(error))
  t.teardown(close)
  const known = (tokens: string[]) => tokens.map(token => verify(token) !== undefined)
  // Mounted secrets change by a link that is replaced.
  const replace = async (target: string, done: () => boolean) => {
    rmSync(path)
    symlinkSync(target, path)
    for (let waited = 0; !done() && waited < 10_000; waited += 50) await sleep(50)
  }
  t.strictSame(known(['fixed', 'old', 'new']), [true, true, false])
  await replace('second', () => verify('new') !== undefined)
  t.strictSame(known(['fixed', 'old', 'new']), [true, false, true])
  await replace('broken', () => errors.length > 0)
  t.strictSame(known(['fixed', 'old', 'new']), [true, false, true])
  t.match(errors, [{ message: /entry 1/ }])
})

t.test('without tokens the service makes one, for its owner alone, and finds it again', async t => {
  const ownFile = join(t.testdir(), 'data', 'access-token')
  const first = openTokens({ ...none, ownFile }, noError)
  const token = readFileSync(ownFile, 'utf8').trim()
  t.match(token, /^[A-Za-z0-9_-]{43}$/)
  t.equal(statSync(ownFile).mode & 0o777, 0o600)
  t.ok(first.verify(token))
  t.equal(first.isOwn, true)
  first.close()
  t.ok(openTokens({ ...none, ownFile }, noError).verify(token), 'a later start')
  t.equal(readFileSync(ownFile, 'utf8').trim(), token)
})

t.test('a token file that holds none says what to do', async t => {
  const ownFile = join(t.testdir({ 'access-token': '\n' }), 'access-token')
  t.throws(() => openTokens({ ...none, ownFile }, noError), { message: /access-token has no token\. Delete it; the next start creates another\.$/ })
  t.throws(() => readTokens(ownFile), { message: 'has no token' })
})

t.test('a file of tokens is enough', async t => {
  const path = join(t.testdir({ tokens: 'carol:c' }), 'tokens')
  const accessTokensFile = { path, tokens: readTokens(path) }
  const { verify, isOwn, close } = openTokens({ ...none, accessTokensFile }, noError)
  close()
  t.strictSame([verify('c'), verify(''), isOwn], [{ name: 'carol' }, undefined, false])
})

t.test('a token file that cannot be made says so', async t => {
  const folder = t.testdir({ file: '' })
  t.throws(() => openTokens({ ...none, ownFile: join(folder, 'file', 'access-token') }, noError), { code: /EEXIST|ENOTDIR/ })
  t.throws(() => openTokens({ ...none, ownFile: join(folder, 'x'.repeat(254)) }, noError), { code: 'ENAMETOOLONG' })
  writeFileSync(join(folder, `access-token.${process.pid}`), '', { mode: 0o600 })
  t.ok(openTokens({ ...none, ownFile: join(folder, 'access-token') }, noError).isOwn, 'what a crash left behind is no obstacle')
})
