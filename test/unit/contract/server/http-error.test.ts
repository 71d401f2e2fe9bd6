import t from 'tap'
import { HttpError } from '../../../../src/contract/index.ts'

t.test('an HttpError records no stack, which a flood would pay for; other errors do', async t => {
  t.equal(new HttpError(401, 'no').stack, 'Error: no')
  t.match(new Error('other').stack, /^Error: other\n {4}at /)
})
