// A histogram in shared memory: each thread writes its own row, and any thread reads all of them.
// The counts outlive a thread that is replaced.

/** Which values are counted together, and in which buckets. */
export type HistogramMemory = ReturnType<typeof histogramMemory>

/** One series in a row. */
export interface Series { key: number, counts: readonly number[], sum: number }

/** @param bounds upper bounds of the buckets, ascending */
export function histogramMemory (bounds: readonly number[], threads: number, series: number) {
  const numbers = threads * series * (bounds.length + 2)
  return {
    bounds,
    /** The key of each series; 0 is a free place. */
    keys: new Int32Array(new SharedArrayBuffer(4 * series)),
    /** Of each thread and series: values in each bucket, those above the last, and their sum. */
    rows: new Float64Array(new SharedArrayBuffer(8 * numbers))
  }
}

/** The row of one thread. */
export class Histogram {
  readonly #bounds: readonly number[]
  readonly #keys: Int32Array<SharedArrayBuffer>
  readonly #row: Float64Array
  readonly #width: number
  /** The places of the series, by key. */
  readonly #places = new Map<number, number>()

  constructor ({ bounds, keys, rows }: HistogramMemory, thread: number) {
    this.#bounds = bounds
    this.#keys = keys
    this.#width = bounds.length + 2
    const length = keys.length * this.#width
    this.#row = rows.subarray(thread * length, (thread + 1) * length)
  }

  /** @param key of the series, above 0. Values of a series that finds no free place are lost. */
  observe (key: number, value: number): void {
    const place = this.#places.get(key) ?? this.#place(key)
    if (place === -1) return
    const start = place * this.#width
    let bucket = 0
    while (value > (this.#bounds[bucket] ?? Infinity)) bucket++
    this.#add(start + bucket, 1)
    this.#add(start + this.#width - 1, value)
  }

  #add (index: number, value: number): void {
    this.#row[index] = this.#row[index] as number + value
  }

  /** All threads have a series at the same place: the first one takes it for all. */
  #place (key: number): number {
    const place = this.#keys.findIndex((_key, index) => {
      const found = Atomics.compareExchange(this.#keys, index, 0, key)
      return found === 0 || found === key
    })
    this.#places.set(key, place)
    return place
  }

  /** The series of this row that have values. */
  read (): Series[] {
    const series: Series[] = []
    for (const [place, key] of this.#keys.entries()) {
      if (key === 0) break
      const numbers = Array.from(this.#row.subarray(place * this.#width, (place + 1) * this.#width))
      const sum = numbers.pop() as number
      if (numbers.some(count => count > 0)) series.push({ key, counts: numbers, sum })
    }
    return series
  }
}
