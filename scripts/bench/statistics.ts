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
  const { value, spread } = divide(a, b)
  return `${value.toFixed(2)} ± ${(value * spread).toFixed(2)}`
}

/** What two costs say: a difference counts if it is larger than the uncertainty of the quotient. */
export function verdict (cost: Estimate, before: Estimate): string {
  const { value, spread } = divide(cost, before)
  if (value * (1 + spread) < 1) return 'faster'
  if (value * (1 - spread) > 1) return 'slower'
  return 'no difference that this run can show'
}

function divide (a: Estimate, b: Estimate): Estimate {
  return { value: a.value / b.value, spread: a.spread + b.spread }
}

/** The sample at a quantile from 0 to 1; NaN without samples. */
function quantile (samples: number[], share: number): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length * share)] ?? NaN
}
