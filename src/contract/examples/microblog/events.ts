// The events of an emitter as the body of an answer.
import { type EventEmitter, on } from 'node:events'
import type { Schema } from './generated/index.ts'

type Status = Schema<'Status'>
export type FeedEvent =
  | { event: 'update', data: Status }
  | { event: 'delete', data: Status['id'] }
export interface FeedEvents { event: [FeedEvent] }

/**
 * The engine calls return() when the client goes away. That of an async generator would wait for
 * the next event; this one removes its listener at once.
 */
export function eventsOf (feed: EventEmitter<FeedEvents>): AsyncIterable<FeedEvent> {
  const waiting = on(feed, 'event')
  return {
    [Symbol.asyncIterator]: () => ({
      async next () {
        const result = await waiting.next()
        return result.done ? result : { value: result.value[0] }
      },
      async return () {
        await waiting.return?.()
        return { done: true, value: undefined }
      }
    })
  }
}
