import t from 'tap'
import {
  isInRange, kindOf, mediaTypeFinder, sentType
} from '../../../../src/contract/message/media-type.ts'
import { serveBodies } from '../../../fixtures/bodies.ts'
import { measureGrowth } from '../../../fixtures/cost.ts'

t.test('the kind of a body follows from its media type', async t => {
  const kinds: Array<[string, string]> = [
    ['application/json', 'json'], ['Application/Problem+JSON ; x=1', 'json'],
    ['image/svg+json', 'json'], ['application/jsonl', 'lines'], ['application/X-NDJSON;charset=utf-8', 'lines'],
    ['application/json-seq', 'lines'], ['application/geo+json-seq', 'lines'], ['text/jsonl', 'text'], ['application/xml', 'bytes'],
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

t.test('parameters of a media type may be empty', async t => {
  const form = 'multipart/form-data; boundary=b'
  const find = mediaTypeFinder(['application/json', 'text/csv;header=present', 'image/*', form])
  for (const type of ['application/json', 'text/csv; header=present', 'image/png; a=b', form]) {
    const found = find(type)
    t.type(found, 'string', type)
    for (const sent of [`${type};`, `${type} ; ;\t`.trimEnd(), type.replace('; ', ';; ;') + ';;']) {
      t.equal(find(sent), found, sent)
    }
  }
  const json = ['; ; charset=utf-8', ';charset=utf-8;', ';;charset="UTF-8" ;; ']
  for (const after of json) t.ok(find(`application/json${after}`.trimEnd()), after)
  for (const after of [';;x', '; charset', ';charset=utf-8;;charset=utf-8', ';=', ' ']) {
    t.equal(find(`application/json${after}`), undefined, after)
  }
})

t.test('many spaces and semicolons in a media type cost linear time', async t => {
  const { app } = await serveBodies(t)
  const names = Array.from({ length: 50 }, (_, i) => `a/b${i}`)
  const find = mediaTypeFinder(names)
  for (const parts of [['a/b', 'x'], ['a/b0;', 'x'], ['a/b0', ';x'], ['text/a', 'x;', '']]) {
    const growth = await measureGrowth(size => {
      const type = parts.join(' '.repeat(size))
      if (find(`a/b0${'; '.repeat(size / 2)}x`) !== undefined) t.fail('empty parameters end in x')
      if (find(type) !== undefined) t.fail(`a media type is found: ${parts}`)
      for (const name of names) isInRange(type, name)
      sentType(type)
    }, 15_900)
    t.ok(growth < 8, `${parts}: four times as many spaces cost ${growth.toFixed(1)} times as much`)
  }
  for (const field of ['content-type', 'accept']) {
    const growth = await measureGrowth(size => {
      const spaces = ' '.repeat(size)
      const headers = { 'content-type': 'image/png', [field]: `a/b${spaces}x, text/c${spaces}x` }
      return app.inject({ method: 'POST', url: '/any', headers, payload: 'x' })
    }, 15_900)
    t.ok(growth < 8, `${field}: four times as many spaces cost ${growth.toFixed(1)} times as much`)
  }
})
