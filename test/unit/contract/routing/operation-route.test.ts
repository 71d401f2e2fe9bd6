import t from 'tap'
import { HttpError, type ServedOperation } from '../../../../src/contract/index.ts'
import { isError } from '../../../fixtures/app.ts'
import { jsonBody, noContent, serve } from '../../../fixtures/contract.ts'

const paths = `
  /plants/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    delete: { operationId: remove, tags: [plants, admin], x-role: gardener, x-quota: { perDay: 5 }, ${noContent} }
    put: { operationId: change, ${jsonBody('{ type: object }')}, ${noContent} }`
const components = '  securitySchemes: { user: { type: http, scheme: bearer } }'
const contract = { root: 'servers: [{ url: /v1 }]\nsecurity: [{ user: [] }]', paths, components }
const verifiers = { user: (name: string) => name === 'stranger' ? undefined : { name } }
const handlers = { remove: () => ({ status: 204 }), change: () => ({ status: 204 }) }

t.test('hooks know their operation and run for it alone, after authentication', async t => {
  const given: ServedOperation[] = []
  const { app } = await serve(t, {
    ...contract,
    verifiers,
    handlers,
    hooks: operation => {
      given.push(operation)
      const role = operation.extensions['x-role']
      return role === undefined
        ? {}
        : {
            onRequest: async ({ principals }) => {
              if (principals?.user?.name === role) return
              throw new HttpError(403, `Only a ${role} may do this.`)
            }
          }
    }
  })
  t.strictSame(given, [
    { id: 'change', method: 'PUT', path: '/plants/{id}', tags: [], extensions: {} },
    {
      id: 'remove',
      method: 'DELETE',
      path: '/plants/{id}',
      tags: ['plants', 'admin'],
      extensions: { 'x-role': 'gardener', 'x-quota': { perDay: 5 } }
    }
  ])
  const send = (method: 'DELETE' | 'PUT', name: string, url = '/v1/plants/1') => {
    return app.inject({ method, url, headers: { authorization: `Bearer ${name}` }, payload: {} })
  }
  const withoutBody = (name: string, url = '/v1/plants/1') => {
    const headers = { authorization: `Bearer ${name}` }
    return app.inject({ method: 'DELETE', url, headers })
  }
  t.equal((await withoutBody('gardener')).statusCode, 204)
  isError(t, await withoutBody('visitor'), 403, 'Only a gardener may do this.', 'another role')
  const wrongId = await withoutBody('visitor', '/v1/plants/x')
  isError(t, wrongId, 403, /gardener/, 'before the parameters are checked')
  isError(t, await send('DELETE', 'visitor'), 403, /gardener/, 'before the media type is checked')
  t.equal((await withoutBody('stranger')).statusCode, 401, 'authentication comes first')
  t.equal((await send('PUT', 'visitor')).statusCode, 204, 'another operation has no such hook')
})

t.test('an operation may have several hooks of a kind; each finds the operation', async t => {
  const seen: string[] = []
  interface Routed { routeOptions: { config: { operation?: ServedOperation } } }
  const note = (hook: string) => async (request: Routed) => {
    seen.push(`${hook} ${request.routeOptions.config.operation?.id}`)
  }
  const { app } = await serve(t, {
    ...contract,
    verifiers,
    handlers,
    hooks: ({ tags }) => tags.includes('admin')
      ? {
          onRequest: [note('first'), note('second')],
          preHandler: note('preHandler'),
          onSend: note('onSend'),
          onResponse: note('onResponse')
        }
      : {}
  })
  const headers = { authorization: 'Bearer me' }
  t.equal((await app.inject({ method: 'DELETE', url: '/v1/plants/1', headers })).statusCode, 204)
  await app.inject({ method: 'PUT', url: '/v1/plants/1', headers, payload: {} })
  const hooks = ['first', 'second', 'preHandler', 'onSend', 'onResponse']
  t.strictSame(seen, hooks.map(hook => `${hook} remove`))
})
