import fs, { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readTokensFile } from '../../../src/auth/token-list.ts'
import { ConfigError, readConfig } from '../../../src/config/config.ts'
import { tokensFile } from '../../../src/config/values.ts'
import { replaceExports } from '../../fixtures/builtins.ts'

function mistakesOf (env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
  }
  return []
}

t.test('without variables the configuration is the default, and an empty variable counts as not set', async t => {
  const defaults = {
    host: '127.0.0.1',
    port: 3000,
    metricsPort: undefined,
    databaseUrl: 'sqlite:data/plants.db',
    namesDatabase: false,
    accessTokens: undefined,
    accessTokensFile: undefined,
    jwt: undefined,
    baseUrl: '/',
    bodyLimit: 65536,
    rateLimit: undefined,
    failedAuthLimit: 60,
    trustProxy: undefined,
    corsOrigin: undefined,
    maxConnections: undefined,
    threads: undefined,
    maxQueue: 10000,
    keepAliveTimeoutMs: 72_000,
    shutdownDelayMs: 0,
    answers: 'enforce',
    logLevel: 'info',
    onTerminal: false,
    unread: []
  }
  t.strictSame(readConfig({}), defaults)
  t.strictSame(readConfig({ PORT: '', ACCESS_TOKENS: '', UNRELATED: 'x' }), defaults)
})

t.test('an address or a path that the service can serve is accepted as BASE_URL', async t => {
  const valid = [
    '/', '/api/v1', '/api/v1/', '/gr\u00fcn', '/gr%C3%BCn', '/a%20b', '/:id', '/(x)', 'https://a.example', 'http://a.example:8080/x/',
    'https://[::1]:3000/x', 'HTTPS://a.example', 'https://b\u00fccher.example/x'
  ]
  for (const text of valid) t.equal(readConfig({ BASE_URL: text }).baseUrl, text)
})

t.test('readConfig() reads every variable', async t => {
  const accessTokensFile = join(t.testdir({ tokens: 'abc' }), 'tokens')
  t.strictSame(readConfig({
    HOST: '::',
    PORT: '0',
    METRICS_PORT: '9464',
    DATABASE_URL: 'memory:',
    ACCESS_TOKENS: 'a:b+c/d',
    ACCESS_TOKENS_FILE: accessTokensFile,
    JWT_ISSUER: 'https://id.example.com/',
    JWT_AUDIENCE: 'plants',
    JWKS_URL: 'http://[::1]:8080/keys',
    BASE_URL: 'https://example.com/store',
    BODY_LIMIT: '10',
    RATE_LIMIT: '20',
    FAILED_AUTH_LIMIT: '25',
    TRUST_PROXY: '127.0.0.1, ::1,10.0.0.0/8,2001:db8::/32',
    CORS_ORIGIN: 'https://a.example, http://localhost:5173',
    MAX_CONNECTIONS: '25',
    THREADS: '3',
    MAX_QUEUE: '30',
    KEEP_ALIVE_TIMEOUT: '40',
    SHUTDOWN_DELAY: '5',
    CHECK_ANSWERS: 'log',
    LOG_LEVEL: 'debug'
  }), {
    host: '::',
    port: 0,
    metricsPort: 9464,
    databaseUrl: 'memory:',
    namesDatabase: true,
    accessTokens: new Map([['b+c/d', { name: 'a', id: '350c86dec6f06e7e', place: 'entry 1' }]]),
    accessTokensFile: readTokensFile(accessTokensFile),
    jwt: {
      issuer: 'https://id.example.com/', audience: 'plants', jwksUrl: 'http://[::1]:8080/keys'
    },
    baseUrl: 'https://example.com/store',
    bodyLimit: 10,
    rateLimit: 20,
    failedAuthLimit: 25,
    trustProxy: ['127.0.0.1', '::1', '10.0.0.0/8', '2001:db8::/32'],
    corsOrigin: ['https://a.example', 'http://localhost:5173'],
    maxConnections: 25,
    threads: 3,
    maxQueue: 30,
    keepAliveTimeoutMs: 40_000,
    shutdownDelayMs: 5000,
    answers: 'log',
    logLevel: 'debug',
    onTerminal: false,
    unread: []
  })
})

t.test('PGHOST without DATABASE_URL is reported, for the plants go to a file', async t => {
  t.strictSame(readConfig({ PGHOST: 'db.example.com' }).unread, [
    'PGHOST is set, but DATABASE_URL is not: the service uses sqlite:data/plants.db. ' +
    'DATABASE_URL=postgres:/// uses the database that PGHOST names.'
  ])
  for (const DATABASE_URL of ['sqlite:plants.db', 'postgres:///']) {
    t.strictSame(readConfig({ PGHOST: 'db.example.com', DATABASE_URL }).unread, [])
  }
})

t.test('one error reports all mistakes, each in a sentence with an example', async t => {
  t.strictSame(mistakesOf({ PORT: '80a', LOG_LEVEL: 'loud', BODY_LIMIT: '0' }), [
    'PORT is "80a", but must be a whole number from 0 to 65535; for example PORT=3000',
    'BODY_LIMIT is "0", but must be a whole number from 1 to 16777216; for example BODY_LIMIT=65536',
    'LOG_LEVEL is "loud", but must be one of trace, debug, info, warn, error, fatal, silent; for example LOG_LEVEL=info'
  ])
})

t.test('the error for an invalid value states the rule and shows no secret', async t => {
  const empty = join(t.testdir({ tokens: '' }), 'tokens')
  const unknownStore = new RegExp(
    '^DATABASE_URL must be sqlite:PATH, postgres://USER:PASSWORD@HOST/DATABASE or memory:; ' +
    'for example DATABASE_URL=sqlite:data/plants.db$'
  )
  const invalid: Array<[string, string, RegExp]> = [
    ['PORT', '65536', /from 0 to 65535/],
    ['PORT', '-1', /whole number/],
    ['PORT', '0x50', /whole number/],
    ['PORT', '1e3', /whole number/],
    ['PORT', ' 80', /whole number/],
    ...[
      'http://127.0.0.1', '127.0.0.1:3000', '[::1]', 'a b'
    ].map((value): [string, string, RegExp] => {
      return [
        'HOST', value,
        /^HOST is ".*", but must be an IP address or a host name, without a port; for example HOST=0\.0\.0\.0$/
      ]
    }),
    ['DATABASE_URL', 'mysql://root:hunter2@db/plants', unknownStore],
    ['DATABASE_URL', 'sqlite:', /sqlite:PATH/],
    ['DATABASE_URL', 'sqlite::memory:', /^DATABASE_URL has a store in memory: write memory:;/],
    ['DATABASE_URL', 'postgres:plants', /postgres:\/\//],
    [
      'DATABASE_URL', 'postgres://root:hunter2@a,,b/plants',
      /^DATABASE_URL has a host or port that is not valid;/
    ],
    [
      'DATABASE_URL', 'postgres://root:hunter2@a/plants?sslmod=verify-full',
      /^DATABASE_URL has the parameter "sslmod" that is unknown\. Did you mean sslmode\? The known/
    ],
    [
      'DATABASE_URL', 'postgres://a/plants?sslmode=foo',
      /; for example DATABASE_URL=postgres:\/\/user:password@host\/plants\?sslmode=verify-full$/
    ],
    [
      'DATABASE_URL', 'postgres://a,b/plants?target_session_attrs=standby',
      /=standby, but the service writes: use rea/
    ],
    [
      'ACCESS_TOKENS', 'se cret',
      /^ACCESS_TOKENS is not valid: entry 1 has a blank in its token\. An entry is `token` or/
    ],
    ['ACCESS_TOKENS', ',', /has no token/],
    ['ACCESS_TOKENS', '/run/secrets/access-tokens', /^ACCESS_TOKENS is the path of a file: /],
    ['ACCESS_TOKENS', empty, /^ACCESS_TOKENS is the path of a file: write it to ACCESS_TOKENS_FILE;/],
    ['ACCESS_TOKENS', 'alice:<token>,bob:<token>', /^ACCESS_TOKENS is not valid: entry 1 has a character/],
    [
      'ACCESS_TOKENS_FILE', '/does/not/exist',
      /^ACCESS_TOKENS_FILE names \/does\/not\/exist, which cannot be read: no such/
    ],
    [
      'ACCESS_TOKENS_FILE', '/dev/null',
      /^ACCESS_TOKENS_FILE names \/dev\/null, which is not a regular file/
    ],
    [
      'ACCESS_TOKENS_FILE', 'tok3n+of-a-shop',
      /^ACCESS_TOKENS_FILE names \/.+\/tok\.\.\., which cannot be read: no such (?!.*tok3n)/
    ],
    ['ACCESS_TOKENS_FILE', 'nope', /^ACCESS_TOKENS_FILE names \/.+\/nope, which cannot be read: no such/],
    ['ACCESS_TOKENS_FILE', empty, /which has no token;/],
    ['METRICS_PORT', '3000', /^METRICS_PORT is 3000, like PORT; for example METRICS_PORT=9464$/],
    ['BASE_URL', 'ftp://example.com', /but must begin with https:\/\/, http:\/\/ or one \/; for/],
    ['BASE_URL', 'example.com', /but must begin with https:\/\/, http:\/\/ or one \/; for/],
    ['BASE_URL', 'https://example.com/?a=b', /no user, \? #/],
    ['BASE_URL', '/a#b', /no user, \? #/],
    ['BASE_URL', '/a%', /\/\/ blank, lone % or encoded character such as %2F;/],
    ['BASE_URL', '/a%2Fb', /such as %2F/],
    ['BASE_URL', '/a%3fb', /such as %2F/],
    ['BASE_URL', '/\\evil.example', /no user, \? #/],
    ['BASE_URL', 'https://example.com//evil.example', /no user, \? #/],
    ['BASE_URL', '/a//b', /no user, \? #/],
    ...['/%ff', '/%C3%28', '/a%2Ab', '/a%7Bb', '/a%5Cb', '/a%25', '/a%0ab', '/a://b', 'https://a.example/x#', 'https://a.example/?',
      'https://@a.example/', 'http:a.example', 'https://a b/', 'https://a.example:x/', '/\tb']
      .map(
        (value): [string, string, RegExp] => [
          'BASE_URL', value, /but must (?:begin with https:|have a valid host and no user)/
        ]
      ),
    ['BASE_URL', 'https://example.com/%zz', /lone %/],
    ['BASE_URL', '//elsewhere/a', /but must begin with https:\/\/, http:\/\/ or one \/; for/],
    ['BASE_URL', '/{a}', /no user, \? #/],
    ['BASE_URL', '/a b', /no user, \? #/],
    ['BASE_URL', 'https://alice@example.com', /no user, \? #/],
    ['BASE_URL', 'https://u:hunter2@example.com/', /^BASE_URL is "\*\*\*@example.com\/", but/],
    ['BASE_URL', 'https://u:hunter2/@\n@example.com', /^BASE_URL is "\*\*\*@example.com", but/],
    ['CORS_ORIGIN', 'https://u:hunter2@example.com', /has "\*\*\*@example.com", but/],
    ['HOST', 'u:hunter2@example.com', /is "\*\*\*@example.com", but/],
    ['BASE_URL', 'https://a.example/a?key=hunter2', /^BASE_URL is "https:\/\/a.example\/a\?\.\.\.",/],
    ['BASE_URL', 'token-hunter2', /^BASE_URL is "tok\.\.\.", but/],
    ['PORT', 'token-hunter2', /^PORT is "tok\.\.\.", but/],
    ['LOG_LEVEL', 'token-hunter2', /^LOG_LEVEL is "tok\.\.\.", but/],
    ['HOST', 'token+hunter2', /^HOST is "tok\.\.\.", but/],
    ['HOST', 'token-hunter2:1', /^HOST is "tok\.\.\.", but/],
    ['HOST', 'plants.example.com:3000', /^HOST is "plants\.example\.com:3000", but/],
    ['CORS_ORIGIN', 'localhost:5173', /^CORS_ORIGIN has "localhost:5173", but/],
    ['CORS_ORIGIN', 'HTTPS://App.Example.com', /^CORS_ORIGIN has "HTTPS:\/\/App\.Example\.com", but/],
    ['TRUST_PROXY', '::1,token-hunter2', /^TRUST_PROXY has "tok\.\.\.", but/],
    ['DATABASE_URL', 'sqlite:postgres://u:hunter2@h/x', /^DATABASE_URL has an address where/],
    ['DATABASE_URL', 'sqlite://u:hunter2@h/x', /^DATABASE_URL has an address where/],
    ['BASE_URL', 'https://example.com/*', /no user, \? #/],
    ['RATE_LIMIT', '0', /from 1/],
    [
      'FAILED_AUTH_LIMIT', '0',
      /^FAILED_AUTH_LIMIT is "0", but must be a whole number from 1 to 1000000000;/
    ],
    [
      'CORS_ORIGIN', '*',
      /^CORS_ORIGIN has "\*", but must be origins as browsers send them \(scheme, host and port, no capitals, no port 80 for http or 443 for https, no slash at the end\), separated by commas; for e/
    ],
    ...[
      'null', 'https://*.a.example', 'https://a.example/', 'https://a.example/x', 'a.example',
      'ftp://a.example', 'https://A.example', ''
    ]
      .map(
        (value): [string, string, RegExp] => [
          'CORS_ORIGIN', `https://b.example,${value}`, /must be origins/
        ]
      ),
    [
      'TRUST_PROXY', 'proxy',
      /^TRUST_PROXY has "proxy", but must be addresses or networks, separated by commas; for e/
    ],
    ['MAX_QUEUE', '1.5', /whole number/],
    ...['0.0.0.0/0', '::/0', '10.0.0.1,::/00 , 10.0.0.2'].map(
      (value): [string, string, RegExp] => [
        'TRUST_PROXY', value, /^TRUST_PROXY must not trust every address: .* of your proxies; for e/
      ]
    ),
    ...['true', '1', '10.0.0.1,', '10.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/08',
      '::/129', 'fe80::%a']
      .map((value): [string, string, RegExp] => ['TRUST_PROXY', value, /addresses or networks/]),
    ['KEEP_ALIVE_TIMEOUT', '0', /from 1 to 3600/],
    ['SHUTDOWN_DELAY', '6', /from 0 to 5; for example SHUTDOWN_DELAY=5$/]
  ]
  for (const [name, value, sentence] of invalid) {
    const mistakes = mistakesOf({ [name]: value })
    t.equal(mistakes.length, 1, `${name}=${value}`)
    t.match(mistakes[0], sentence)
    t.notMatch(mistakes[0], /hunter2|se cret/, 'no secret')
  }
})

t.test('JWT_ISSUER and JWT_AUDIENCE need each other, and the issuer is an address unless JWKS_URL is set', async t => {
  const audience = 'JWT_AUDIENCE is not set, but JWTs need it; for example JWT_AUDIENCE=https://plants.example.com'
  const issuer = 'JWT_ISSUER is not set, but JWTs need it; for example JWT_ISSUER=https://id.example.com'
  t.strictSame(mistakesOf({ JWT_ISSUER: 'https://id.example.com' }), [audience])
  t.strictSame(mistakesOf({ JWT_AUDIENCE: 'plants' }), [issuer])
  t.strictSame(mistakesOf({ JWKS_URL: 'https://id.example.com/keys' }), [issuer, audience])

  const jwt = { JWT_AUDIENCE: 'plants', JWT_ISSUER: 'https://id.example.com' }
  const jwksUrl = 'https://id.example.com/keys'
  const unsafe = 'must be an https address; http is allowed only for localhost'
  const invalid: Array<[Record<string, string>, string]> = [
    [{ JWT_ISSUER: 'id.example.com' }, `JWT_ISSUER ${unsafe}`],
    [{ JWT_ISSUER: 'http://id.example.com' }, `JWT_ISSUER ${unsafe}`],
    [{ JWT_ISSUER: ' https://id.example.com' }, `JWT_ISSUER ${unsafe}`],
    [{ JWT_ISSUER: 'https://id.example.com?a' }, 'JWT_ISSUER must not have ? or #'],
    [
      { JWT_ISSUER: 'https://root:hunter2@id.example.com' },
      'JWT_ISSUER must not have a user or a password'
    ],
    [{ JWKS_URL: 'http://127.0.0.1.example.com/keys' }, `JWKS_URL ${unsafe}`],
    [
      { JWKS_URL: 'https://:hunter2@id.example.com' }, 'JWKS_URL must not have a user or a password'
    ],
    [
      { JWKS_URL: jwksUrl, JWT_ISSUER: 'two words' },
      'JWT_ISSUER is "two words", but must not have blanks'
    ],
    [{ JWT_AUDIENCE: 'plants ' }, 'JWT_AUDIENCE is "plants ", but must not have blanks']
  ]
  for (const [env, sentence] of invalid) {
    const mistakes = mistakesOf({ ...jwt, ...env })
    t.equal(mistakes.length, 1, sentence)
    t.match(mistakes[0], `${sentence}; for example JW`)
    t.notMatch(mistakes[0], 'hunter2')
  }
  for (const address of ['http://localhost:1', 'http://127.9.9.9', 'http://[::1]']) {
    t.strictSame(mistakesOf({ ...jwt, JWT_ISSUER: address }), [], address)
  }
  t.strictSame(mistakesOf({ ...jwt, JWT_ISSUER: 'any-name', JWKS_URL: jwksUrl }), [])
})

t.test('the code, .env.example and the page of the configuration name the same variables', async t => {
  const names = (file: string, pattern: RegExp) => {
    return [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, name]) => name).sort()
  }
  const code = names('src/config/config.ts', /variable\('([A-Z_]+)'/g)
  t.strictSame(names('.env.example', /^# ([A-Z_]+)=/gm), code)
  t.strictSame(names('docs/use/configuration.md', /^\| `([A-Z_]+)` \|/gm), code)
})

t.test('a variable that is probably misspelt is reported with the errors', async t => {
  t.strictSame(mistakesOf({ JWT_ISSUER: 'https://id.example.com', JWT_AUDIANCE: 'plants' }), [
    'JWT_AUDIENCE is not set, but JWTs need it; for example JWT_AUDIENCE=https://plants.example.com',
    'JWT_AUDIANCE is set, but the service does not read it. Did you mean JWT_AUDIENCE?'
  ])
})

t.test('a tokens file that the user may not read has a way out', async t => {
  // root may read every file.
  const statSync = () => { throw Object.assign(new Error('EACCES'), { code: 'EACCES', errno: -13 }) }
  replaceExports(t, fs, { statSync } as object)
  const message = 'names /tokens, which cannot be read: permission denied (EACCES); let the user of the service read it'
  t.throws(() => tokensFile('/tokens'), { message })
})
