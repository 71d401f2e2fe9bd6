// The test of a new service, as a template.
import { kindOf } from '../message/media-type.ts'
import { routedOperations, type RoutedOperation } from '../message/paths.ts'
import type { Contract } from '../types/contract.ts'
import { memberName, quoted } from './literals.ts'
import { isBasic, type Schemes, secretOf } from './verifiers-file.ts'

/** The place of the test: a compiler of others' may take files below src only. */
export function testFile (extension: string): string {
  return extension === '.js' ? 'src/app.test.ts' : 'test/app.test.ts'
}

/** One operation, which any contract answers: it refuses strangers, if it is guarded. */
export function test (contract: Contract, extension: string): string {
  const operations = routedOperations(contract, {})
  const complete = operations.filter(requiresNothing)
  const ending = complete.filter(endsItself)
  const isPlain = ({ method, url }: RoutedOperation) => method === 'GET' && !url.includes('{')
  const [operation] = [...ending.filter(isPlain), ...ending, ...complete, ...operations]
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
  return `// npm test runs this file.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { buildApp } from '${extension === '.js' ? './app.js' : '../src/app.ts'}'

// The log shows the cause of a 500.
const app = await buildApp(${env}, { logger: { level: 'error' } })
after(() => app.close())

test('${title} is served', { timeout: 10_000 }, async () => {
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

/** Whether no answer is a stream: a handler may send events without an end. */
function endsItself ({ responses }: RoutedOperation): boolean {
  const types = Object.values(responses).flatMap(({ content = {} }) => Object.keys(content))
  return !types.some(type => ['events', 'lines'].includes(kindOf(type)))
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
