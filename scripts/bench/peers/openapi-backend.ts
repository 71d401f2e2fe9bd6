// openapi-backend on node:http.
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OpenAPIBackend } from 'openapi-backend'
import type { Context, Document } from 'openapi-backend'
import { authorization, badRequest, createPlant, document, unauthorized } from './shared.ts'
import type { NewPlant } from './shared.ts'

const api = new OpenAPIBackend({
  definition: document as unknown as Document,
  // It takes info.summary of OpenAPI 3.1 for a mistake.
  quick: true,
  ajvOpts: { strict: false },
  handlers: {
    createPlant (context: Context, response: ServerResponse) {
      const { status, body } = createPlant(context.request.requestBody as NewPlant)
      send(response, status, body)
    },
    validationFail (context: Context, response: ServerResponse) {
      send(response, 400, badRequest(String(context.validation.errors?.[0]?.message)))
    },
    unauthorizedHandler: (_context: Context, response: ServerResponse) => send(response, 401, unauthorized),
    notFound: (_context: Context, response: ServerResponse) => send(response, 404, {})
  },
  securityHandlers: { bearerAuth: ({ request }: Context) => request.headers.authorization === authorization }
})
await api.init()

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', piece => { body += piece }).on('end', () => {
    const { method = '', url = '', headers } = request
    api.handleRequest({ method, path: url, headers: headers as Record<string, string>, body }, response)
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

function send (response: ServerResponse, status: number, body: object): void {
  const json = JSON.stringify(body)
  const length = Buffer.byteLength(json)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length }).end(json)
}
