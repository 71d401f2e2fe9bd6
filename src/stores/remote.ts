// An engine that lives in another thread: the messages to it, from both sides.
import { MessageChannel } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import type { NewPlant, Outcome } from '../plants/plant-store.ts'
import { groupCommit } from './group-commit.ts'
import type { Engine } from './group-commit.ts'

export type Call = { add: readonly NewPlant[] } | { page: Page } | { count: true } | { check: true } | { close: true }
interface Page { from: bigint, limit: number }
export type Reply = { result: unknown } | { error: unknown }

/** The id distinguishes the calls of a port: replies come in any order. */
export interface Request { id: number, call: Call }
export type Response = { id: number } & Reply

/**
 * Uses an engine in another thread. When that thread ends, the pending calls reject, and the next one connects again.
 * @param connect gets the port for the thread of the engine
 * @param onEnd called when that thread has ended
 */
export function remoteEngine (connect: (port: MessagePort) => void, onEnd: () => void = () => {}): Engine {
  let connection: Connection | undefined
  const forget = () => {
    connection = undefined
    onEnd()
  }
  const call = (message: Call) => (connection ??= open(connect, forget))(message)
  return {
    addMany: plants => call({ add: plants }) as Promise<Outcome[]>,
    page: (from, limit) => call({ page: { from, limit } }) as Promise<NewPlant[]>,
    count: () => call({ count: true }) as Promise<number>,
    check: () => call({ check: true }) as Promise<void>,
    close: () => call({ close: true }) as Promise<void>
  }
}

type Connection = (call: Call) => Promise<unknown>

function open (connect: (port: MessagePort) => void, onClose: () => void): Connection {
  const { port1: port, port2: theirs } = new MessageChannel()
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  const settle = ({ id, ...reply }: Response) => {
    const call = pending.get(id)
    pending.delete(id)
    if ('error' in reply) call?.reject(reply.error)
    else call?.resolve(reply.result)
  }
  port.on('message', settle)
  port.once('close', () => {
    onClose()
    for (const id of pending.keys()) settle({ id, error: new Error('The thread of the engine has ended.') })
  })
  connect(theirs)
  return message => {
    const reply = Promise.withResolvers<unknown>()
    pending.set(++lastId, reply)
    port.postMessage({ id: lastId, call: message } satisfies Request)
    return reply.promise
  }
}

/** Returns a function that lets the thread at the other end of a port use an engine. */
export function sharing (engine: Engine): (port: MessagePort) => void {
  if (engine.share !== undefined) return engine.share
  // Calls of an engine must not overlap: the plants of all threads form its batches.
  const store = groupCommit(engine, { maxQueue: Infinity })
  const add = (plant: NewPlant) => store.add(plant).catch(({ cause }) => { throw cause })
  return port => serve(port, { ...store, addMany: plants => Promise.all(plants.map(add)) })
}

function serve (port: MessagePort, engine: Engine): void {
  const make = (call: Call): Promise<unknown> => {
    if ('add' in call) return engine.addMany(call.add)
    if ('page' in call) return engine.page(call.page.from, call.page.limit)
    if ('count' in call) return engine.count()
    return 'check' in call ? engine.check() : engine.close()
  }
  port.on('message', async ({ id, call }: Request) => {
    const reply: Reply = await make(call).then(result => ({ result }), error => ({ error }))
    port.postMessage({ id, ...reply } satisfies Response)
    if ('close' in call) port.close()
  })
}
