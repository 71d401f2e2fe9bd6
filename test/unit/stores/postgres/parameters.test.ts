import pg from 'pg'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import { hostUrls } from '../../../../src/stores/postgres/hosts.ts'
import { checkParameters, parameterNames } from '../../../../src/stores/postgres/parameters.ts'

/** What pg makes of the parameters. */
function clientOf (query: string): string {
  const client = new pg.Client(`postgres://u:p@h/d?${query}`)
  return inspect(client, { depth: 4, showHidden: true })
}

t.test('each known parameter changes what pg does', async t => {
  const file = `${t.testdir({ 'a.pem': 'a' })}/a.pem`
  const ssl = 'sslmode=verify-full'
  const beside: Record<string, string> = {
    sslnegotiation: ssl, uselibpqcompat: 'sslmode=no-verify', sslcert: ssl, sslkey: ssl
  }
  const values: Record<string, string> = {
    sslcert: file,
    sslkey: file,
    sslrootcert: file,
    sslmode: 'verify-full',
    sslnegotiation: 'direct',
    uselibpqcompat: 'true'
  }
  const ofPg = parameterNames.filter(name => name !== 'target_session_attrs')
  for (const name of ofPg) {
    const rest = beside[name] ?? ''
    const query = `${rest}&${name}=${values[name] ?? 1}`
    checkParameters(query)
    t.not(clientOf(query), clientOf(rest), name)
  }
  t.equal(clientOf('sslmod=verify-full'), clientOf(''), 'pg ignores another name')
})

t.test('an unknown parameter is refused, with the known ones and a similar one', async t => {
  const rest = `The known ones are ${parameterNames.join(', ')}`
  const refused = {
    'sslmod=verify-full': `has the parameter "sslmod" that is unknown. Did you mean sslmode? ${rest}`,
    'SSLMODE=disable': `has the parameter "SSLMODE" that is unknown. Did you mean sslmode? ${rest}`,
    'port=1&connect_timeout=5': `has the parameter "connect_timeout" that is unknown. ${rest}`,
    'password=a&secret=b': `has a parameter that is unknown. ${rest}`
  }
  for (const [query, message] of Object.entries(refused)) {
    t.throws(() => hostUrls(`postgres://h/d?${query}`), { message }, query)
  }
})

t.test('an unknown sslmode is refused', async t => {
  const modes = 'disable, prefer, require, verify-ca, verify-full, no-verify'
  for (const mode of ['foo', 'allow', 'Verify-Full', '', 'require?x']) {
    const message = `has sslmode=${mode}, but must have one of ${modes}`
    t.throws(() => hostUrls(`postgres://h/d?sslmode=${mode}`), { message }, mode)
  }
  for (const mode of modes.split(', ')) checkParameters(`?sslmode=${mode}`)
})

t.test('every wrong parameter has a sentence', async t => {
  const known = `The known ones are ${parameterNames.join(', ')}`
  t.throws(() => hostUrls('postgres://h/d?sslmode=foo&bar=1&target_session_attrs=standby'), {
    message: 'has sslmode=foo, but must have one of disable, prefer, require, verify-ca, ' +
      `verify-full, no-verify. It has the parameter "bar" that is unknown. ${known}. ` +
      'It has target_session_attrs=standby, but the service writes: use read-write'
  })
  const message = `has a parameter that is unknown. ${known}`
  t.throws(() => hostUrls('postgres://h/d?password=a&b&c'), { message }, 'pieces of a password')
})

t.test('an unknown PGSSLMODE is refused where pg would read it', async t => {
  const { PGSSLMODE = '' } = process.env
  t.teardown(() => { process.env.PGSSLMODE = PGSSLMODE })
  process.env.PGSSLMODE = 'verify_full'
  const message = 'has no sslmode and takes PGSSLMODE=verify_full, but must have one of disable, ' +
    'prefer, require, verify-ca, verify-full, no-verify'
  t.throws(() => hostUrls('postgres://h/d'), { message })
  checkParameters('?sslmode=verify-full')
  for (const mode of ['verify-full', '']) {
    process.env.PGSSLMODE = mode
    checkParameters('?application_name=a')
  }
})

t.test('a file of TLS that cannot be read is refused', async t => {
  for (const name of ['sslcert', 'sslkey', 'sslrootcert']) {
    const path = `${t.testdir()}/missing.pem`
    const reason = `ENOENT: no such file or directory, open '${path}'`
    const message = `has ${name}=${path}, which cannot be read (${reason}): correct the path`
    t.throws(() => hostUrls(`postgres://h/d?${name}=${path}`), { message }, name)
  }
  const path = join(t.testdir({ 'ca.pem': '' }), 'ca.pem')
  chmodSync(path, 0)
  const { seteuid } = process
  const isRoot = process.geteuid?.() === 0
  if (isRoot) seteuid?.('nobody')
  try {
    const message = /which cannot be read \(EACCES: .*\): let the user of the service read it/
    t.throws(() => hostUrls(`postgres://h/d?sslrootcert=${path}`), { message })
  } finally {
    if (isRoot) seteuid?.(0)
  }
})

t.test('the modes that pg takes for verify-full are replaced by it', async t => {
  for (const mode of ['prefer', 'require', 'verify-ca']) {
    const replaced = 'postgres://h/d?port=1&sslmode=verify-full&user=u'
    t.strictSame(hostUrls(`postgres://h/d?port=1&sslmode=${mode}&user=u`), [replaced], mode)
  }
  for (const query of ['sslmode=no-verify', 'sslmode=require&uselibpqcompat=true']) {
    t.strictSame(hostUrls(`postgres://h/d?${query}`), [`postgres://h/d?${query}`])
  }
})
