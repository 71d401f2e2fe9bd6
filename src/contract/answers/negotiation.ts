// Selects the media type of an answer by the field Accept of the request (RFC 9110, section 12.5.1).
import type { onRequestHookHandler } from 'fastify'
import Negotiator from 'negotiator'
import type { Operation } from '../types.ts'
import { HttpError } from '../../server/http-error.ts'
import { isInRange, isRange, sentType } from '../message/media-type.ts'

/**
 * A hook for an operation with several media types for success: it hands the key of the best one to the handler, as
 * `accept`. The first wins among equals. Other operations have no hook.
 */
export function negotiate (responses: Operation['responses']): onRequestHookHandler[] {
  const keys = successTypes(responses)
  if (keys.length < 2) return []
  return [(request, reply, done) => {
    const varied = reply.getHeader('Vary')
    reply.header('Vary', varied === undefined ? 'Accept' : `${varied}, Accept`)
    const accept = preferred(keys, request.headers.accept)
    if (accept === undefined) {
      return done(new HttpError(406, `This operation answers as ${keys.join(' or ')}, which Accept does not allow.`))
    }
    request.parameters = { ...request.parameters, accept }
    done()
  }]
}

function successTypes (responses: Operation['responses']): string[] {
  const successes = Object.entries(responses).filter(([key]) => key.startsWith('2'))
  return [...new Set(successes.flatMap(([, { content = {} }]) => Object.keys(content)))]
}

function preferred (keys: string[], accept: string | undefined): string | undefined {
  // A field without any range says as little as no field.
  const hasRange = accept !== undefined && /[^\s,]/.test(accept)
  const negotiator = new Negotiator({ headers: { accept: hasRange ? accept.trim() : '*/*' } })
  const accepted = keys.some(isRange) ? negotiator.mediaTypes() : []
  const candidates = keys.flatMap(key => {
    if (!isRange(key)) return [{ key, type: sentType(key) }]
    const type = accepted.find(type => isInRange(type, key))
    // A name for any other type of the range: negotiator would take a range for the best match of a range.
    const anyType = key.replaceAll('*', 'any')
    return [{ key, type: anyType }, ...type === undefined ? [] : [{ key, type }]]
  })
  const best = negotiator.mediaType(candidates.map(({ type }) => type))
  return candidates.find(({ type }) => type === best)?.key
}
