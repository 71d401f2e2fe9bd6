import fc from 'fast-check'
import t from 'tap'
import { charactersOf } from '../../../src/plants/plant.ts'
import type { NewPlant } from '../../../src/plants/plant-store.ts'
import { members, type Schema } from '../../proofs/fuzz/members.ts'
import { valuesOf } from '../../proofs/fuzz/plants.ts'

/** The characters of all texts in a value. */
function textIn (value: unknown): number {
  if (typeof value === 'string') return value.length
  return Object.values(Object(value)).reduce<number>((sum, inner) => sum + textIn(inner), 0)
}

t.test('every text of a plant counts for the limits of queues, batches and chunks', async t => {
  const samples = (schema: Schema, numRuns: number) => fc.sample(valuesOf(schema), { seed: 1, numRuns })
  const required = members.filter(({ isRequired }) => isRequired)
  const least = Object.fromEntries(required.map(({ name, schema }) => [name, ...samples(schema, 1)]))
  for (const { name, schema } of members) {
    for (const value of samples(schema, 20)) {
      const plant = { ...least, [name]: value } as unknown as NewPlant
      t.ok(charactersOf(plant) >= textIn(plant), `${name} counts in charactersOf()`)
    }
  }
})
