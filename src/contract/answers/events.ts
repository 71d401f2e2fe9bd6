// Writes server-sent events (WHATWG HTML, section 9.2), by the schema of the contract.
import {
  describesEvent, isString, parseText, type Schema, writeUnchecked
} from '../schema/index.ts'
import type { Media } from '../types/contract.ts'
import type { WriteBody, WriterOptions } from './body-writers.ts'
import { itemsWriter } from './items.ts'

interface Event { event?: unknown, id?: unknown, retry?: unknown, data?: unknown }

export function eventsWriter ({ schema }: Media, options: WriterOptions): WriteBody {
  const writeData = dataWriter(schema as Schema | undefined, options)
  return itemsWriter({
    items: 'events',
    write: event => eventText(event as Event, writeData(event as Event)),
    writeInvalid (event) {
      const { data, ...fields } = asEvent(event)
      return eventText(fields, typeof data === 'string' ? data : writeUnchecked(data))
    },
    isLive: true
  }, options)
}

/** A value without `data` is the data of an event. */
function asEvent (yielded: unknown): Event {
  const isEvent = typeof yielded === 'object' && yielded !== null && 'data' in yielded
  return isEvent ? yielded : { data: yielded }
}

/** Returns a function that writes the data of a valid event, or throws. */
function dataWriter (schema: Schema | undefined, { schemas, writerOf }: WriterOptions) {
  const write = writerOf(schema ?? {})
  if (schema !== undefined && describesEvent(schema, schemas)) {
    return (event: Event): string | undefined => {
      const { data } = parseText(write(event), keepNumber) as Event
      return typeof data === 'string' || data === undefined ? data : JSON.stringify(data)
    }
  }
  const mayBeText = schema === undefined || isString(schema, schemas)
  return ({ data }: Event): string => {
    const json = write(data)
    return mayBeText && typeof data === 'string' ? data : json
  }
}

/** A number keeps all its digits. */
function keepNumber (_name: string, value: unknown, context?: { source: string }): unknown {
  const isNumber = typeof value === 'number' && context !== undefined
  return isNumber ? JSON.rawJSON(context.source) : value
}

/**
 * @param data may have several lines; without it the event only sets the other fields
 * @throws Error when a client would read a field differently
 */
function eventText ({ event, id, retry }: Event, data: string | undefined): string {
  let text = fieldText('event', event) + fieldText('id', id) + retryText(retry)
  for (const line of data?.split(/\r\n|\r|\n/) ?? []) text += `data: ${line}\n`
  return `${text}\n`
}

function fieldText (name: string, value: unknown): string {
  if (value === undefined) return ''
  const text = isExact(value) ? String(value) : value
  if (typeof text !== 'string') {
    throw new Error(`the field ${name} of an event must be a string or an exact number`)
  }
  if (/[\r\n\0]/.test(text)) {
    throw new Error(`the field ${name} of an event must have one line, without U+0000`)
  }
  return `${name}: ${text}\n`
}

/** A schema of whole events may have numbers; a double rounds integers of more digits. */
function isExact (value: unknown): boolean {
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return true
  return Number.isFinite(value) && !Number.isInteger(value)
}

/** Milliseconds (section 9.2.6: only digits). */
function retryText (value: unknown): string {
  if (value === undefined) return ''
  const digits = typeof value === 'string' ? '' : String(value)
  if (/^\d{1,15}$/.test(digits)) return `retry: ${digits}\n`
  throw new Error('the field retry of an event must be a whole number of milliseconds')
}
