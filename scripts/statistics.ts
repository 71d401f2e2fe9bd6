// What the benchmarks print of their samples.

export function median (samples: number[]): number {
  return quantile(samples, 0.5)
}

/** The 99th percentile. */
export function p99 (samples: number[]): number {
  return quantile(samples, 0.99)
}

export function ratio (value: number, base: number): string {
  return (value / base).toFixed(2)
}

/** The sample that this share of the others lies below; NaN where there are none. */
function quantile (samples: number[], share: number): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length * share)] ?? NaN
}
