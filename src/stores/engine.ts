// What a storage technology implements. The messages between threads, group commit and the engines
// derive their methods from here, so that a change of the port does not compile until each engine
// follows.
import type { MessagePort } from 'node:worker_threads'
import { directCalls, type NewPlant, type Outcome, type PlantStore } from '../plants/plant-store.ts'

interface Signatures extends Omit<PlantStore, 'add'> {
  /**
   * Adds all plants in order, or none. Resolves to the outcomes once they survive a power cut.
   * Calls never overlap.
   */
  addMany (plants: readonly NewPlant[]): Promise<Outcome[]>
}

export type Method = keyof Signatures
export type Args = { [Name in Method]: Parameters<Signatures[Name]> }
export type Results = { [Name in Method]: Awaited<ReturnType<Signatures[Name]>> }
export type EngineMethods = { [Name in Method]: (...args: Args[Name]) => Promise<Results[Name]> }

/** A storage technology that adds plants in batches; groupCommit() makes it a PlantStore. */
export interface Engine extends EngineMethods {
  /** Lets the thread at the other end of a port use this engine without createConnector(). */
  connect?: (port: MessagePort) => void
}

export const directMethods = Object.keys(directCalls) as Array<keyof typeof directCalls>
const allMethods = {
  ...directCalls, addMany: '', check: '', close: ''
} satisfies Record<Method, string>
const methods = Object.keys(allMethods) as Method[]

/** Whether the engines have a method; a thread that runs another version may ask for others. */
export function isMethod (name: string): name is Method {
  return methods.some(method => method === name)
}

type Call<Name extends Method> = <Each extends Name>(
  method: Each,
  args: Args[Each]
) => Promise<Results[Each]>

/** Returns all methods of an engine; each calls one function with its name and its arguments. */
export function forwardAll (call: Call<Method>): EngineMethods {
  return forwardMethods(methods, call)
}

/** Returns some methods of an engine; each calls one function with its name and its arguments. */
export function forwardMethods<Name extends Method> (
  names: readonly Name[],
  call: Call<Name>
): Pick<EngineMethods, Name> {
  const forward = (name: Name) => (...args: Args[Name]) => call(name, args)
  return Object.fromEntries(names.map(name => [name, forward(name)])) as Pick<EngineMethods, Name>
}

type Implementation = {
  [Name in Method]?: (...args: Args[Name]) => Results[Name] | Promise<Results[Name]>
}
type TakesAllArguments<Own extends Implementation> = {
  [Name in keyof Own]: Name extends Method
    ? Args[Name]['length'] extends Parameters<NonNullable<Own[Name]>>['length']
      ? Own[Name]
      : TakesFewerArgumentsThanThePort
    : never
}
interface TakesFewerArgumentsThanThePort { mistake: true }

/**
 * Returns the methods with a type that no engine has if one of them takes fewer arguments than the
 * port. TypeScript alone would accept that one.
 */
export function implement<Own extends Implementation> (methods: Own): TakesAllArguments<Own> {
  return methods as TakesAllArguments<Own>
}
