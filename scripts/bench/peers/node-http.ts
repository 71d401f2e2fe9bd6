// node:http without a framework and with the least that a correct answer needs.
import { badRequest, authorization, createPlant, serveText, unauthorized } from './shared.ts'
import type { NewPlant } from './shared.ts'

serveText(({ headers }, text) => {
  if (headers.authorization !== authorization) return { status: 401, body: unauthorized }
  try {
    const plant = JSON.parse(text) as NewPlant
    const { id, name, tag = '' } = plant
    const isPlant = Number.isInteger(id) && typeof name === 'string' && typeof tag === 'string'
    if (isPlant) return createPlant(plant)
  } catch {}
  return { status: 400, body: badRequest('The body is not a plant.') }
})
