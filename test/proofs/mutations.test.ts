// npm run prove breaks the code in these ways, which takes minutes: here, that each still can.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { mutations as ofFuzzer } from './fuzz/mutations.ts'
import { mutations as ofSimulation } from './simulation/mutations.ts'

t.test('each mutation changes one place of the code', async t => {
  const ofStores = ofSimulation.map(mutation => ({ ...mutation, file: `src/stores/${mutation.file}` }))
  for (const { name, file, text } of [...ofStores, ...ofFuzzer]) {
    const places = readFileSync(file, 'utf8').split(text).length - 1
    t.equal(places, 1, `${name}, in ${file}`)
  }
})
