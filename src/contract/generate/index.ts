// Exports of the generator, for the commands in scripts/ and for programs that read contracts.
export { ContractError } from './files/findings.ts'
export { generate, type GenerateOptions } from './generate.ts'
export { readContract } from './read-contract.ts'
export type { Leniency, TypesEmitter } from './read-options.ts'
export { buildOnChange } from './watch.ts'
