// What the owner of a contract can do about its errors.
import { ContractError } from '../generate/files/findings.ts'
import { readContract } from '../generate/read-contract.ts'
import type { ReadOptions } from '../generate/read-options.ts'
import { type Choices, flagsOf } from './arguments.ts'

const choices: Choices[] = [
  { allowOpen: true },
  { types: 'built-in' },
  { allowOpen: true, types: 'built-in' },
  { skipUnsupported: true },
  { allowOpen: true, skipUnsupported: true }
]

/** Adds to the errors of a contract the flags with which it could be served, if there are any. */
export async function withWayOut (
  contract: string,
  given: Choices & Pick<ReadOptions, 'overlays'>,
  error: unknown
): Promise<Error> {
  if (!(error instanceof ContractError)) return error as Error
  for (const choice of isAboutMissing(error) ? [] : choices) {
    const leniency = { ...given, ...choice }
    // Rather than guessing from the errors, try: a flag that is named must help.
    const read = await readContract(contract, leniency).catch(() => undefined)
    if (read === undefined || Object.keys(read.contract.operations).length === 0) continue
    return new Error(`${error.message}\n${hintOf(choice)}`)
  }
  const what = given.overlays?.length ? 'contract or its overlays' : 'contract'
  return new Error(`${error.message}\nCorrect the ${what}.`)
}

/** A misspelt name is no reason to leave out its operations. */
function isAboutMissing ({ findings }: ContractError): boolean {
  return findings.some(finding => / There is no |Can't resolve \$ref/.test(finding))
}

function hintOf (choice: Choices): string {
  const effects: string[] = []
  if (choice.allowOpen) effects.push('serves operations without security to everyone')
  if (choice.types !== undefined) effects.push('has types for lists that contain themselves')
  if (choice.skipUnsupported) effects.push('leaves out the operations that cannot be served')
  const flags = flagsOf(choice).join(' ')
  return `Correct the contract, or add ${flags}, which ${effects.join(', and ')}.`
}
