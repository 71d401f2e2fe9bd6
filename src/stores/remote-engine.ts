// An engine that lives in another thread: the messages to it, from both sides.
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { NewPlant } from '../plants/plant-store.ts'
import { type Clock, systemClock } from './clock.ts'
import {
  type Args, type Engine, type EngineMethods, forwardAll, isMethod, type Method, type Results
} from './engine.ts'
import { groupCommit, Late } from './group-commit.ts'

/** A call of each method. */
type Calls = { [Name in Method]: { method: Name, args: Args[Name] } }
/** The id distinguishes the calls of a port: replies come in any order. */
export type EngineCall<Name extends Method = Method> = Calls[Name] & { id: number }
export type Reply<Result> = { result: Result } | { error: unknown }
export type EngineReply = { id: number } & Reply<unknown>

/**
 * Uses an engine in another thread. When that thread ends, the pending calls reject, and the next
 * call connects again.
 * @param connect gets the port for the thread of the engine
 * @param onEnd called when that thread has ended
 */
export function remoteEngine (
  connect: (port: MessagePort) => void,
  onEnd: () => void = () => {}
): Engine {
  return engineBehind(() => {
    const { port1, port2 } = new MessageChannel()
    connect(port2)
    return port1
  }, onEnd)
}

/** The port to the thread of an engine: a MessagePort, or a simulated one. */
export interface EnginePort {
  on: (event: 'message', listener: (reply: EngineReply) => void) => unknown
  once: (event: 'close', listener: () => void) => unknown
  postMessage: (call: EngineCall) => void
}

/** As remoteEngine(). @param openPort opens a port to the thread of the engine */
export function engineBehind (openPort: () => EnginePort, onEnd: () => void): Engine {
  let connection: Connection | undefined
  const forget = () => {
    connection = undefined
    onEnd()
  }
  return forwardAll((method, args) => {
    connection ??= connectTo(openPort(), forget)
    return connection(method, args)
  })
}

type Connection = <Name extends Method>(method: Name, args: Args[Name]) => Promise<Results[Name]>

function connectTo (port: EnginePort, onClose: () => void): Connection {
  const pending = new Map<number, Pick<PromiseWithResolvers<never>, 'resolve' | 'reject'>>()
  let lastId = 0
  const settle = ({ id, ...reply }: EngineReply) => {
    const call = pending.get(id)
    pending.delete(id)
    if ('error' in reply) call?.reject(reply.error)
    // The reply has the type of the method that the other thread was asked to call.
    else call?.resolve(reply.result as never)
  }
  port.on('message', settle)
  port.once('close', () => {
    onClose()
    const error = new Error('The thread of the engine has ended.')
    for (const id of pending.keys()) settle({ id, error })
  })
  return (method, args) => new Promise((resolve, reject) => {
    const id = ++lastId
    pending.set(id, { resolve, reject })
    port.postMessage({ id, method, args } as EngineCall)
  })
}

/** Less than the time limit in a thread, which does not know why the batches of others failed. */
const timeoutMs = 8300

/** Returns a function that lets the thread at the other end of a port use an engine. */
export function createConnector (
  engine: Engine,
  clock: Clock = systemClock
): (port: MessagePort) => void {
  if (engine.connect !== undefined) return engine.connect
  // Calls of an engine must not overlap: the plants of all threads form its batches.
  const store = groupCommit(engine, { maxQueue: Infinity, timeoutMs, clock })
  const add = (plant: NewPlant) => store.add(plant).catch(({ cause }) => {
    // The thread adds its own time limit.
    throw cause instanceof Late ? cause.cause ?? cause : cause
  })
  const addMany = (plants: readonly NewPlant[]) => Promise.all(plants.map(add))
  return port => serve(port, { ...store, addMany })
}

function serve (port: MessagePort, engine: EngineMethods): void {
  port.on('message', async ({ id, method, args }: EngineCall) => {
    const reply: Reply<unknown> = await callMethod(engine, method, args)
      .then(result => ({ result }), error => ({ error }))
    port.postMessage({ id, ...reply } satisfies EngineReply)
    if (method === 'close') port.close()
  })
}

async function callMethod<Name extends Method> (
  engine: EngineMethods,
  method: Name,
  args: Args[Name]
): Promise<Results[Name]> {
  if (!isMethod(method)) throw unknownMethod(method)
  return engine[method](...args)
}

/** The error of a call by a thread that runs another version of the program. */
export function unknownMethod (method: string): Error {
  return new Error(`The engine has no method "${method}".`)
}
