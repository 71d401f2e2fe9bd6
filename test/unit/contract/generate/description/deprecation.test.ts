// The dates of deprecated operations, as a contract gives them.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readContract } from '../../../../../src/contract/generate/read-contract.ts'
import { contractText, noContent } from '../../../../fixtures/contract.ts'

async function read (t: Test, members: string) {
  const text = contractText({ paths: `  /a: { get: { operationId: a, ${members}, ${noContent} } }` })
  const { contract } = await readContract(join(t.testdir({ 'openapi.yaml': text }), 'openapi.yaml'))
  return contract.operations.a?.fields
}

t.test('dates with and without a time become header fields', async t => {
  const fields = async (members: string) => read(t, `deprecated: true, ${members}`)
  t.strictSame(await fields('x-deprecation: 2026-01-31, x-sunset: 2026-06-30T12:00:00+02:00'), {
    Deprecation: '@1769817600', Sunset: 'Tue, 30 Jun 2026 10:00:00 GMT'
  })
  t.strictSame(await fields('x-deprecation: "2024-02-29T23:59:59.9Z"'), { Deprecation: '@1709251199' })
  t.strictSame(await fields('x-deprecation: 2026-01-31, x-sunset: 2026-01-31'), {
    Deprecation: '@1769817600', Sunset: 'Sat, 31 Jan 2026 00:00:00 GMT'
  })
  t.strictSame(await fields('x-sunset: 2026-06-30'), { Sunset: 'Tue, 30 Jun 2026 00:00:00 GMT' })
  t.equal(await fields('x-other: 2026-06-30'), undefined)
  t.equal(await fields('x-deprecation: { since: v2 }'), undefined, 'an extension of somebody else')
})

t.test('a date that is none, or that contradicts the operation, is refused at its place', async t => {
  const noDate = /is no date: write it as 2026-01-31 or 2026-01-31T12:00:00Z\./
  const refused: Array<[members: string, word: string, sentence: RegExp]> = [
    ...['2026-02-30', '2026-13-01', '31.1.2026', '2026-01-31T12:00:00', '2026-01-31T25:00:00Z', '1769817600', 'true'].map(date => {
      return [`deprecated: true, x-deprecation: ${date}`, 'x-deprecation', noDate] as [string, string, RegExp]
    }),
    ['deprecated: true, x-sunset: soon', 'x-sunset', noDate],
    ['x-deprecation: 2026-01-31', 'x-deprecation', /needs `deprecated: true` beside it\./],
    ['x-sunset: 2026-01-31', 'x-sunset', /needs `deprecated: true` beside it\./],
    ['deprecated: true, x-deprecation: 2026-01-31, x-sunset: 2026-01-30', 'x-sunset', /is before x-deprecation, which RFC 9745 forbids \(section 4\)\./]
  ]
  for (const [members, word, sentence] of refused) {
    const finding = new RegExp(`:5:\\d+ #/paths/~1a/get/${word} ${word} ${sentence.source} \\(service/supported\\)$`)
    await t.rejects(read(t, members), finding, members)
  }
})
