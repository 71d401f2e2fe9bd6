// fastify-openapi-glue, as its README shows.
import fastify, { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify'
import glue from 'fastify-openapi-glue'
import { authorization, createPlant, document, type NewPlant } from './shared.ts'

const app = fastify({ ajv: { customOptions: { strict: false, coerceTypes: false } } })
// Otherwise its errors do not fit the contract's schema, and become 500.
app.setErrorHandler(({ statusCode = 500, message }: FastifyError, _request, reply) => {
  reply.code(statusCode).send({ error: statusCode, message })
})
await app.register(glue, {
  specification: document,
  serviceHandlers: {
    createPlant (request: FastifyRequest<{ Body: NewPlant }>, reply: FastifyReply) {
      const { status, body } = createPlant(request.body)
      reply.code(status).send(body)
    }
  },
  securityHandlers: {
    async bearerAuth (request: FastifyRequest) {
      const isAccepted = request.headers.authorization === authorization
      if (!isAccepted) throw new Error('The bearer token is not accepted.')
    }
  }
})
console.log(`listening at ${await app.listen()}`)
