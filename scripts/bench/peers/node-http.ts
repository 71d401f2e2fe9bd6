// node:http without a framework and with the least that a correct answer needs.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { authorization, badRequest, createPlant, unauthorized } from './shared.ts'
import type { NewPlant } from './shared.ts'

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8').on('data', piece => { text += piece }).on('end', () => {
    const { status, body } = answer(request.headers.authorization, text)
    const json = JSON.stringify(body)
    const length = Buffer.byteLength(json)
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': length }).end(json)
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

function answer (credentials: string | undefined, text: string): { status: number, body: object } {
  if (credentials !== authorization) return { status: 401, body: unauthorized }
  try {
    const plant = JSON.parse(text) as NewPlant
    const { id, name, tag = '' } = plant
    if (Number.isInteger(id) && typeof name === 'string' && typeof tag === 'string') return createPlant(plant)
  } catch {}
  return { status: 400, body: badRequest('The body is not a plant.') }
}
