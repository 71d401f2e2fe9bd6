import t from 'tap'
import { AcceptedTokens } from '../../../src/auth/jwt-cache.ts'

const accepted = (name: string) => ({
  principal: { name }, scopes: new Set<string>(), expiresAt: 1
})

t.test('the token that was not used for the longest time makes room for a new one', async t => {
  const tokens = new AcceptedTokens(2)
  tokens.add('a', accepted('alice'))
  tokens.add('b', accepted('bob'))
  t.strictSame(tokens.find('a'), accepted('alice'))
  tokens.add('c', accepted('carol'))
  t.strictSame(['a', 'b', 'c', '__proto__'].map(token => tokens.find(token)?.principal.name), [
    'alice', undefined, 'carol', undefined
  ])
  tokens.add('a', accepted('alice again'))
  t.strictSame(
    ['a', 'c'].map(token => tokens.find(token)?.principal.name), ['alice again', 'carol']
  )
})
