import { Worker } from 'node:worker_threads'
import { once } from 'node:events'
import t from 'tap'
import { Histogram, histogramMemory } from '../../../src/telemetry/histogram.ts'

t.test('values are counted in the first bucket whose bound is not below them', async t => {
  const histogram = new Histogram(histogramMemory([1, 2, 5], 1, 4), 0)
  for (const value of [0, 1, 1.5, 2, 5, 5.1, 100]) histogram.observe(7, value)
  t.strictSame(histogram.read(), [{ key: 7, counts: [2, 2, 1, 2], sum: 114.6 }])
})

t.test('a billion values, and the last whole numbers, are counted exactly', async t => {
  const memory = histogramMemory([1], 1, 1)
  const histogram = new Histogram(memory, 0)
  histogram.observe(7, 0.5)
  for (const count of [1e9, 2 ** 31 - 1, 2 ** 32 - 1, Number.MAX_SAFE_INTEGER - 1]) {
    memory.rows.set([count, 0, count * 0.5])
    histogram.observe(7, 0.5)
    const [series] = histogram.read()
    t.strictSame(series, { key: 7, counts: [count + 1, 0], sum: (count + 1) * 0.5 })
  }
})

t.test('series have the same places in all rows, and rows are counted apart', async t => {
  const memory = histogramMemory([1], 2, 2)
  const [first, second] = [new Histogram(memory, 0), new Histogram(memory, 1)]
  first.observe(3, 1)
  second.observe(4, 2)
  second.observe(3, 2)
  first.observe(4, 2)
  t.strictSame(
    first.read(), [{ key: 3, counts: [1, 0], sum: 1 }, { key: 4, counts: [0, 1], sum: 2 }]
  )
  t.strictSame(
    second.read(), [{ key: 3, counts: [0, 1], sum: 2 }, { key: 4, counts: [0, 1], sum: 2 }]
  )
  first.observe(5, 1)
  first.observe(5, 1)
  t.equal(first.read().length, 2, 'a series too many is not counted, and does no harm')
})

t.test('threads that meet new series at once lose no value', async t => {
  const memory = histogramMemory([10], 4, 64)
  const code = `
    const { workerData: { memory, thread } } = require('node:worker_threads')
    const { Histogram } = await import(${JSON.stringify(
      new URL('../../../src/telemetry/histogram.ts', import.meta.url)
    )})
    const histogram = new Histogram(memory, thread)
    for (let i = 0; i < 64000; i++) histogram.observe(1 + i % 64, 1)
  `
  const workers = Array.from({ length: 4 }, (_, thread) => {
    return new Worker(`(async () => {${code}})()`, { eval: true, workerData: { memory, thread } })
  })
  await Promise.all(workers.map(worker => once(worker, 'exit')))
  const rows = workers.map((_worker, thread) => new Histogram(memory, thread).read())
  const keys = Array.from({ length: 64 }, (_, index) => index + 1)
  for (const row of rows) {
    t.strictSame(row.map(({ key }) => key).sort((a, b) => a - b), keys)
    t.ok(row.every(({ counts }) => counts[0] === 1000))
  }
})
