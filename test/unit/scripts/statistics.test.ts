import t from 'tap'
import { estimate, median, p99, quotient, ratio, verdict } from '../../../scripts/bench/statistics.ts'

t.test('the median is the middle sample in order of size', async t => {
  t.equal(median([10, 9, 100]), 10)
  t.equal(median([7]), 7)
  const samples = [3, 1, 2]
  median(samples)
  t.strictSame(samples, [3, 1, 2], 'the samples keep their order')
})

t.test('p99 has 99 of 100 samples below it', async t => {
  t.equal(p99(Array.from({ length: 100 }, (_, index) => 100 - index)), 100)
  t.equal(p99(Array.from({ length: 1000 }, (_, index) => index)), 990)
})

t.test('without samples there is no figure', async t => {
  t.ok(Number.isNaN(median([])))
  t.ok(Number.isNaN(p99([])))
})

t.test('a ratio has two decimals', async t => {
  t.equal(ratio(1, 3), '0.33')
  t.equal(ratio(2, 1), '2.00')
})

t.test('the spread of an estimate is the largest distance of an instance as a share', async t => {
  t.strictSame(estimate([20, 16, 21]), { value: 20, spread: 0.2 })
  t.strictSame(estimate([7]), { value: 7, spread: 0 })
})

t.test('a quotient says how far the instances of both programs could move it', async t => {
  t.equal(quotient({ value: 30, spread: 0.1 }, { value: 20, spread: 0.02 }), '1.50 ± 0.18')
})

t.test('a difference within the uncertainty is none', async t => {
  const before = { value: 20, spread: 0.05 }
  for (const [value, said] of [[16, 'faster'], [24, 'slower'], [19, 'no difference that this run can show']] as const) {
    t.equal(verdict({ value, spread: 0.05 }, before), said)
  }
})
