// The code of a new service, as templates: the app, its handlers, its verifiers and a test.
import { routedOperations, type RoutedOperation } from '../message/paths.ts'
import { takeName } from '../generate/description/schema-names.ts'
import type { Contract, SecurityScheme } from '../types/contract.ts'
import { posix } from 'node:path'

/** The handlers of one tag: where they are, and under which name. */
interface Group { tag: string | undefined, file: string, constant: string, ids: string[] }

export interface Layout {
  /** The folder of the generated files. */
  out: string
  /** Of the files that the service imports. */
  extension: string
  /** Whether there is an app, so that no other one is written. */
  hasApp: boolean
}

/** The files of the service, by path. */
export function serviceFiles (
  contract: Contract,
  { out, extension, hasApp }: Layout
): Record<string, string> {
  const door = (from: string) => relativeTo(from, `${out}/index${extension}`)
  const groups = groupByTag(contract)
  const schemes = Object.entries(contract.securitySchemes)
  const files: Record<string, string> = {
    'src/service.ts': service(groups, schemes.length > 0, extension, door('src'))
  }
  for (const group of groups) {
    files[`src/handlers/${group.file}.ts`] = handlers(contract, group, door('src/handlers'))
  }
  if (schemes.length > 0) files['src/verifiers.ts'] = verifiers(schemes, door('src'))
  if (hasApp) return files
  return {
    'src/main.ts': main(schemes.length > 0, extension),
    'src/app.ts': app(extension),
    ...files,
    'test/app.test.ts': test(contract, extension)
  }
}

function relativeTo (folder: string, file: string): string {
  const path = posix.relative(folder, file)
  return path.startsWith('.') ? path : `./${path}`
}

function groupByTag ({ operations }: Contract): Group[] {
  const ids = Object.keys(operations)
  const taken = new Set<unknown>()
  return [...Map.groupBy(ids, id => operations[id]?.tags?.[0])].map(([tag, ids]) => {
    const words = tag?.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['other']
    const file = takeName(words.join('-'), taken)
    // Two files may have one identifier: v1 and v-1.
    return { tag, file, ids, constant: takeName(`${identifier(file)}Handlers`, taken) }
  })
}

/** For example `petOwners` for pet-owners. */
function identifier (file: string): string {
  const name = file.replaceAll(/-(.)/gu, (_dash, letter: string) => letter.toUpperCase())
  return /^\p{N}/u.test(name) ? `_${name}` : name
}

function main (hasSchemes: boolean, extension: string): string {
  const importVerifiers = `import { missingSecrets } from './verifiers${extension}'\n`
  const requireSecrets = `const missing = missingSecrets(process.env)
if (missing.length > 0) {
  console.error(\`Set \${missing.join(' and ')} in the environment or in .env.\`)
  process.exit(1)
}
`
  // With --watch-path, Node's --env-file-if-exists reports a missing file twice, and Node fails at
  // the end.
  return `// Starts the service: npm start.
import { existsSync } from 'node:fs'
${hasSchemes ? importVerifiers : ''}
if (existsSync('.env')) process.loadEnvFile()
const { HOST = 'localhost', PORT = '3000' } = process.env
${hasSchemes ? requireSecrets : ''}\
const { buildApp } = await import('./app${extension}').catch((error: { url?: string }) => {
  if (!/\\/generated\\/\\w+\\.[jt]s$/.test(String(error.url))) throw error
  console.error('The folder generated/ is missing or not complete. Run npm run generate first.')
  process.exit(1)
})
const app = await buildApp(process.env, { logger: true }).catch((error: Error) => {
  // A bug has another name, such as TypeError: its stack tells the place.
  console.error(error.name === 'Error' ? error.message : error)
  process.exit(1)
})
await app.listen({ host: HOST, port: Number(PORT) }).catch(({ message }: Error) => {
  console.error(\`The service cannot listen at HOST=\${HOST} and PORT=\${PORT}: \${message}\`)
  process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
`
}

function app (extension: string): string {
  return `// The service without a port, for src/main.ts and for tests.
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { serverOptions } from 'fastify-openapi-contract'
import { createService } from './service${extension}'

export async function buildApp (
  env: NodeJS.ProcessEnv,
  options: Pick<FastifyServerOptions, 'logger'> = {}
): Promise<FastifyInstance> {
  const app = fastify({ ...serverOptions(), ...options })
  await app.register(createService(env))
  return app
}
`
}

function service (
  groups: Group[], hasSchemes: boolean, extension: string, door: string
): string {
  const imports = groups.map(group => `${importOf(group, extension)}\n`)
  const verifierImport = `import { createVerifiers } from './verifiers${extension}'\n`
  const spreads = groups.map(({ constant }) => `\n      ...${constant}`)
  const env = hasSchemes ? 'env' : '_env'
  return `// The contract with its handlers and verifiers, as a plugin of Fastify.
import type { FastifyPluginAsync } from 'fastify'
import { serveContract } from 'fastify-openapi-contract'
import { contract } from '${door}'
${imports.join('')}${hasSchemes ? verifierImport : ''}
export function createService (${env}: NodeJS.ProcessEnv): FastifyPluginAsync {
  return serveContract({
    contract,
    handlers: {${spreads.join(',')}
    },
    verifiers: ${hasSchemes ? 'createVerifiers(env)' : '{}'}
  })
}
`
}

function importOf ({ constant, file }: Group, extension: string): string {
  return `import { ${constant} } from './handlers/${file}${extension}'`
}

/** The lines that src/service.ts lacks, if it was written before the contract got a tag. */
export function linesToAdd (contract: Contract, extension: string, service: string): string[] {
  const names = new Set(service.match(/[\p{L}\p{N}_]+/gu))
  const groups = groupByTag(contract).filter(({ constant }) => !names.has(constant))
  const imports = groups.map(group => importOf(group, extension))
  return [...imports, ...groups.map(({ constant }) => `      ...${constant},`)]
}

function handlers (contract: Contract, { tag, constant, ids }: Group, door: string): string {
  const members = ids.map(id => {
    const { method, url } = contract.operations[id] as RoutedOperation
    const stub = isName(id) ? `stub.${id}` : `stub[${quoted(id)}]`
    return `  // ${method} ${url}\n  ${memberName(id)}: ${stub}`
  })
  const type = tag === undefined ? 'undefined' : quoted(tag)
  const tagged = tag === undefined ? 'without a tag' : `with the tag ${JSON.stringify(tag)}`
  return `// Handlers of the operations ${tagged}.
import { stubs } from 'fastify-openapi-contract'
import { contract, type HandlersTagged } from '${door}'

// Answers with examples and samples of the contract, with no body where it declares none, and else
// with 501. Replace each stub by a function, such as
// \`async ({ path, query, body }): Promise<Answer<'id'>> => ({ status: 200, body: ... })\`.
// With the type \`Answer\` of generated/ the compiler reports a mistake at its own line.
const stub = stubs(contract, contract.document)

export const ${constant}: HandlersTagged<${type}> = {
${members.join(',\n')}
}
`
}

type Schemes = Array<[name: string, scheme: SecurityScheme]>

/** The name of the environment variable with the secret of a security scheme. */
function secretOf (scheme: string): string {
  const words = scheme.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').replaceAll(/\W+/g, '_')
  return `${words.toUpperCase()}_SECRET`
}

/** The variable of a scheme, with the form of its value where it is not any text. */
export function secretForm ([name, scheme]: Schemes[number]): string {
  return secretOf(name) + (isBasic(scheme) ? '=user:password' : '')
}

function verifiers (schemes: Schemes, door: string): string {
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

${hasBasic ? missingForms : missingNames}

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

const missingNames = `/** The variables of secrets that the environment lacks. */
export function missingSecrets (env: NodeJS.ProcessEnv): string[] {
  return variables.filter(name => !env[name])
}`

const missingForms = `/** The variables of secrets that are missing, or have another form. */
export function missingSecrets (env: NodeJS.ProcessEnv): string[] {
  return variables.filter(variable => {
    const [name = '', form] = variable.split('=')
    return form === undefined ? !env[name] : !env[name]?.includes(':')
  })
}`

const passwordVerifier = `
/** Accepts one user. */
function passwordVerifier (env: NodeJS.ProcessEnv, variable: string): Verifier<BasicCredentials> {
  const hasUser = env[variable]?.includes(':')
  if (!hasUser) throw new Error(\`Set \${variable}=user:password.\`)
  const verify = secretVerifier(env, variable)
  return ({ username, password }, ...rest) => verify(\`\${username}:\${password}\`, ...rest)
}
`

function isBasic ({ scheme }: SecurityScheme): boolean {
  return scheme?.toLowerCase() === 'basic'
}

/** One operation, which any contract answers: it refuses strangers, if it is guarded. */
function test (contract: Contract, extension: string): string {
  const operations = routedOperations(contract, {})
  const complete = operations.filter(requiresNothing)
  const isPlain = ({ method, url }: RoutedOperation) => method === 'GET' && !url.includes('{')
  const operation = complete.find(isPlain) ?? complete[0] ?? operations[0]
  const { method = 'GET', template = '/docs', security = [] } = operation ?? {}
  const schemes = Object.entries(contract.securitySchemes)
  const required = schemes.filter(([name]) => Object.hasOwn(Object(security[0]), name))
  const isGuarded = security.length > 0 &&
    security.every(requirement => Object.keys(requirement).length > 0)
  const request = [`method: ${quoted(method)}`, `url: ${quoted(urlOf(template))}`]
  const secrets = schemes.map(testSecretOf).join(',\n')
  const env = secrets === '' ? '{}' : `{\n${secrets}\n}`
  const title = quoted(`${method} ${template}`).slice(1, -1)
  const strangers = `
test('${title} needs credentials', async () => {
  const { statusCode } = await app.inject({ ${request.join(', ')} })
  assert.equal(statusCode, 401)
})
`
  return `// npm test runs the files of this folder.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildApp } from '../src/app${extension}'

const app = await buildApp(${env})
after(() => app.close())

test('${title} is served', async () => {
  const { statusCode } = await app.inject({
    ${[...request, ...credentialsOf(required)].join(',\n    ')}
  })
${operation === undefined || complete.includes(operation) ? served : incomplete}
})
${isGuarded ? strangers : ''}`
}

const served = `\
  // A stub answers with a sample of the contract, or with 501: expect the status of your handler.
  assert.ok(statusCode < 400 || statusCode === 501, \`answered \${statusCode}\`)`
const incomplete = `\
  // The request lacks what the operation requires: add it, and expect the status of your handler.
  assert.ok([400, 415].includes(statusCode), \`answered \${statusCode}\`)`

/** Whether a request is valid without a body, and with 1 for each parameter of its path. */
function requiresNothing ({ parameters, body }: RoutedOperation): boolean {
  if (body?.required) return false
  return parameters.every(({ in: place, required, schema }) => {
    return place === 'path' ? takesOne(schema) : !required
  })
}

function takesOne (schema: { type?: unknown, format?: unknown }): boolean {
  const { type, format = 'int64', ...words } = schema
  const others = Object.keys(words).filter(word => !['title', 'description'].includes(word))
  const isKnown = ['string', 'integer', 'number'].includes(String(type)) && format === 'int64'
  return isKnown && others.length === 0
}

/** Any text stands for a parameter. */
function urlOf (template: string): string {
  return encodeURI(template.replaceAll(/\{[^}]*\}/g, '1'))
}

function testSecretOf ([name, scheme]: Schemes[number]): string {
  return `  ${secretOf(name)}: ${isBasic(scheme) ? "'user:secret'" : "'secret'"}`
}

/** Members of a request that has the credentials of these schemes. */
function credentialsOf (schemes: Schemes): string[] {
  const sent = { headers: [], query: [], cookies: [] } as Record<string, string[]>
  for (const [, scheme] of schemes) {
    const { type, name = '', in: place = 'header' } = scheme
    const part = type === 'apiKey' ? partsOfRequest[place] : 'headers'
    const value = isBasic(scheme) ? "'Basic ' + btoa('user:secret')" : "'Bearer secret'"
    const member = type === 'apiKey' ? `${memberName(name)}: 'secret'` : `authorization: ${value}`
    sent[part as string]?.push(member)
  }
  const parts = Object.entries(sent).filter(([, members]) => members.length > 0)
  return parts.map(([part, members]) => `${part}: { ${members.join(', ')} }`)
}

const partsOfRequest: Record<string, string> = {
  header: 'headers', query: 'query', cookie: 'cookies'
}

/** The name of a member in an object literal. */
function memberName (name: string): string {
  return isName(name) ? name : quoted(name)
}

function isName (text: string): boolean {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(text)
}

function quoted (text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
