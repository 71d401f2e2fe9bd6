import t, { type Test } from 'tap'
import { systemClock } from '../../../../src/stores/clock.ts'
import { createPostgresEngine } from '../../../../src/stores/postgres/engine.ts'
import { PermanentError } from '../../../../src/stores/postgres/errors.ts'
import { type Connection, createStatementRunner, type Pool } from '../../../../src/stores/postgres/statements.ts'

/** Starts on hosts that refuse every connection, each with its error, and returns the hosts tried. */
async function startOn (t: Test, errors: Error[], message: string | RegExp): Promise<number[]> {
  const tried: number[] = []
  const openPool = (currentHost: () => number): Pool => ({
    async connect () {
      tried.push(currentHost())
      throw errors[currentHost()]
    },
    probe: async () => undefined,
    async end () {}
  })
  const runner = createStatementRunner(errors.map((_, host) => `host${host}`), openPool, systemClock)
  await t.rejects(createPostgresEngine(runner, systemClock).setUp(), { message })
  return tried
}

const withCode = (code: string, message: string) => Object.assign(new Error(message), { code })

t.test('an error is described by its host, not by the problem of another one', async t => {
  const deadlock = withCode('40P01', 'deadlock detected')
  const answers: Array<() => Connection> = [
    () => { throw withCode('ECONNREFUSED', 'refused') },
    () => ({
      client: { query: async () => { throw deadlock }, on () {}, off () {}, release () {} },
      stop: async () => {}
    })
  ]
  const openPool = (currentHost: () => number): Pool => ({
    connect: async () => answers[currentHost()]?.() as Connection,
    probe: async () => undefined,
    async end () {}
  })
  const runner = createStatementRunner(['a', 'b'], openPool, systemClock)
  const query = () => runner.query('SELECT 1', [], 1000).catch((error: unknown) => error)
  const nothing = 'a: nothing listens there; start PostgreSQL, or correct DATABASE_URL'
  t.equal(runner.describe(await query()), nothing, 'a connection')
  t.equal(await query(), deadlock)
  t.equal(runner.describe(deadlock), 'b: deadlock detected', 'a statement')
  const timeout = new Error('timeout', { cause: deadlock })
  t.equal(runner.describe(timeout), 'b: deadlock detected', 'the last try of a call')
  t.equal(runner.describe(new Error('timeout')), nothing, 'a call without a connection')
  t.equal(runner.describe(new PermanentError('no tables')), 'no tables')
  answers.fill(() => { throw withCode('28P01', 'no') })
  const wrong = 'b: no; correct the user and the password in DATABASE_URL'
  t.equal(runner.describe(await query()), `${nothing}; ${wrong}`, 'each host that was tried')
})

const refused = (code: string) => Object.assign(new Error('refused'), { code })

t.test('a certificate that is not accepted, or a server without TLS, ends the start at once', async t => {
  const remedies = {
    ERR_TLS_CERT_ALTNAME_INVALID: 'refused; use a name of the certificate as the host in DATABASE_URL',
    CERT_HAS_EXPIRED: 'refused; renew its certificate',
    CERT_NOT_YET_VALID: /^refused; check the clock of this machine /,
    SELF_SIGNED_CERT_IN_CHAIN: /^its certificate is of no known authority; /
  }
  for (const [code, message] of Object.entries(remedies)) {
    t.strictSame(await startOn(t, [refused(code)], message), [0], code)
  }
  // As pg says it of a server without TLS.
  const withoutTls = new Error('The server does not support SSL connections')
  t.strictSame(await startOn(t, [withoutTls], /^it has no TLS; set ssl = on in PostgreSQL/), [0])
})

t.test('of a list of hosts the next one is tried, as it may have another certificate', async t => {
  const last = new PermanentError('the last')
  t.strictSame(await startOn(t, [refused('CERT_HAS_EXPIRED'), last], 'the last'), [0, 1])
})
