// openapi-backend on node:http.
import { OpenAPIBackend } from 'openapi-backend'
import type { Context, Document } from 'openapi-backend'
import { authorization, badRequest, createPlant, document, unauthorized } from './shared.ts'
import { serveText } from './shared.ts'

const api = new OpenAPIBackend({
  definition: document as unknown as Document,
  // It takes info.summary of OpenAPI 3.1 for a mistake.
  quick: true,
  ajvOpts: { strict: false },
  handlers: {
    createPlant: ({ request }: Context) => createPlant(request.requestBody),
    validationFail: ({ validation }: Context) => {
      return { status: 400, body: badRequest(String(validation.errors?.[0]?.message)) }
    },
    unauthorizedHandler: () => ({ status: 401, body: unauthorized })
  },
  securityHandlers: {
    bearerAuth: ({ request }: Context) => request.headers.authorization === authorization
  }
})
await api.init()
serveText(({ method = '', url = '', headers }, body) => {
  return api.handleRequest({ method, path: url, headers: headers as Record<string, string>, body })
})
