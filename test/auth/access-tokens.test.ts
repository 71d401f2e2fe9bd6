import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openTokens, parseTokens, readTokens } from '../../src/auth/access-tokens.ts'

const noTokens = { accessTokens: undefined, accessTokensFile: undefined, ownTokenFile: '/nowhere/access-token' }
const noError = (error: unknown) => { throw error }

t.test('commas and line breaks separate tokens, which may have names and are unique', async t => {
  const tokens = parseTokens(' alice:abc-._~+/9== , xyz\n\nbob:b\r\n')
  t.strictSame([...tokens.keys()], ['abc-._~+/9==', 'xyz', 'b'])
  t.strictSame([...tokens.values()].map(({ name }) => name), ['alice', 'token-3608bca1', 'bob'])
  t.equal(parseTokens(' , \n').size, 0)
  t.throws(() => parseTokens('a:x,b:x'), { message: 'has the same token twice' })
})

t.test('the error for an invalid entry gives its number and does not show it', async t => {
  const message = 'is not valid: entry 2 is neither `token` nor `name:token`'
  for (const entry of ['with space', 'a:b:c', 'ümlaut', '"quoted"', 'a=b', ':x', 'name:']) {
    t.throws(() => parseTokens(`good,${entry}`), { message }, entry)
  }
})

t.test('verify() returns the name of a configured token, and nothing for any other token', async t => {
  const { verify, isOwn } = openTokens({ ...noTokens, accessTokens: parseTokens('alice:abc') }, noError)
  t.strictSame(verify('abc'), { name: 'alice' })
  for (const token of ['', 'ab', 'abcd', 'ABC', 'alice', 'alice:abc', '__proto__']) {
    t.equal(verify(token), undefined, token)
  }
  t.equal(isOwn, false)
})

t.test('a changed tokens file is read again; when it is invalid, the last tokens stay valid', async t => {
  const folder = t.testdir({ first: 'old', second: 'new', broken: 'not a token' })
  const path = join(folder, 'tokens')
  symlinkSync('first', path)
  const errors: unknown[] = []
  const accessTokensFile = { path, tokens: readTokens(path) }
  const sources = { ...noTokens, accessTokens: parseTokens('fixed'), accessTokensFile }
  const { verify, close } = openTokens(sources, error => errors.push(error))
  t.teardown(close)
  const areValid = (tokens: string[]) => tokens.map(token => verify(token) !== undefined)
  // Mounted secrets change when their symbolic link is replaced.
  const replace = async (target: string, done: () => boolean) => {
    rmSync(path)
    symlinkSync(target, path)
    for (let waited = 0; !done() && waited < 10_000; waited += 50) await sleep(50)
  }
  t.strictSame(areValid(['fixed', 'old', 'new']), [true, true, false])
  await replace('second', () => verify('new') !== undefined)
  t.strictSame(areValid(['fixed', 'old', 'new']), [true, false, true])
  await replace('broken', () => errors.length > 0)
  t.strictSame(areValid(['fixed', 'old', 'new']), [true, false, true])
  t.match(errors, [{ message: /entry 1/ }])
})

t.test('without tokens the service creates one that only its owner can read, and reuses it', async t => {
  const ownTokenFile = join(t.testdir(), 'data', 'access-token')
  const first = openTokens({ ...noTokens, ownTokenFile }, noError)
  const token = readFileSync(ownTokenFile, 'utf8').trim()
  t.match(token, /^[A-Za-z0-9_-]{43}$/)
  t.equal(statSync(ownTokenFile).mode & 0o777, 0o600)
  t.ok(first.verify(token))
  t.equal(first.isOwn, true)
  first.close()
  t.ok(openTokens({ ...noTokens, ownTokenFile }, noError).verify(token), 'a later start reads the same token')
  t.equal(readFileSync(ownTokenFile, 'utf8').trim(), token)
})

t.test('the error for an empty token file says how to fix it', async t => {
  const ownTokenFile = join(t.testdir({ 'access-token': '\n' }), 'access-token')
  const message = /access-token has no token\. Delete it; the next start creates another\.$/
  t.throws(() => openTokens({ ...noTokens, ownTokenFile }, noError), { message })
  t.throws(() => readTokens(ownTokenFile), { message: 'has no token' })
})

t.test('a tokens file works without tokens in the environment', async t => {
  const path = join(t.testdir({ tokens: 'carol:c' }), 'tokens')
  const accessTokensFile = { path, tokens: readTokens(path) }
  const { verify, isOwn, close } = openTokens({ ...noTokens, accessTokensFile }, noError)
  close()
  t.strictSame([verify('c'), verify(''), isOwn], [{ name: 'carol' }, undefined, false])
})

t.test('a token file that cannot be created is an error, a draft left by a crash is not', async t => {
  const folder = t.testdir({ file: '' })
  const open = (...path: string[]) => openTokens({ ...noTokens, ownTokenFile: join(folder, ...path) }, noError)
  t.throws(() => open('file', 'access-token'), { code: /EEXIST|ENOTDIR/ })
  t.throws(() => open('x'.repeat(254)), { code: 'ENAMETOOLONG' })
  writeFileSync(join(folder, `access-token.${process.pid}`), '', { mode: 0o600 })
  t.ok(open('access-token').isOwn)
})
