import t from 'tap'
import { describeUnread } from '../../../src/config/unread-variables.ts'

const known = [
  'HOST', 'PORT', 'DATABASE_URL', 'ACCESS_TOKENS', 'ACCESS_TOKENS_FILE', 'RATE_LIMIT', 'THREADS',
  'TRUST_PROXY'
]

t.test('variables of the environment are named when they are almost one that the service reads', async t => {
  const near = {
    DATABSE_URL: 'DATABASE_URL',
    DATABASEURL: 'DATABASE_URL',
    database_url: 'DATABASE_URL',
    DATABASE_URI: 'DATABASE_URL',
    ACCESS_TOKEN: 'ACCESS_TOKENS',
    'ACCESS-TOKENS-FILE': 'ACCESS_TOKENS_FILE',
    RATELIMITS: 'RATE_LIMIT',
    THREAD: 'THREADS',
    port: 'PORT',
    PRT: 'PORT',
    TRUST_PROXIES: 'TRUST_PROXY'
  }
  for (const [name, meant] of Object.entries(near)) {
    const sentence = `${name} is set, but the service does not read it. Did you mean ${meant}?`
    t.strictSame(describeUnread(known, ['PATH', name], []), [sentence])
  }
})

t.test('other variables of the environment are no mistake', async t => {
  const others = [
    'PGHOST', 'PATH', 'HOME', 'POST', 'HOSTS', 'PORTS', 'DATABASE', 'DATABASE_URL_TEST', 'TOKENS',
    'RATE', '_', 'NODE_ENV', 'PWD', 'HOSTNAME', 'HOSTTYPE', 'SHELL', 'TERM', 'LS_COLORS', 'TEST'
  ]
  t.strictSame(describeUnread(known, [...known, ...others], known), [])
})

t.test('every other variable of .env is named once', async t => {
  t.strictSame(describeUnread(
    known, ['GREETING', 'DATABSE_URL', 'HOST'], ['HOST', 'GREETING', 'DATABSE_URL', 'PGPORT']
  ), [
    'GREETING is set in .env, but the service does not read it.',
    'DATABSE_URL is set in .env, but the service does not read it. Did you mean DATABASE_URL?'
  ])
})

t.test('a variable that Node reads before .env is sent to the environment', async t => {
  for (const name of ['NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS']) {
    t.strictSame(describeUnread(known, [name], [name]), [
      `${name} is set in .env, which Node does not read: set it in the environment.`
    ])
  }
  t.strictSame(describeUnread(known, ['NODE_OPTIONS'], []), [])
})

t.test('a short name is near to others only in .env', async t => {
  const near = { PROT: 'PORT', POT: 'PORT', PORTS: 'PORT', POST: 'HOST', TEST: undefined }
  for (const [name, meant] of Object.entries(near)) {
    const question = meant === undefined ? '' : ` Did you mean ${meant}?`
    const sentence = `${name} is set in .env, but the service does not read it.${question}`
    t.strictSame(describeUnread(known, [], [name]), [sentence])
  }
})

t.test('a line of .env that may be a token is not shown', async t => {
  const token = 'tok3n-OF_A.shop'
  t.strictSame(describeUnread(known, [token, 'TOK3N_2'], [token, 'tok3n', 'TOK3N_2', 'hosT']), [
    'A line of .env sets a variable that the service does not read. Its name is not in capital ' +
      'letters: it is not shown, because it may be a token.',
    'TOK3N_2 is set in .env, but the service does not read it.',
    'hosT is set in .env, but the service does not read it. Did you mean HOST?'
  ])
})
