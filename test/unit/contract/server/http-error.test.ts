import t from 'tap'
import { HttpError } from '../../../../src/contract/index.ts'

t.test('an HttpError records no stack, which a flood would pay for; other errors do', async t => {
  t.equal(new HttpError(401, 'no').stack, 'Error: no')
  t.match(new Error('other').stack, /^Error: other\n {4}at /)
})

t.test('an HttpError has the status of an error', async t => {
  for (const status of [200, 399, 600, Number.NaN, undefined]) {
    const message = `The status of an HttpError is one from 400 to 599, not ${status}.`
    t.throws(() => new HttpError(status as 400, 'no'), new RangeError(message))
  }
})
