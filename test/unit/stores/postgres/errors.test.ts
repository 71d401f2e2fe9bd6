import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { describeError, isTransient } from '../../../../src/stores/postgres/errors.ts'

t.test('an error of TLS has the way out of docs/use/postgresql.md', async t => {
  const refused = new Error('The server does not support SSL connections')
  t.equal(
    describeError(refused),
    'it has no TLS; set ssl = on in PostgreSQL, or sslmode=disable in DATABASE_URL'
  )
  // The codes of OpenSSL that Node has for a private authority.
  const codes = [
    'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
  ]
  const hint = 'self-signed certificate; if the root CA is installed locally, try running Node.js ' +
    'with --use-system-ca'
  for (const code of codes) {
    t.equal(
      describeError(Object.assign(new Error(hint), { code })),
      'its certificate is of no known authority; name the certificate of the authority by ' +
        'sslrootcert in DATABASE_URL, or by NODE_EXTRA_CA_CERTS',
      code
    )
  }
})

t.test('a row policy is named, and not a right that the user has', async t => {
  const message = 'new row violates row-level security policy for table "plants"'
  t.equal(
    describeError(Object.assign(new Error(message), { code: '42501' })),
    'row-level security refuses plants; disable it (ALTER TABLE plants DISABLE ROW LEVEL SECURITY), or add a ' +
      'policy that lets this user read and insert every plant'
  )
})

t.test('a socket or a network that leads to no server has a way out', async t => {
  const ofSocket = 'correct the folder of its socket and the port in DATABASE_URL'
  const refusal = await once(connect('/none/.s.PGSQL.5432'), 'connect').catch(error => error)
  t.equal(describeError(refusal), `no socket is there; start PostgreSQL, or ${ofSocket}`)
  const denied = Object.assign(new Error('connect EACCES /run/.s.PGSQL.5432'), { code: 'EACCES' })
  t.equal(describeError(denied), `its socket is not for this user; grant the rights, or ${ofSocket}`)
  for (const code of ['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']) {
    const error = Object.assign(new Error(`connect ${code} 192.0.2.1:5432`), { code })
    t.equal(describeError(error), 'it does not respond; check the network and the server')
  }
})

t.test('a user whom the server does not know or let in has a way out', async t => {
  // As PostgreSQL 18 says it of a role that is missing, and of a host that pg_hba.conf lacks.
  const refusals = [
    'role "x" does not exist',
    'no pg_hba.conf entry for host "::1", user "x", database "x", SSL encryption'
  ]
  for (const message of refusals) {
    const wayOut = 'let it in (CREATE ROLE ... LOGIN, pg_hba.conf), or correct the user or the ' +
      'database in DATABASE_URL'
    t.equal(describeError(Object.assign(new Error(message), { code: '28000' })), `${message}; ${wayOut}`)
  }
})

t.test('the errors of PgBouncer, which have one code, have the ways out of PostgreSQL', async t => {
  // As PgBouncer 1.18 says it; the second database is in its configuration, but not on the server.
  const [user, database] = ['correct the user and the password', 'create it, or correct DATABASE_URL']
  for (const [message, wayOut] of [
    ['password authentication failed', user],
    ['SSL required', 'end DATABASE_URL with ?sslmode=verify-full'],
    ['no more connections allowed (max_client_conn)', 'raise it, or look in the log of PgBouncer whether'],
    ['no such database: x', database], ['database "x" does not exist', database]
  ] as const) {
    const description = describeError(Object.assign(new Error(message), { code: '08P01' }))
    t.ok(description.startsWith(`${message}; ${wayOut}`), description)
  }
  const failing = 'server login has been failing, try again later (server_login_retry)'
  t.equal(
    describeError(Object.assign(new Error(failing), { code: '08P01' })),
    'PgBouncer cannot log in to PostgreSQL; start PostgreSQL, or look at the log of PgBouncer'
  )
  const unsupported = 'unsupported startup parameter: x'
  t.equal(describeError(Object.assign(new Error(unsupported), { code: '08P01' })), unsupported)
})

t.test('a server that lets nobody else in, and a transaction that is read-only, have ways out', async t => {
  // As PostgreSQL 18 says it.
  const wayOut = {
    53300: 'raise max_connections, or the CONNECTION LIMIT of the role or the database, or end ' +
      'other clients',
    25006: 'SET default_transaction_read_only = off (ALTER SYSTEM, DATABASE or ROLE); on a standby, name ' +
      'the primary, or all hosts, as in postgres://user@a,b/database'
  }
  const failures: Array<[code: keyof typeof wayOut, message: string]> = [
    [53300, 'too many connections for role "x"'],
    [53300, 'sorry, too many clients already'],
    [25006, 'cannot execute INSERT in a read-only transaction']
  ]
  for (const [code, message] of failures) {
    t.equal(
      describeError(Object.assign(new Error(message), { code })), `${message}; ${wayOut[code]}`
    )
  }
})

t.test('a table that was changed, a limit of time and a full disk have ways out', async t => {
  const undo = 'undo what makes its table plants differ from the SQL for the owner in docs/use/postgresql.md'
  const correct = `correct the statement (docs/build/add-a-member.md), or ${undo}`
  const raise = 'or raise the time limit for this user or database (ALTER ROLE, ALTER DATABASE)'
  const pattern = 'give each text of the member the pattern of name, which refuses U+0000 (docs/build/add-a-member.md)'
  // As PostgreSQL 18 says it.
  const failures: Array<[code: string, message: string, wayOut: string]> = [
    ['23505', 'duplicate key value violates unique constraint "one_name"', 'plants may share ' +
      'everything but the id: drop it (DROP INDEX, or ALTER TABLE plants DROP CONSTRAINT)'],
    ['42703', 'column "tag" of relation "plants" does not exist', correct],
    ['42804', 'column "tag" is of type integer but expression is of type text', correct],
    ['42601', 'INSERT has more target columns than expressions', correct],
    ['42P18', 'could not determine data type of parameter $5', correct],
    ['22P02', 'malformed array literal: "{{}}"', correct],
    ['42P10', 'table "added" has 18 columns available but 20 columns specified', correct],
    ['42P10', 'ON CONFLICT does not support deferrable unique constraints', `its table plants does not take every plant: ${undo}`],
    ['22001', 'value too long for type character varying(20)', undo],
    ['22003', 'integer out of range', `give the member and its column the same type, or ${correct}`],
    ['22021', 'invalid byte sequence for encoding "UTF8": 0x00', pattern],
    ['22P05', 'unsupported Unicode escape sequence', pattern],
    ['53100', 'could not extend file "base/5/1": No space left on device', 'free some space on its disk'],
    ['55P03', 'canceling statement due to lock timeout',
      `end the transaction that has the lock (pg_stat_activity), ${raise}`],
    ['57014', 'canceling statement due to statement timeout',
      `find out what slows it down, or who cancels statements, ${raise}`]
  ]
  for (const [code, message, wayOut] of failures) {
    t.equal(describeError(Object.assign(new Error(message), { code })), `${message}; ${wayOut}`)
  }
  const message = 'bind message supplies 25 parameters, but prepared statement "" requires 24'
  const bind = Object.assign(new Error(message), { code: '08P01', routine: 'exec_bind_message' })
  t.equal(describeError(bind), `${message}; ${correct}`)
  t.equal(isTransient(bind), false)
  t.equal(isTransient(Object.assign(new Error('x'), { code: '08P01' })), true, 'of PgBouncer')
  const login = 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'
  t.equal(isTransient(new Error(login)), false, 'no retry finds a password')
  const late = /^timeout: a statement did not end in time; end the transaction that locks its rows/
  t.match(describeError(new Error('timeout: the statement did not end in time')), late)
  t.match(describeError(new Error('timeout: the database did not respond within 8 ms')), late)
})

t.test('a server that admits only TLS, and a certificate of another host, have ways out', async t => {
  // As PostgreSQL 18 and Node 26 say it.
  const refused = 'no pg_hba.conf entry for host "::1", user "x", database "x", no encryption'
  t.equal(
    describeError(Object.assign(new Error(refused), { code: '28000' })),
    `${refused}; correct the user or the database in DATABASE_URL, end it with ` +
      '?sslmode=verify-full, or let it in without TLS (pg_hba.conf)'
  )
  const other = "Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's " +
    'altnames: DNS:b'
  t.equal(
    describeError(Object.assign(new Error(other), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })),
    `${other}; use a name of the certificate as the host in DATABASE_URL`
  )
})

t.test('a duplicate row of the catalog is transient, one of the plants is not', async t => {
  const duplicate = (schema: string) => Object.assign(new Error('x'), { code: '23505', schema })
  t.equal(isTransient(duplicate('pg_catalog')), true, 'two services that make the tables')
  t.equal(isTransient(duplicate('public')), false, 'another unique column')
})
