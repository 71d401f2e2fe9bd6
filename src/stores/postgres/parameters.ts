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
  if (PGSSLMODE && !parameters.has('sslmode')) {
    checkMode('has no sslmode and takes PGSSLMODE', PGSSLMODE)
  }
  for (const [name, value] of parameters) {
    if (!parameterNames.includes(name)) {
      // A password with & continues in the next name.
      const shown = parameters.has('password') ? 'a parameter' : `the parameter "${name}"`
      throw new Error(`has ${shown} that is unknown.${didYouMean(name, parameterNames)} ` +
        `The known ones are ${parameterNames.join(', ')}`)
    }
    if (name === 'sslmode') checkMode('has sslmode', value)
    if (fileParameters.includes(name)) checkFile(name, value)
    if (name === 'target_session_attrs' && !sessionAttributes.includes(value)) {
      throw new Error(`has ${name}=${value}, but the service writes: use read-write`)
    }
  }
}

function checkMode (found: string, mode: string): void {
  if (sslModes.includes(mode)) return
  throw new Error(`${found}=${mode}, but must have one of ${sslModes.join(', ')}`)
}

function checkFile (name: string, path: string): void {
  try {
    readFileSync(path)
  } catch (error) {
    const { message } = error as Error
    throw new Error(`has ${name}=${path}, which cannot be read (${message}): correct the path`)
  }
}

/** pg takes these modes for verify-full, and warns of it in seven lines on standard error. */
const aliases = /(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/

/** Makes the mode explicit that pg uses. With uselibpqcompat=true the modes are those of libpq. */
export function withoutAliases (rest: string): string {
  return rest.includes('uselibpqcompat=true') ? rest : rest.replace(aliases, 'verify-full')
}
