import t from 'tap'
import {
  isInRange, kindOf, mediaTypeFinder, sentType
} from '../../../../src/contract/message/media-type.ts'
import { serveBodies } from '../../../fixtures/bodies.ts'

t.test('the kind of a body follows from its media type', async t => {
  const kinds: Array<[string, string]> = [
    ['application/json', 'json'], ['Application/Problem+JSON ; x=1', 'json'],
    ['image/svg+json', 'json'], ['application/jsonl', 'bytes'], ['application/xml', 'bytes'],
    ['*/*', 'bytes'], ['image/*', 'bytes'], ['text/plain', 'text'],
    ['TEXT/csv;header=present', 'text'], ['text/*', 'text'], ['text/event-stream', 'events'],
    ['application/x-www-form-urlencoded', 'form'], ['multipart/form-data', 'multipart'],
    ['multipart/mixed', 'bytes']
  ]
  for (const [type, kind] of kinds) t.equal(kindOf(type), kind, type)
})

t.test('a media type is in a range, and a range is not', async t => {
  for (const range of ['image/*', '*/*', 'IMAGE/*']) t.ok(isInRange('image/png', range), range)
  for (const type of ['image/*', '*/*', 'imagex/png']) t.notOk(isInRange(type, 'image/*'), type)
})

t.test('Content-Type of JSON and text names UTF-8 and keeps other parameters', async t => {
  t.equal(
    sentType('text/csv; charset=latin1; header=present'), 'text/csv; header=present; charset=utf-8'
  )
  t.equal(
    sentType('application/ld+json;profile="x"'), 'application/ld+json;profile="x"; charset=utf-8'
  )
  t.equal(sentType('text/plain; x="a; charset=b"'), 'text/plain; x="a; charset=b"; charset=utf-8')
  t.equal(sentType('application/xml; charset=utf-16'), 'application/xml; charset=utf-16')
})

t.test('many spaces in a media type cost little', async t => {
  const { app } = await serveBodies(t)
  const spaces = ' '.repeat(15_900)
  const names = Array.from({ length: 50 }, (_, i) => `a/b${i}`)
  const find = mediaTypeFinder(names)
  for (const type of [
    `a/b${spaces}x`, `a/b0;${spaces}x`, `a/b0${spaces};`, `text/a${spaces}x;${spaces}`
  ]) {
    const began = performance.now()
    t.equal(find(type), undefined)
    for (const name of names) isInRange(type, name)
    sentType(type)
    const took = performance.now() - began
    t.ok(took < 50, `${took} ms`)
  }
  for (const field of ['content-type', 'accept']) {
    const headers = { 'content-type': 'image/png', [field]: `a/b${spaces}x, text/c${spaces}x` }
    const began = performance.now()
    await app.inject({ method: 'POST', url: '/any', headers, payload: 'x' })
    const took = performance.now() - began
    t.ok(took < 500, `${field}: ${took} ms`)
  }
})
