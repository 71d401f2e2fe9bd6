import fs, { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openTokens, type TokenLog, type TokenSources } from '../../../src/auth/token-sources.ts'
import { parseTokens, readTokensFile } from '../../../src/auth/token-list.ts'
import { replaceExports } from '../../fixtures/builtins.ts'

const noTokens = {
  accessTokens: undefined, accessTokensFile: undefined, ownTokenFile: '/nowhere/access-token'
}

/** Opens tokens that verify() finds. */
function open (sources: TokenSources, log: TokenLog = noLog) {
  const changes: number[] = []
  const tokens = openTokens(sources, log, ({ size }) => changes.push(size))
  return { ...tokens, changes, verify: (token: string) => tokens.current().get(token) }
}

/** A log that keeps its sentences, each after its level. */
function sentences () {
  const lines: string[] = []
  const at = (level: string) => (sentence: string) => { lines.push(`${level} ${sentence}`) }
  return { log: { info: at('info'), warn: at('warn'), error: at('error') }, lines }
}

const noLog = { info: t.fail, warn: t.fail, error: t.fail }

t.test('commas and line breaks separate tokens, which may have names and are unique', async t => {
  const tokens = parseTokens(' alice:abc-._~+/9== , xyz\n\nbob:b\r\n')
  t.strictSame([...tokens.keys()], ['abc-._~+/9==', 'xyz', 'b'])
  t.strictSame([...tokens.values()].map(({ name }) => name), ['alice', 'token-3608bca1', 'bob'])
  t.equal(parseTokens(' , \n').size, 0)
  const message = 'is not valid: entry 3 has the token of entry 1. Remove one of them'
  t.throws(() => parseTokens('a:x,b:y,c:x'), { message })
})

t.test('where there are several lines, a fault is at its line, and at its entry if the line has several', async t => {
  const faults: Array<[text: string, fault: string]> = [
    ['a b\n', 'entry 1 has a blank in its token'],
    ['# staff\n\nalice:x\nbob\r\n a b', 'line 5 has a blank in its token'],
    ['alice:x\n,bob,a:b:c,\n', 'entry 2 of line 2 has two colons'],
    ['alice:x\nbob,bo:x', 'entry 2 of line 2 has the token of line 1']
  ]
  for (const [text, fault] of faults) {
    t.throws(() => parseTokens(text), { message: new RegExp(`^is not valid: ${fault}\\. `) }, fault)
  }
})

t.test('each token has an identity that stays the same and does not contain it, also tokens with the same name', t => {
  const [first, second] = parseTokens('alice:abc,alice:xyz').values()
  t.strictSame(
    [first, second],
    [
      { name: 'alice', id: 'ba7816bf8f01cfea', place: 'entry 1' },
      { name: 'alice', id: '3608bca1e44ea6c4', place: 'entry 2' }
    ]
  )
  t.match(parseTokens('abc').get('abc'), { name: 'token-ba7816bf', id: 'ba7816bf8f01cfea' })
  t.end()
})

t.test('a line that starts with # is a comment', async t => {
  t.strictSame([...parseTokens('# staff\nabc\n  #bob:def,ghi\nxyz').keys()], ['abc', 'xyz'])
  t.equal(parseTokens('#alice:abc').size, 0)
})

const badName = 'has a name that does not start with a letter or digit, or has other characters than those and ._@+/-'
const badNames = [
  '// alice', '#alice', 'ACCESS_TOKENS=alice', ';alice', '-- alice', 'REVOKED alice', '<!-- alice',
  'alice #', '\uff03alice', '\u200b#alice'
]

t.test('a name has letters, digits and ._@+/-', async t => {
  const names = ['alice', 'Zoë', '李', 'ci/deploy-2', 'alice+x@example.com', '1_000', 'e\u0301']
  const tokens = parseTokens(names.map((name, index) => `${name}:token${index}`).join('\n'))
  t.strictSame([...tokens.values()].map(({ name }) => name), names)
})

t.test('the error for invalid entries gives their numbers and what is wrong, and does not show them', async t => {
  const faults = {
    'with space': 'has a blank in its token',
    'name:with\ttab': 'has a blank in its token',
    'a:b:c': 'has two colons',
    ümlaut: 'has a character that a token cannot have',
    '"quoted"': 'has a character that a token cannot have',
    'a=b': 'has a character that a token cannot have',
    ...Object.fromEntries(badNames.map(name => [`${name}:x`, badName])),
    ':x': 'has no name before its colon',
    'name:': 'has no token after its colon'
  }
  for (const [entry, fault] of Object.entries(faults)) {
    const message = new RegExp(
      `^is not valid: entry 2 ${RegExp.escape(fault)}\\. An entry is \`token\` or \`name:token\`; a token`
    )
    t.throws(() => parseTokens(`good,${entry}`), { message }, entry)
  }
  const many = Array(7).fill('a b').join(',')
  t.throws(
    () => parseTokens(many),
    { message: /^is not valid: (entry \d has a blank in its token, ){5}2 more\. An/ }
  )
})

t.test('verify() returns the name of a configured token, and nothing for any other token', async t => {
  const accessTokens = parseTokens('alice:a-token-of-alice')
  const { verify, isOwn } = open({ ...noTokens, accessTokens })
  t.match(verify('a-token-of-alice'), { name: 'alice' })
  const others = [
    '', 'a-token-of-alic', 'a-token-of-alicee', 'A-TOKEN-OF-ALICE', 'alice',
    'alice:a-token-of-alice'
  ]
  for (const token of [
    ...others, '__proto__', 'constructor'
  ]) t.equal(verify(token), undefined, token)
  t.equal(isOwn, false)
})

t.test('the time of a lookup does not tell how much of a guess is right', async t => {
  const length = 8192
  const secret = 'x'.repeat(length)
  const { verify } = open({ ...noTokens, accessTokens: parseTokens(`a:${secret}`) })
  const guesses = [0, length / 2, length * 0.99].map(right => Buffer.from(secret.slice(0, right).padEnd(length, 'y')))
  // Each string is new, as those of a parser of HTTP are: V8 keeps the hash of a string that it has
  // seen.
  const spread = (isRight: (guess: string) => unknown, enough: number) => {
    const best = guesses.map(() => Infinity)
    const difference = () => (Math.max(...best) - Math.min(...best)) * 1e6 / 20
    // Other processes only lengthen a run, so that a difference over the limit gets more runs.
    for (let round = 0; round < 200 || (round < 4000 && difference() > enough); round++) {
      for (const [kind, guess] of guesses.entries()) {
        const strings = Array.from({ length: 20 }, () => guess.toString('latin1'))
        const began = performance.now()
        for (const string of strings) if (isRight(string)) t.fail('no guess is right')
        best[kind] = Math.min(best[kind] as number, performance.now() - began)
      }
    }
    return difference()
  }
  const control = spread(guess => guess === secret, Infinity)
  const measured = spread(verify, control / 4)
  t.comment(`0, 50 and 99 % right differ by ${measured.toFixed()} ns; a comparison by ${control.toFixed()} ns`)
  t.ok(control > 50, 'a comparison shows how much of 8 KiB was guessed')
  t.ok(measured < control / 4, 'a lookup does not')
})

t.test('warnings name short tokens and a mixture of entries, which a comma in a token would cause', async t => {
  const warningsOf = (text: string) => {
    const { log, lines } = sentences()
    open({ ...noTokens, accessTokens: parseTokens(text) }, log)
    return lines
  }
  t.strictSame(warningsOf('a:0123456789abcdef,b:0123456789ABCDEF'), [])
  t.strictSame(warningsOf('0123456789abcdef,0123456789ABCDEF'), [])
  t.strictSame(warningsOf('a:0123456789abcdef,b:123456789abcdef,c:x'), [
    'warn ACCESS_TOKENS has tokens of less than 16 characters, which can be guessed: entry 2 (b), entry 3 (c). ' +
    'This command creates a token: openssl rand -base64 24'
  ])
  t.strictSame(warningsOf('a:0123456789abcdef,0123456789ABCDEF'), [
    'warn ACCESS_TOKENS has entries with a name and entries without: entry 2. A token cannot have a comma, ' +
    'which starts the next entry. Give each entry a name, or none'
  ])
  t.match(warningsOf('# staff\na:0123456789abcdef\nb:x'), [/guessed: line 3 \(b\)\. /])
})

/**
 * Opens a tokens file, whose changes `change` makes; it resolves once the log has another line, and
 * returns it.
 */
function openFile (t: Test, text: string) {
  const path = join(t.testdir({ tokens: text }), 'tokens')
  chmodSync(path, 0o640)
  const { log, lines } = sentences()
  const accessTokensFile = readTokensFile(path)
  const tokens = open(
    { ...noTokens, accessTokens: parseTokens('fixed:fixed-token-0123'), accessTokensFile }, log
  )
  t.teardown(tokens.close)
  const change = async (make: () => void) => {
    const count = lines.length
    make()
    for (let waited = 0; lines.length === count && waited < 10_000; waited += 20) await sleep(20)
    return lines.slice(count).map(line => line.replace(path, 'PATH'))
  }
  return { ...tokens, path, change, lines }
}

t.test('a changed tokens file replaces its tokens; an empty one revokes them, and others stay valid', async t => {
  const { verify, path, change, changes } = openFile(t, 'old-token-01234567')
  const areValid = () => [
    'fixed-token-0123', 'old-token-01234567', 'new-token-01234567'
  ].map(verify).map(Boolean)
  t.strictSame(areValid(), [true, true, false])
  t.strictSame(await change(() => writeFileSync(path, 'new-token-01234567\n')), [
    'info ACCESS_TOKENS_FILE PATH has changed: its tokens are valid now, 1 in number'
  ])
  t.strictSame(areValid(), [true, false, true])
  t.strictSame(changes.at(-1), 2, 'other threads get all valid tokens')
  t.strictSame(await change(() => writeFileSync(path, ' \n,\n')), [
    'warn ACCESS_TOKENS_FILE PATH is empty: it makes no token valid any more'
  ])
  t.strictSame(areValid(), [true, false, false])
})

t.test('a token that ACCESS_TOKENS has, too, is named as long as it stays valid', async t => {
  const { verify, path, change, lines } = openFile(t, 'both:fixed-token-0123,old-token-01234567')
  const warning = 'warn ACCESS_TOKENS_FILE PATH has or had tokens that are also in ACCESS_TOKENS: both. ' +
    'They stay valid until they are removed there, too, and the service is started again'
  t.strictSame(lines.at(-1)?.replace(path, 'PATH'), warning)
  t.strictSame(await change(() => writeFileSync(path, '')), [
    'warn ACCESS_TOKENS_FILE PATH is empty: it makes no token valid any more', warning
  ])
  t.ok(verify('fixed-token-0123'))
})

t.test('an invalid or missing file keeps the last tokens valid, and the log says how to revoke them', async t => {
  const { verify, path, change } = openFile(t, 'old-token-01234567')
  const [error = '', ...more] = await change(() => writeFileSync(path, 'new-token-01234567,half a'))
  t.match(
    error,
    /^error ACCESS_TOKENS_FILE PATH is not valid: entry 2 has a blank in its token\. .*entries\. /
  )
  t.match(error, /\. Its last tokens stay valid\. To revoke them all, empty the file$/)
  t.strictSame(more, [])
  t.strictSame(await change(() => rmSync(path)), [
    'error ACCESS_TOKENS_FILE PATH cannot be read: no such file or directory (ENOENT). ' +
    'Its last tokens stay valid. To revoke them all, empty the file'
  ])
  t.ok(verify('old-token-01234567'))
  t.notOk(verify('new-token-01234567'))
})

t.test('a tokens file that every user may read or change is warned of, once and after each change', async t => {
  const { path, change, lines } = openFile(t, 'old-token-01234567')
  t.strictSame(lines, [], 'its group may read it')
  const changed = 'info ACCESS_TOKENS_FILE PATH has changed: its tokens are valid now, 1 in number'
  const warning = (
    mode: string, rights: string
  ) => `warn ACCESS_TOKENS_FILE PATH has the mode ${mode}: every user ` +
    `of this machine who reaches it may ${rights} the tokens. Set the mode to 0640 or 0600`
  t.strictSame(await change(() => chmodSync(path, 0o444)), [changed, warning('0444', 'read')])
  t.strictSame(
    await change(() => chmodSync(path, 0o646)), [changed, warning('0646', 'read and change')]
  )
  t.strictSame(await change(() => chmodSync(path, 0o600)), [changed])
})

t.test('without tokens the service creates one that only its owner can read, and reuses it', async t => {
  const ownTokenFile = join(t.testdir(), 'data', 'access-token')
  const first = open({ ...noTokens, ownTokenFile })
  const token = readFileSync(ownTokenFile, 'utf8').trim()
  t.match(token, /^[A-Za-z0-9_-]{43}$/)
  t.equal(statSync(ownTokenFile).mode & 0o777, 0o600)
  t.ok(first.verify(token))
  t.strictSame([first.isOwn, first.isNew], [true, true])
  first.close()
  const later = open({ ...noTokens, ownTokenFile })
  t.ok(later.verify(token), 'a later start reads the same token')
  t.strictSame([later.isOwn, later.isNew], [true, false])
  t.equal(readFileSync(ownTokenFile, 'utf8').trim(), token)
})

t.test('the error for an empty token file says how to fix it', async t => {
  const ownTokenFile = join(t.testdir({ 'access-token': '\n' }), 'access-token')
  const message = /access-token has no token\. Delete it; the next start creates another\.$/
  t.throws(() => open({ ...noTokens, ownTokenFile }), { message })
  t.throws(() => readTokensFile(ownTokenFile), { message: 'has no token' })
})

t.test('a token file that another user owns is left to that user, or made anew', async t => {
  const ownTokenFile = join(t.testdir({ 'access-token': '' }), 'access-token')
  // The user root can read every file.
  const denied = Object.assign(new Error(), { code: 'EACCES', errno: -constants.errno.EACCES })
  replaceExports(t, fs, { readFileSync: () => { throw denied } })
  const message = /access-token cannot be read: permission denied \(EACCES\)\. Let the user of the service read it, or delete it: then every caller needs the new one\.$/
  t.throws(() => open({ ...noTokens, ownTokenFile }), { message })
})

t.test('a tokens file works without tokens in the environment', async t => {
  const path = join(t.testdir({ tokens: 'carol:token-of-carol-1' }), 'tokens')
  chmodSync(path, 0o600)
  const { verify, isOwn, close } = open({ ...noTokens, accessTokensFile: readTokensFile(path) })
  close()
  t.match([verify('token-of-carol-1'), verify(''), isOwn], [{ name: 'carol' }, undefined, false])
})

t.test('a token file that cannot be created is an error, a draft left by a crash is not', async t => {
  const folder = t.testdir({ file: '' })
  const openIn = (...path: string[]) => open({ ...noTokens, ownTokenFile: join(folder, ...path) })
  const message = (problem: string) => RegExp(
    `^The service cannot write its access token to \\S+: ${problem}\\. ` +
    'Set ACCESS_TOKENS or ACCESS_TOKENS_FILE to use your own\\.$'
  )
  t.throws(() => openIn('file', 'access-token'), { message: message('EEXIST: .*, mkdir .*') })
  t.throws(() => openIn('x'.repeat(254)), { message: message('ENAMETOOLONG: .*') })
  writeFileSync(join(folder, `access-token.${process.pid}`), '', { mode: 0o600 })
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  await t.test('on a full disk', async t => {
    replaceExports(t, fs, { writeFileSync: () => { throw full } })
    t.throws(() => openIn('access-token'), { message: message(full.message) })
  })
  t.ok(openIn('access-token').isOwn)
})

t.test('a token that another process creates meanwhile is used', async t => {
  const ownTokenFile = join(t.testdir(), 'access-token')
  const { linkSync } = fs
  replaceExports(t, fs, {
    linkSync (draft, path) {
      writeFileSync(path, 'token-of-the-other', { mode: 0o600 })
      linkSync(draft, path)
    }
  })
  t.ok(open({ ...noTokens, ownTokenFile }).verify('token-of-the-other'))
})
