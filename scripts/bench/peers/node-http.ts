// node:http without a framework and with the least that a correct answer needs.
import { createServer } from 'node:http'
import { type Answer, authorization, createPlant, type NewPlant, printPort } from './shared.ts'

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', piece => { text += piece }).on('end', () => {
    const { status, body } = answer(request.headers.authorization, text)
    const json = JSON.stringify(body)
    const length = Buffer.byteLength(json)
    const headers = { 'Content-Type': 'application/json', 'Content-Length': length }
    response.writeHead(status, headers).end(json)
  })
})
server.listen(0, '127.0.0.1', () => printPort(server))

function answer (credentials: string | undefined, text: string): Answer {
  if (credentials !== authorization) return { status: 401, body: { error: 401, message: 'No.' } }
  try {
    const plant = JSON.parse(text) as NewPlant
    const { id, name, tag = '' } = plant
    const isPlant = Number.isInteger(id) && typeof name === 'string' && typeof tag === 'string'
    if (isPlant) return createPlant(plant)
  } catch {}
  return { status: 400, body: { error: 400, message: 'The body is not a plant.' } }
}
