// express-openapi-validator on Express.
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler } from 'express'
import { middleware } from 'express-openapi-validator'
import { authorization, createPlant, document } from './shared.ts'

const app = express()
const isAccepted = (request: express.Request) => request.headers.authorization === authorization
app.use(express.json())
app.use(middleware({
  apiSpec: document as never,
  validateRequests: true,
  validateResponses: true,
  validateSecurity: { handlers: { bearerAuth: isAccepted } }
}))
app.post('/plants', (request, response) => {
  const { status, body } = createPlant(request.body)
  response.status(status).json(body)
})
const sendError: ErrorRequestHandler = ({ status = 500, message }, _request, response, _next) => {
  response.status(status).json({ error: status, message })
}
app.use(sendError)
const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
