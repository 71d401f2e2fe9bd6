import t from 'tap'
import { serveBodies } from '../../../fixtures/bodies.ts'

t.test('a text is a string, valid UTF-8 and valid by its schema', async t => {
  const { send } = await serveBodies(t)
  t.strictSame(await send('/text', 'text/plain', 'grün 🌵\n'), [200, { body: 'grün 🌵\n' }])
  t.strictSame(await send('/text', 'text/plain; charset=utf-8', '7'), [200, { body: '7' }])
  t.strictSame(await send('/text', 'text/plain', 'x'.repeat(41)), [
    400,
    'The body must have at most 40 characters.'
  ])
  t.strictSame(await send('/text', 'text/plain', Buffer.from('\xff', 'latin1')), [
    400,
    'The body is not valid UTF-8.'
  ])
  const wrong = 'The body must be sent as Content-Type: text/plain, in UTF-8'
  t.strictSame(await send('/text', 'text/html', 'x'), [415, `${wrong}.`])
  const rule = ': charset=utf-8 is the only parameter'
  for (const type of ['text/plain; charset=latin1', 'text/plain ;charset=utf8', 'text/plain;x=y']) {
    t.strictSame(await send('/text', type, 'x'), [415, `${wrong}${rule}.`], type)
  }
  t.strictSame(await send('/text', undefined, null), [
    400,
    'This operation needs a body, sent as text/plain, with a Content-Length or in chunks.'
  ])
})
