import t from 'tap'
import { columns } from '../../../../src/stores/postgres/columns.ts'
import { dialectOf } from '../../../../src/stores/postgres/dialects.ts'
import { createPlantMethods, type Query } from '../../../../src/stores/postgres/plants.ts'

const fern = { id: 1n, name: 'fern' }
const ivy = { id: 2n, name: 'ivy', tag: 'a' }

/** The methods on a database that gives these replies. */
function onReplies (replies: object[][], hasCitus = false) {
  const statements: Array<{ text: string, values: unknown[] | undefined }> = []
  const query: Query = async (text, values) => {
    statements.push({ text, values })
    // The caller states which rows its statement has.
    return replies.shift() as never[]
  }
  const methods = createPlantMethods(work => work(query, dialectOf({ hasCitus, schema: 'public' })))
  return { ...methods, statements, replies }
}

t.test('a plant that is deleted between the two statements is added by the next try', async t => {
  const { addMany, replies, statements } = onReplies([[{ id: '2' }], [], [{ id: '1' }]])
  t.strictSame(await addMany([ivy, fern]), ['added', 'added'])
  t.strictSame(replies, [])
  t.strictSame(statements.map(({ values }) => values?.[0]), [[1n, 2n], [1n], [1n]])
})

t.test('a plant that stays invisible is an error', async t => {
  const { addMany, replies } = onReplies(Array(6).fill([]))
  await t.rejects(addMany([fern]), {
    message: 'plant 1 was not added, and the database does not show it; ' +
      'remove the trigger or row policy of the table plants'
  })
  t.strictSame(replies, [])
})

t.test('on Citus, plants are rows of VALUES, at most 1,000 in a statement', async t => {
  const plants = Array.from({ length: 2500 }, (_, index) => ({ ...ivy, id: BigInt(index) }))
  const added = plants.map(({ id }) => ({ id: String(id) }))
  const replies = [added.slice(0, 1000), added.slice(1000, 2000), added.slice(2000)]
  const { addMany, statements } = onReplies(replies, true)
  t.strictSame(await addMany(plants), Array(2500).fill('added'))
  const count = Object.keys(columns).length
  const counts = [1000 * count, 1000 * count, 500 * count]
  t.strictSame(statements.map(({ values }) => values?.length), counts)
  t.strictSame(statements[2]?.values?.slice(0, 3), [2000n, 'ivy', 'a'])
  t.equal(statements[2]?.values?.[count], 2001n)
  const secondRow = ` VALUES \\(\\$1, CASE .* THEN \\$2 END, \\$3.*\\),\\(\\$${count + 1}, `
  t.match(statements[2]?.text, new RegExp(secondRow, 's'))
})
