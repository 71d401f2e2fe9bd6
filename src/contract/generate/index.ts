// Exports of the generator, for the commands in scripts/ and for programs that read contracts.
export { ContractError } from './findings.ts'
export { generate, type GenerateOptions } from './generate.ts'
export { type Leniency, readContract, type TypesEmitter } from './read-contract.ts'
export { buildOnChange } from './watch.ts'
