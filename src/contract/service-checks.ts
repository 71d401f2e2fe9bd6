// Checks what JavaScript, a cast or the environment may give to serveContract(). TypeScript reports
// most of it, too.
import { didYouMean } from './message/did-you-mean.ts'
import type { Contract } from './types/contract.ts'

/** A name that is like none may come from an object that is spread. */
export function refuseMisspelt (where: string, given: object, known: string[]): void {
  for (const name of Object.keys(given)) {
    const question = known.includes(name) ? '' : didYouMean(name, known)
    if (question !== '') throw new Error(`${where} ${name}.${question}`)
  }
}

/** The variables of the addresses at which operations are served. */
export function variablesOf ({ server, operations }: Contract): string[] {
  const servers = [server, ...Object.values(operations).map(operation => operation.server)]
  const names = servers.flatMap(({ url } = server) => url.match(/(?<=\{)[^}]+(?=\})/g) ?? [])
  return [...new Set(names)]
}

/** Paths of operations are compared as texts. */
export function requireLiteralPrefix (prefix: string): void {
  if (!/[:*]/.test(prefix)) return
  throw new Error(`The prefix ${prefix} of a contract must have no parameters.`)
}

/** Longest time of a timer of Node. */
const maxMs = 2 ** 31 - 1

/** A limit that is NaN, as of a missing variable of the environment, would limit nothing. */
export function requireLimits (limits: Record<string, number | undefined>): void {
  for (const [name, limit] of Object.entries(limits)) {
    const max = name.endsWith('Ms') ? maxMs : Number.MAX_SAFE_INTEGER
    if (limit === undefined || (Number.isInteger(limit) && limit > 0 && limit <= max)) continue
    const given = typeof limit === 'string' ? `the text ${limit}` : limit
    throw new Error(`${name} must be a whole number from 1 to ${max}, and not ${given}.`)
  }
}

interface Forms { contract?: unknown, hooks?: unknown, answers?: unknown }

/** Refuses what would fail at the first use, or count as the default. */
export function requireForms ({ contract, hooks, answers = 'enforce' }: Forms): void {
  if (typeof Object(contract).operations !== 'object') {
    throw new Error('contract must be the one that generated/index.ts exports.')
  }
  if (hooks !== undefined && typeof hooks !== 'function') {
    throw new Error('hooks must be a function, which gets an operation and returns its hooks.')
  }
  if (answers !== 'enforce' && answers !== 'log') {
    throw new Error(`answers must be enforce or log, and not ${answers}.`)
  }
}

export const correctMismatches = 'Correct `handlers` or `verifiers`, or generate again; ' +
  '`...stubs(contract)` before your handlers answers 501 for those that are missing.'

/** TypeScript reports these errors too, unless a cast hides them. */
export function mismatchesOf (
  kind: string,
  givenKind: string,
  wanted: object,
  given: Readonly<Record<string, unknown>> = {}
): string[] {
  const problems: string[] = []
  // The contract may have schemes that no operation uses.
  const where = kind === 'operation' ? 'in the contract' : 'that an operation requires'
  for (const name of Object.keys(wanted)) {
    if (!Object.hasOwn(given, name)) problems.push(`The ${kind} ${name} has no ${givenKind}.`)
    else if (typeof given[name] !== 'function') {
      problems.push(`The ${givenKind} ${name} is no function.`)
    }
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(wanted, name)) continue
    const question = didYouMean(name, Object.keys(wanted))
    problems.push(`The ${givenKind} ${name} has no ${kind} ${where}.${question}`)
  }
  return problems
}
