// Exports of the generator, for the commands in scripts/ and for programs that read contracts.
export { type Leniency, readContract } from './read-contract.ts'
export { generate, type TypesEmitter } from './generate.ts'
