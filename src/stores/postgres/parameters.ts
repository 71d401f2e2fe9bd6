// The parameters of a PostgreSQL URL. pg ignores unknown ones: a misspelt sslmode would leave the
// connection without TLS.
import { readFileSync } from 'node:fs'
import { didYouMean } from '../../contract/message/did-you-mean.ts'

/** All that change what pg 8.23 does, and target_session_attrs, which the service reads. */
export const parameterNames = [
  'application_name', 'fallback_application_name', 'host', 'idle_in_transaction_session_timeout',
  'lock_timeout', 'options', 'password', 'port', 'query_timeout', 'replication', 'ssl', 'sslcert',
  'sslkey', 'sslmode', 'sslnegotiation', 'sslrootcert', 'statement_timeout', 'target_session_attrs',
  'uselibpqcompat', 'user'
]
const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']
const fileParameters = ['sslcert', 'sslkey', 'sslrootcert']
/** The service always needs a host that accepts writes, so these mean the same. */
const sessionAttributes = ['any', 'read-write', 'primary']

/** @throws Error whose message completes a sentence that starts with the name of the variable */
export function checkParameters (query: string): void {
  const parameters = new URLSearchParams(query)
  const { PGSSLMODE } = process.env
  // Pieces of a password have the same problem.
  const problems = new Set<string | undefined>()
  if (PGSSLMODE && !parameters.has('sslmode')) {
    problems.add(problemOfMode('has no sslmode and takes PGSSLMODE', PGSSLMODE))
  }
  for (const [name, value] of parameters) {
    problems.add(problemOf(name, value, parameters.has('password')))
  }
  problems.delete(undefined)
  if (problems.size > 0) throw new Error([...problems].join('. It '))
}

function problemOf (name: string, value: string, hasPassword: boolean): string | undefined {
  if (!parameterNames.includes(name)) {
    // A password with & continues in the next name.
    const shown = hasPassword ? 'a parameter' : `the parameter "${name}"`
    return `has ${shown} that is unknown.${didYouMean(name, parameterNames)} ` +
      `The known ones are ${parameterNames.join(', ')}`
  }
  if (name === 'sslmode') return problemOfMode('has sslmode', value)
  if (fileParameters.includes(name)) return problemOfFile(name, value)
  if (name !== 'target_session_attrs' || sessionAttributes.includes(value)) return undefined
  return `has ${name}=${value}, but the service writes: use read-write`
}

function problemOfMode (found: string, mode: string): string | undefined {
  if (sslModes.includes(mode)) return undefined
  return `${found}=${mode}, but must have one of ${sslModes.join(', ')}`
}

function problemOfFile (name: string, path: string): string | undefined {
  try {
    readFileSync(path)
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException
    const wayOut = code === 'EACCES' ? 'let the user of the service read it' : 'correct the path'
    return `has ${name}=${path}, which cannot be read (${message}): ${wayOut}`
  }
  return undefined
}

/** pg takes these modes for verify-full, and warns of it in seven lines on standard error. */
const aliases = /(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/

/** Makes the mode explicit that pg uses. With uselibpqcompat=true the modes are those of libpq. */
export function withoutAliases (rest: string): string {
  return rest.includes('uselibpqcompat=true') ? rest : rest.replace(aliases, 'verify-full')
}
