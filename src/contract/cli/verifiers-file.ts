// The verifiers of a new service, as a template.
import type { SecurityScheme } from '../types/contract.ts'
import { memberName, quoted } from './literals.ts'

export type Schemes = Array<[name: string, scheme: SecurityScheme]>

/** The name of the environment variable with the secret of a security scheme. */
export function secretOf (scheme: string): string {
  const words = scheme.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll(/\W+/g, '_')
  return `${words.toUpperCase()}_SECRET`
}

/** The variable of a scheme, with the form of its value where it is not any text. */
export function secretForm ([name, scheme]: Schemes[number]): string {
  return secretOf(name) + (isBasic(scheme) ? '=user:password' : '')
}

export function verifiers (schemes: Schemes, door: string): string {
  const members = schemes.map(([name, scheme]) => {
    const call = isBasic(scheme) ? 'passwordVerifier' : 'secretVerifier'
    return `    ${memberName(name)}: ${call}(env, ${quoted(secretOf(name))})`
  })
  const variables = schemes.map(scheme => `  ${quoted(secretForm(scheme))}`)
  const hasBasic = schemes.some(([, scheme]) => isBasic(scheme))
  const types = hasBasic ? 'BasicCredentials, TokenVerifier, Verifier' : 'TokenVerifier'
  return `// Who may call: a verifier for each security scheme of the contract. It gets the
// credentials of a request, and returns the caller, or undefined for those that it does not know.
import type { ${types} } from 'fastify-openapi-contract'
import { hash, timingSafeEqual } from 'node:crypto'
import type { Verifiers } from '${door}'

const variables = [
${variables.join(',\n')}
]

/** The variables of secrets that are missing, or have another form. */
export function missingSecrets (env: NodeJS.ProcessEnv): string[] {
  return variables.filter(variable => {
    const [name = '', form] = variable.split('=')
    return form === undefined ? !env[name] : !env[name]?.includes(':')
  })
}

/** @throws Error if the environment lacks a secret */
export function createVerifiers (env: NodeJS.ProcessEnv): Verifiers {
  return {
${members.join(',\n')}
  }
}

/** Accepts one token or key: a start, until you have a verifier of your own. */
function secretVerifier (env: NodeJS.ProcessEnv, variable: string): TokenVerifier {
  const secret = env[variable]
  if (!secret) throw new Error(\`Set \${variable}: the secret that callers must send.\`)
  return given => isSame(given, secret) ? { name: 'owner' } : undefined
}
${hasBasic ? passwordVerifier : ''}
/** Takes the same time for every text, so that the time does not tell the secret. */
function isSame (given: string, secret: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', secret, 'buffer'))
}
`
}

export const passwordVerifier = `
/** Accepts one user. */
function passwordVerifier (env: NodeJS.ProcessEnv, variable: string): Verifier<BasicCredentials> {
  const hasUser = env[variable]?.includes(':')
  if (!hasUser) throw new Error(\`Set \${variable}=user:password.\`)
  const verify = secretVerifier(env, variable)
  return ({ username, password }, ...rest) => verify(\`\${username}:\${password}\`, ...rest)
}
`

export function isBasic ({ scheme }: SecurityScheme): boolean {
  return scheme?.toLowerCase() === 'basic'
}
