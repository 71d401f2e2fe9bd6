// Exports of the generator, for the commands in scripts/ and for programs that read contracts.
export type { Leniency } from './read.ts'
export { readContract } from './read.ts'
export { generate } from './generate.ts'
