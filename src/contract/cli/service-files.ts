// The code of a new service, as templates: the app, the plugin with the contract, and its handlers.
import { posix } from 'node:path'
import type { RoutedOperation } from '../message/paths.ts'
import { takeName } from '../generate/description/schema-names.ts'
import type { Contract } from '../types/contract.ts'
import { isName, memberName, quoted } from './literals.ts'
import { test, testFile } from './test-file.ts'
import { type Schemes, verifiers } from './verifiers-file.ts'

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
    'src/main.ts': main(schemes, extension),
    'src/app.ts': app(extension),
    ...files,
    [testFile(extension)]: test(contract, extension)
  }
}

function relativeTo (folder: string, file: string): string {
  const path = posix.relative(folder, file)
  return path.startsWith('.') ? path : `./${path}`
}

/** The handlers of a contract, by the first tag of their operations. */
export function groupByTag ({ operations }: Contract): Group[] {
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

function main (schemes: Schemes, extension: string): string {
  const hasSchemes = schemes.length > 0
  const importVerifiers = `import { missingSecrets } from './verifiers${extension}'\n`
  const requireSecrets = `const missing = missingSecrets(process.env)
if (missing.length > 0) {
  console.error(\`Set \${missing.join(' and ')} in the environment or in .env.\`)
  process.exit(1)
}
`
  const hasKeyInQuery = schemes.some(([, scheme]) => scheme.in === 'query')
  // With --watch-path, Node's --env-file-if-exists reports a missing file twice, and Node fails at
  // the end.
  return `// Starts the service: npm start.
import { existsSync } from 'node:fs'
${hasKeyInQuery ? "import type { FastifyRequest } from 'fastify'\n" : ''}\
${hasSchemes ? importVerifiers : ''}
if (existsSync('.env')) process.loadEnvFile()
// An empty variable counts as none.
const HOST = process.env.HOST || 'localhost'
const PORT = process.env.PORT || '3000'
${hasSchemes ? requireSecrets : ''}\
const { buildApp } = await import('./app${extension}').catch((error: Error & { url?: string }) => {
  const url = String(error.url)
${extension === '.ts' ? explainJsImport : ''}\
  if (!/\\/generated\\/\\w+\\.[jt]s$/.test(url)) throw error
  console.error('The folder generated/ is missing or not complete. Run npm run generate first.')
  process.exit(1)
})
${hasKeyInQuery ? loggerWithoutQuery : 'const logger = true\n'}\
const app = await buildApp(process.env, { logger }).catch((error?: Partial<Error>) => {
  // What the service lacks is a sentence. The stack of other errors tells their place.
  console.error(error?.message?.endsWith('.') ? error.message : error)
  process.exit(1)
})
await app.listen({ host: HOST, port: Number(PORT) }).catch(({ message }: Error) => {
  console.error(\`The service cannot listen at HOST=\${HOST} and PORT=\${PORT}: \${message}\`)
  process.exit(1)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
`
}

// The compiler takes .js for .ts, and even advises it. Node needs the end of the name.
const explainJsImport = `\
  if (error.url !== undefined && existsSync(new URL(url.replace(/(?:\\.js)?$/, '.ts')))) {
    console.error(\`\${error.message.split('\\n')[0]}. Let the import end with .ts.\`)
    process.exit(1)
  }
`

const loggerWithoutQuery = `// The query has a key: the log gets the path alone.
const logger = {
  serializers: {
    req: ({ method, url, host, ip }: FastifyRequest) => {
      return { method, url: url.replace(/\\?.*/, ''), host, remoteAddress: ip }
    }
  }
}
`

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
