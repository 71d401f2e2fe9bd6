// Server-sent events (WHATWG HTML, section 9.2).
import { Readable } from 'node:stream'

/** A stream of events; `begin` is called when somebody reads it. */
export interface EventSource {
  /** Returns the text of an event, or throws. */
  write: (event: unknown) => string
  begin: () => void
  /** Gets the error of an iterator that fails after its stream has ended. */
  onLateError: (error: unknown) => void
}

/**
 * Reads the next event only when the last one is taken. The iterator gets its return() when the reader goes away, and
 * after an error.
 */
export function eventStream (
  events: AsyncIterable<unknown>,
  { write, begin, onLateError }: EventSource
): Readable {
  const iterator = events[Symbol.asyncIterator]()
  let isOver = false

  async function pull (stream: Readable): Promise<void> {
    const { done, value } = await next()
    if (!stream.destroyed) stream.push(done === true ? null : write(value))
  }

  /** The iterator is over when it says so, and when it fails. */
  async function next (): Promise<IteratorResult<unknown>> {
    try {
      const result = await iterator.next()
      isOver = result.done === true
      return result
    } catch (error) {
      isOver = true
      throw error
    }
  }

  return new Readable({
    // In bytes: one event fills the buffer.
    highWaterMark: 1,
    read () {
      begin()
      pull(this).catch(error => {
        if (this.destroyed) onLateError(error)
        else this.destroy(asError(error))
      })
    },
    destroy (error, done) {
      if (!isOver) endIterator(iterator).catch(onLateError)
      done(error)
    }
  })
}

/** Tells an iterator that nobody wants its events. */
export async function endIterator (iterator: AsyncIterator<unknown>): Promise<void> {
  await iterator.return?.()
}

export function isAsyncIterable (value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function asError (thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

/** UTF-8 has no bytes for it: another character would be sent. */
export function loneSurrogate (): Error {
  return new Error('the answer is a text with a lone surrogate')
}

/** The fields of an event other than its data. */
export interface EventFields { event?: unknown, id?: unknown, retry?: unknown }

/** @param data may have several lines; without it the event only sets the other fields @throws Error if a field could not be read as it is written */
export function eventText ({ event, id, retry }: EventFields, data: string | undefined): string {
  const lines = (data === undefined ? [] : data.split(/\r\n|\r|\n/)).map(line => `data: ${line}\n`)
  return `${fieldText('event', event)}${fieldText('id', id)}${retryText(retry)}${lines.join('')}\n`
}

function fieldText (name: string, value: unknown): string {
  if (value === undefined) return ''
  const text = isExact(value) ? String(value) : value
  if (typeof text !== 'string') throw new Error(`the field ${name} of an event must be a string or an exact number`)
  if (/[\r\n\0]/.test(text)) throw new Error(`the field ${name} of an event must have one line, without U+0000`)
  return `${name}: ${text}\n`
}

/** A schema of whole events may have numbers; an integer of more digits may be another than was meant. */
function isExact (value: unknown): boolean {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return true
  return Number.isFinite(value) && !Number.isInteger(value)
}

/** Milliseconds (section 9.2.6: only digits). */
function retryText (value: unknown): string {
  if (value === undefined) return ''
  if (/^\d{1,15}$/.test(String(value)) && typeof value !== 'string') return `retry: ${String(value)}\n`
  throw new Error('the field retry of an event must be a whole number of milliseconds')
}
