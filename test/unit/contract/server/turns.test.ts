import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { takeTurns } from '../../../../src/contract/server/turns.ts'

const large = 65_536

t.test('a turn parses bodies of 128 KiB together, in order', async t => {
  const takeTurn = takeTurns('its turn', 2 * large)
  const parsed: number[] = []
  for (let nth = 0; nth < 5; nth++) takeTurn(large, () => parsed.push(nth))
  takeTurn(1000, () => parsed.push(1000))
  t.strictSame(parsed, [0, 1])
  await nextTurn()
  t.strictSame(parsed.slice(2), [2, 3])
  await nextTurn()
  t.strictSame(parsed.slice(4), [4, 1000])
  await nextTurn()
  for (let nth = 5; nth < 8; nth++) takeTurn(large, () => parsed.push(nth))
  t.strictSame(parsed.slice(6), [5, 6], 'after idle turns')
})

t.test('a body that has waited half a second gets an error', async t => {
  const clock = { now: 0 }
  t.intercept(performance, 'now', { value: () => clock.now })
  const takeTurn = takeTurns('its turn', 2 * large)
  const outcomes: unknown[] = []
  for (let nth = 0; nth < 4; nth++) takeTurn(large, overload => outcomes.push(overload?.status))
  clock.now = 501
  await nextTurn()
  t.strictSame(outcomes, [undefined, undefined, 503, 503])
})
