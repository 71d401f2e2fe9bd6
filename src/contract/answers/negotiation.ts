// Selects the media type of an answer by the request's field Accept (RFC 9110, section 12.5.1).
import type { onRequestHookHandler } from 'fastify'
import Negotiator from 'negotiator'
import { HttpError } from '../server/http-error.ts'
import { isInRange, isRange, sentType } from '../message/media-type.ts'
import type { Operation } from '../types/contract.ts'

/**
 * A hook for an operation with several media types for success: it passes the key of the best one
 * to the handler, as `accept`. The first wins among equals. Other operations have no hook.
 */
export function negotiate (responses: Operation['responses']): onRequestHookHandler[] {
  const keys = successTypes(responses)
  if (keys.length < 2) return []
  return [(request, reply, done) => {
    const varied = reply.getHeader('Vary')
    reply.header('Vary', varied === undefined ? 'Accept' : `${varied}, Accept`)
    const accept = preferredType(keys, request.headers.accept)
    if (accept === undefined) {
      const types = keys.join(' or ')
      const message = `This operation answers as ${types}, which Accept does not allow.`
      return done(new HttpError(406, message))
    }
    request.parameters = { ...request.parameters, accept }
    done()
  }]
}

function successTypes (responses: Operation['responses']): string[] {
  const types = new Set<string>()
  for (const [key, { content = {} }] of Object.entries(responses)) {
    if (!key.startsWith('2')) continue
    for (const type of Object.keys(content)) types.add(type)
  }
  return [...types]
}

function preferredType (keys: string[], accept: string | undefined): string | undefined {
  // A field without any range says as little as no field.
  const hasRange = accept !== undefined && /[^\s,]/.test(accept)
  const negotiator = new Negotiator({ headers: { accept: hasRange ? accept.trim() : '*/*' } })
  const accepted = keys.some(isRange) ? negotiator.mediaTypes() : []
  /** The first key of each type wins. */
  const keyOf = new Map<string, string>()
  const offer = (type: string, key: string) => keyOf.has(type) || keyOf.set(type, key)
  for (const key of keys) {
    // A name for any other type of the range: negotiator would match a range with a range.
    offer(isRange(key) ? key.replaceAll('*', 'any') : sentType(key), key)
    const type = isRange(key) ? accepted.find(type => isInRange(type, key)) : undefined
    if (type !== undefined) offer(type, key)
  }
  return keyOf.get(negotiator.mediaType([...keyOf.keys()]) ?? '')
}
