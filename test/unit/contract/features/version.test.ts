import t from 'tap'
import { ref } from '../../../fixtures/contract.ts'
import { serveSchema } from '../../../fixtures/features.ts'

t.test('OpenAPI 3.0', async t => {
  const { check } = await serveSchema(t, `{ type: object, properties: {
      typed: { type: string, nullable: true },
      ref: { nullable: true, $ref: '#/components/schemas/Text' },
      all: { nullable: true, allOf: [${ref('Text')}] },
      above: { type: integer, minimum: 5, exclusiveMinimum: true },
      least: { type: integer, minimum: 5, exclusiveMinimum: false },
      int64: { type: integer, format: int64, nullable: true, maximum: 9, exclusiveMaximum: true },
      example: { type: string, nullable: true, example: { nullable: true } },
      byte: { type: string, format: byte } } }`, `
    Text: { type: string, nullable: false }`, '3.0.3')
  for (const member of ['typed', 'ref', 'all', 'example']) {
    await check(member, ['null', '"x"'], [['1', /must be a string/]])
  }
  await check('above', ['6'], [['5', /must be > 5/]])
  await check('least', ['5'], [['4', /must be >= 5/]])
  await check('int64', ['null', '8'], [['9', /must be < 9/]])
  await check('byte', ['"eA=="'], [['1', /must be a string/]])
})

t.test('OpenAPI 3.2', async t => {
  const { check } = await serveSchema(t, "{ type: object, properties: { a: { type: [string, 'null'] } } }", '', '3.2.0')
  await check('a', ['null'], [['1', /must be a string or null/]])
})
