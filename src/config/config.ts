// Reads the environment; nothing else does. Throws one ConfigError that lists every error.
import { checkIssuerUrl, checkKeyUrl } from '../auth/issuer.ts'
import { checkStoreUrl } from '../stores/open.ts'
import {
  baseUrl, hostName, integerBetween, networks, oneOf, origins, secondsBetween, tokens,
  tokensFile, withoutBlanks
} from './values.ts'
import { describeUnread } from './unread-variables.ts'

export type Config = ReturnType<typeof readConfig>

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** A line per configuration error, each with an example of a valid value. */
export class ConfigError extends Error {}

/**
 * Reads the configuration. An empty variable counts as not set. `unread` has sentences about
 * variables that are probably misspelt.
 * @param envFile the names of the variables in .env
 * @param onTerminal whether a person reads the log
 * @throws ConfigError with every error, and `unread`
 */
export function readConfig (
  env: Readonly<Record<string, string | undefined>>,
  envFile: readonly string[] = [],
  onTerminal = false
) {
  const mistakes: string[] = []
  const known: string[] = []

  /**
   * @param read throws an Error whose message completes a sentence that starts with the variable's
   * name
   */
  function variable<Value, Default> (
    name: string,
    example: string,
    fallback: Default,
    read: (text: string) => Value
  ): Value | Default {
    known.push(name)
    const text = env[name]
    if (text === undefined || text === '') return fallback
    try {
      return read(text)
    } catch (error) {
      mistakes.push(`${name} ${(error as Error).message}; for example ${name}=${example}`)
      return fallback
    }
  }

  const readIssuer = env.JWKS_URL ? withoutBlanks : checkIssuerUrl
  const issuer = variable('JWT_ISSUER', jwtExamples.JWT_ISSUER, undefined, readIssuer)
  const audience = variable('JWT_AUDIENCE', jwtExamples.JWT_AUDIENCE, undefined, withoutBlanks)
  const jwksUrl = variable('JWKS_URL', jwtExamples.JWKS_URL, undefined, checkKeyUrl)
  mistakes.push(...missingForJwt(env))

  const namesPostgres = env.DATABASE_URL?.startsWith('postgres')
  const databaseExample = namesPostgres ? examples.postgres : defaultDatabase
  const config = {
    host: variable('HOST', '0.0.0.0', '127.0.0.1', hostName),
    port: variable('PORT', '3000', 3000, integerBetween(0, 65535)),
    /** Undefined: /metrics is on the port of the service. */
    metricsPort: variable('METRICS_PORT', '9464', undefined, integerBetween(0, 65535)),
    databaseUrl: variable('DATABASE_URL', databaseExample, defaultDatabase, checkStoreUrl),
    /** Whether the operator has set DATABASE_URL. */
    namesDatabase: Boolean(env.DATABASE_URL),
    /** Undefined when the operator has set none. */
    accessTokens: variable('ACCESS_TOKENS', examples.accessTokens, undefined, tokens),
    accessTokensFile: variable('ACCESS_TOKENS_FILE', examples.tokensFile, undefined, tokensFile),
    /** Undefined: no JWT is accepted. */
    jwt: issuer !== undefined && audience !== undefined ? { issuer, audience, jwksUrl } : undefined,
    baseUrl: variable('BASE_URL', 'https://plants.example.com', '/', baseUrl),
    /** Largest body in bytes. */
    bodyLimit: variable('BODY_LIMIT', '65536', 65536, integerBetween(1, 16 * 1024 * 1024)),
    /** Requests per minute for each token; undefined: unlimited. */
    rateLimit: variable('RATE_LIMIT', '600', undefined, integerBetween(1, 1e9)),
    /** Requests per minute without accepted credentials, for each address. */
    failedAuthLimit: variable('FAILED_AUTH_LIMIT', '60', 60, integerBetween(1, 1e9)),
    /** Addresses and networks of proxies. */
    trustProxy: variable('TRUST_PROXY', '127.0.0.1,10.0.0.0/8', undefined, networks),
    /** Origins whose pages may call the service; undefined: none. */
    corsOrigin: variable('CORS_ORIGIN', 'https://app.example.com', undefined, origins),
    /** Connections that may be open; undefined: as many as memory and open files allow. */
    maxConnections: variable('MAX_CONNECTIONS', '5000', undefined, integerBetween(1, 1e6)),
    /** Threads that serve HTTP; undefined: by cores and memory. */
    threads: variable('THREADS', '4', undefined, integerBetween(1, 64)),
    /** Plants that may wait for storage. */
    maxQueue: variable('MAX_QUEUE', '10000', 10_000, integerBetween(1, 1e7)),
    keepAliveTimeoutMs: variable('KEEP_ALIVE_TIMEOUT', '72', 72_000, secondsBetween(1, 3600)),
    shutdownDelayMs: variable('SHUTDOWN_DELAY', '5', 0, secondsBetween(0, 5)),
    /** What becomes of an answer that breaks the contract: a 500, or a line in the log. */
    answers: variable('CHECK_ANSWERS', 'log', 'enforce', oneOf(['enforce', 'log'])),
    logLevel: variable('LOG_LEVEL', 'info', 'info', oneOf(logLevels))
  }
  if (config.metricsPort === config.port && config.port !== 0) {
    mistakes.push(`METRICS_PORT is ${config.port}, like PORT; for example METRICS_PORT=9464`)
  }
  const unread = describeUnread(known, Object.keys(env), envFile)
  if (env.PGHOST && !env.DATABASE_URL) unread.push(pgHostAlone)
  // A variable may be missing because its name is misspelt.
  if (mistakes.length > 0) throw new ConfigError([...mistakes, ...unread].join('\n'))
  return { ...config, onTerminal, unread }
}

const defaultDatabase = 'sqlite:data/plants.db'
const examples = {
  postgres: 'postgres://user:password@host/plants?sslmode=verify-full',
  accessTokens: 'alice:<token>,bob:<token>',
  tokensFile: '/run/secrets/access-tokens'
}
const pgHostAlone = 'PGHOST is set, but DATABASE_URL is not: the service uses ' +
  `${defaultDatabase}. DATABASE_URL=postgres:/// uses the database that PGHOST names.`
const jwtExamples = {
  JWT_ISSUER: 'https://id.example.com',
  JWT_AUDIENCE: 'https://plants.example.com',
  JWKS_URL: 'https://id.example.com/keys'
}

/** Without an audience, a token that the issuer made for another service would be accepted. */
function missingForJwt (env: Readonly<Record<string, string | undefined>>): string[] {
  if (!Object.keys(jwtExamples).some(name => env[name])) return []
  const mistakes: string[] = []
  for (const name of ['JWT_ISSUER', 'JWT_AUDIENCE'] as const) {
    if (env[name]) continue
    const example = `${name}=${jwtExamples[name]}`
    mistakes.push(`${name} is not set, but JWTs need it; for example ${example}`)
  }
  return mistakes
}
