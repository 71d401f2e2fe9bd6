// A DATABASE_URL that lists several hosts, as libpq has it (PostgreSQL 18, section 32.1.1.3).
import { checkParameters, withoutAliases } from './parameters.ts'

const parts = /^(?<start>\w+:\/\/(?:[^/?#]*@)?)(?<hosts>[^/?#]*)(?<rest>.*)$/s

/**
 * One URL for each host of `postgres://user@a,b:5433/database`.
 * @throws Error whose message completes a sentence that starts with the name of the variable
 */
export function hostUrls (url: string): string[] {
  const { start = '', hosts = '', rest = '' } = parts.exec(url)?.groups ?? {}
  // Otherwise a part of the password would be taken for the host, which the log shows.
  if (/[#@]/.test(rest)) {
    const wayOut = 'percent-encode them as %40, %2F, %3F and %23'
    throw new Error(`has @, /, ? or # in a password or parameter: ${wayOut}`)
  }
  const explicit = withoutAliases(rest)
  const urls = hosts.split(',').map(host => `${start}${host}${explicit}`)
  const isEmpty = urls.length > 1 && hosts.split(',').includes('')
  if (isEmpty || !urls.every(isHostUrl)) throw new Error('has a host or port that is not valid')
  checkParameters(/\?.*/s.exec(rest)?.[0] ?? '')
  return urls
}

function isHostUrl (url: string): boolean {
  // pg accepts an empty host, but URL does not: it is the local server or the parameter `host`.
  return URL.canParse(url.replace(/(@|\/\/)(?=[/?])/, '$1localhost'))
}

/** Host and port of a URL with one host, as pg reads them: its parameters come first. */
export function hostOf (url: string): string {
  const { hostname = '', port = '' } = URL.parse(url) ?? {}
  const parameters = new URLSearchParams(/\?(.*)/s.exec(url)?.[1])
  const { PGHOST, PGPORT } = process.env
  const host = parameters.get('host') || hostname || PGHOST || 'localhost'
  return `${host}:${parameters.get('port') || port || PGPORT || 5432}`
}
