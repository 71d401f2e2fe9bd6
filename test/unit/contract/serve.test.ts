import fastify from 'fastify'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { document } from '../../../generated/document.ts'
import * as operations from '../../../generated/operations.ts'
import type { operations as Operations } from '../../../generated/types.ts'
import { type ContractService, serveContract } from '../../../src/contract/index.ts'
import { isError, logLines, testReporter } from '../../fixtures/app.ts'
import { sectionsOf } from '../../fixtures/documents.ts'

type PlantService = ContractService<Operations, typeof operations>

const ids = Object.keys(operations.operations)

/** The same handler for every operation of the contract, or for those with these ids. */
function handlersWith (handler: () => unknown, of = ids): object {
  return Object.fromEntries(of.map(id => [id, handler]))
}

const schemes = Object.keys(operations.securitySchemes)

/** The same verifier for every security scheme of the contract. */
function verifiersWith (verifier: unknown): object {
  return Object.fromEntries(schemes.map(scheme => [scheme, verifier]))
}

const fine = { status: 200, body: { name: 'x' } }

const service: PlantService = {
  contract: { ...operations, document },
  handlers: handlersWith(async () => fine) as PlantService['handlers'],
  verifiers: verifiersWith(() => ({ name: 'anyone' })) as PlantService['verifiers']
}

/** Serves the contract with parts that the compiler would refuse. */
async function serveUntyped (app: ReturnType<typeof fastify>, parts: object): Promise<void> {
  await app.register(serveContract<Operations, typeof operations>({ ...service, ...parts }))
}

t.test('a complete service starts', async t => {
  const app = fastify()
  t.teardown(() => app.close())
  await t.resolves(serveUntyped(app, {}))
})

t.test('an undeclared response of a handler becomes 500, and the log names the fault', async t => {
  const { log, lines } = logLines()
  const app = fastify()
  t.teardown(() => app.close())
  const cases: Array<[object, string]> = [
    [{ status: 201, body: { name: 'x' } }, 'answered 201'],
    [{ status: 200, body: { name: 1 } }, 'at name must be a string'],
    [{ status: 200, body: { tag: 'x' } }, 'must have the member "name"'],
    [{ status: 200, body: null }, 'must be an object']
  ]
  let undeclared: object
  await serveUntyped(app, { ...testReporter(log), handlers: handlersWith(() => undeclared) })
  for (const [response, fault] of cases) {
    undeclared = response
    const headers = { authorization: 'Bearer x' }
    const body = { id: 1, name: 'x' }
    const sent = await app.inject({ method: 'POST', url: '/plants', headers, body })
    isError(t, sent, 500, 'The service failed. Its log records the cause.', fault)
    t.match(JSON.parse(lines.at(-1) as string).err.message, fault)
  }
})

t.test('a service with a missing or an extra handler or verifier does not start', async t => {
  const others = ids.filter(id => id !== 'createPlant')
  const handlers = handlersWith(() => {}, [...others, 'noOperation', 'createPlnt'])
  const wayOut = 'Correct `handlers` or `verifiers`, or generate again; `...stubs(contract)` ' +
    'before your handlers answers 501 for those that are missing.'
  const mismatched = { handlers, verifiers: { other: () => {} } }
  const unverified = schemes.map(scheme => `The security scheme ${scheme} has no verifier. `).join('')
  await t.rejects(serveUntyped(fastify(), mismatched), {
    message: new RegExp('^The operation createPlant has no handler\\. .*' +
      'The handler noOperation has no operation in the contract\\. ' +
      'The handler createPlnt has no operation in the contract\\. Did you mean createPlant\\? ' +
      unverified.replaceAll('.', '\\.') +
      'The verifier other has no security scheme that an operation requires\\. Correct `handlers` or ')
  })
  const { verifiers } = mismatched
  await t.rejects(serveUntyped(fastify(), { verifiers }), {
    message: `${unverified}The verifier other has no security scheme that an operation requires. ${wayOut}`
  })
  const missing = ids.map(id => `The operation ${id} has no handler. `)
  await t.rejects(serveUntyped(fastify(), { handlers: undefined, verifiers: undefined }), {
    message: `${missing.join('')}${unverified}${wayOut}`
  })
  const untyped = { handlers: { ...handlersWith(() => {}, ids), createPlant: {} }, verifiers: verifiersWith(undefined) }
  const noFunctions = schemes.map(scheme => `The verifier ${scheme} is no function. `).join('')
  await t.rejects(serveUntyped(fastify(), untyped), {
    message: `The handler createPlant is no function. ${noFunctions}${wayOut}`
  })
})

t.test('a misspelt option of JavaScript is refused; a name that is like none is not', async t => {
  const section = sectionsOf(readFileSync('src/contract/REFERENCE.md', 'utf8'), 2).get('`ContractService`')
  const options = Array.from(section?.matchAll(/^\| `(\w+)` \|/gm) ?? [], ([, name = '']) => name)
  t.ok(options.includes('handlers'))
  for (const name of options) {
    const message = `serveContract() has no option ${name}x. Did you mean ${name}?`
    await t.rejects(serveUntyped(fastify(), { [`${name}x`]: undefined }), { message })
  }
  await t.rejects(serveUntyped(fastify(), { handler: {} }), { message: /Did you mean handlers\?$/ })
  const bodyLimits = { fileByte: 1 }
  await t.rejects(serveUntyped(fastify(), { bodyLimits }), { message: 'bodyLimits has no fileByte. Did you mean fileBytes?' })
  for (const contract of [undefined, 'openapi: 3.1.0', {}]) {
    await t.rejects(serveUntyped(fastify(), { contract }), { message: 'contract must be the one that generated/index.ts exports.' })
  }
  await t.rejects(serveUntyped(fastify(), { hooks: {} }), { message: /^hooks must be a function, / })
  for (const [hooks, message] of [
    [{ onRequest () {}, preHandlers () {} }, /^The hooks of \S+ may be onRequest, .*, and not preHandlers\. Did you mean preHandler\?$/],
    [{ preValidation () {} }, /, onRequestAbort, and not preValidation\.$/],
    [{ onSend: [() => {}, 'log'] }, /^The hooks of \S+ must be functions, but onSend is none\.$/],
    [Promise.resolve({}), /^The hooks of \S+ must be an object, and not a promise\.$/]
  ] as const) await t.rejects(serveUntyped(fastify(), { hooks: () => hooks }), { message })
  await t.rejects(serveUntyped(fastify(), { answers: 'logs' }), { message: 'answers must be enforce or log, and not logs.' })
  const app = fastify()
  t.teardown(() => app.close())
  await t.resolves(serveUntyped(app, { close () {}, connection: 1, hooks: () => ({ onError: undefined }) }))
})
