import fc from 'fast-check'
import t from 'tap'
import { valuesOf } from './plants.ts'

t.test('a member may be a code, of which no single character is a text', async t => {
  const pattern = '^[A-Z]{2}-[0-9]{4}$'
  const codes = fc.sample(valuesOf({ type: 'string', pattern }), 20) as string[]
  for (const code of codes) t.match(code, new RegExp(pattern))
})

t.test('a schema of which no sample is a text is refused, instead of a search without end', async t => {
  const schema = { type: 'string', format: 'uuid', pattern: '^#' }
  t.throws(() => valuesOf(schema), { message: /finds no text that .* allows: add one there\.$/ })
})
