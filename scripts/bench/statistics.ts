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

/** A figure of several instances, and how far they differ from it, as a share of it. */
export interface Estimate { value: number, spread: number }

/** @param figures of the instances, one each */
export function estimate (figures: number[]): Estimate {
  const value = median(figures)
  return { value, spread: Math.max(...figures.map(figure => Math.abs(figure - value) / value)) }
}

/** A quotient of two estimates with its uncertainty. */
export function quotient (a: Estimate, b: Estimate): string {
  const value = a.value / b.value
  return `${value.toFixed(2)} ± ${(value * (a.spread + b.spread)).toFixed(2)}`
}

/** The sample at a quantile from 0 to 1; NaN without samples. */
function quantile (samples: number[], share: number): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length * share)] ?? NaN
}
