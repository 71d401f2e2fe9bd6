// A histogram in shared memory: each thread writes its own row, and any thread reads all of them. So the counts outlive
// a thread that is replaced, and no thread has to be asked for them.

/** Which values are counted together, and in which buckets. */
export interface HistogramMemory {
  /** Upper bounds of the buckets, ascending. */
  bounds: readonly number[]
  /** The key of each series; 0 is a free place. */
  keys: Int32Array<SharedArrayBuffer>
  /** For each thread and series: the number of values in each bucket and above the last, and their sum. */
  rows: Float64Array<SharedArrayBuffer>
}

/** One series in a row. */
export interface Series { key: number, counts: readonly number[], sum: number }

export function histogramMemory (bounds: readonly number[], threads: number, series: number): HistogramMemory {
  const numbers = threads * series * (bounds.length + 2)
  return {
    bounds,
    keys: new Int32Array(new SharedArrayBuffer(4 * series)),
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

  /** @param key of the series, above 0. Once there are as many series as places, further ones are not counted. */
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
      return [0, key].includes(Atomics.compareExchange(this.#keys, index, 0, key))
    })
    this.#places.set(key, place)
    return place
  }

  /** The series of this row that have values. */
  read (): Series[] {
    return Array.from(this.#keys).filter(key => key !== 0).map((key, place) => {
      const numbers = this.#row.slice(place * this.#width, (place + 1) * this.#width)
      return { key, counts: Array.from(numbers.subarray(0, -1)), sum: numbers.at(-1) as number }
    }).filter(({ counts }) => counts.some(count => count > 0))
  }
}
