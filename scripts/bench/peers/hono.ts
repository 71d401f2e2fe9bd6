// Hono with zod-openapi, which makes the contract from code.
import { serve } from '@hono/node-server'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { authorization, badRequest, createPlant, unauthorized } from './shared.ts'
import type { NewPlant } from './shared.ts'

const newPlant = z.object({ id: z.int(), name: z.string(), tag: z.string().optional() })
const content = (schema: z.ZodType) => ({ 'application/json': { schema } })
const json = (schema: z.ZodType) => ({ description: '', content: content(schema) })
const plant = z.object({ name: z.string(), tag: z.string().optional() })
const error = z.object({ error: z.int(), message: z.string() })

const app = new OpenAPIHono({
  defaultHook: (result, context) => {
    return result.success ? undefined : context.json(badRequest(result.error.message), 400)
  }
})
app.use(async (context, next) => {
  const isAccepted = context.req.header('authorization') === authorization
  return isAccepted ? next() : context.json(unauthorized, 401)
})
app.openapi(createRoute({
  method: 'post',
  path: '/plants',
  request: { body: { required: true, content: content(newPlant) } },
  responses: { 200: json(plant), 400: json(error), 401: json(error), 409: json(error) }
}), context => {
  const { status, body } = createPlant(context.req.valid('json') as NewPlant)
  return context.json(body, status)
})
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening at http://127.0.0.1:${port}`)
})
