// Statistics of benchmark samples.

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

/** The sample at a quantile from 0 to 1; NaN without samples. */
function quantile (samples: number[], share: number): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length * share)] ?? NaN
}
