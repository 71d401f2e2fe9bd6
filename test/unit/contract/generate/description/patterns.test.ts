import t from 'tap'
import { toUnicodePattern } from '../../../../../src/contract/generate/description/patterns.ts'

const changed: Array<[pattern: string, unicode: string, matching: string]> = [
  ['^[a-z_\\-\\:]+$', '^[a-z_\\-:]+$', 'a-:'],
  ['^<(.*)>; rel=\\"(a|b)\\"$', '^<(.*)>; rel="(a|b)"$', '<x>; rel="a"'],
  ['^a\\-b\\_$', '^a-b_$', 'a-b_'],
  ['^[\\w-.]+$', '^[\\w\\-.]+$', 'a-.'],
  ['^x]{y}$', '^x\\]\\{y\\}$', 'x]{y}'],
  ['^\\:[\\]\\d-]{2,3}$', '^:[\\]\\d-]{2,3}$', ':]1-'],
  ['^\\p{Lu}\\:\\u{41}$', '^\\p{Lu}:\\u{41}$', 'É:A'],
  ['(?i)^a\\/b$', '(?i:^a\\/b$)', 'A/b']
]

t.test('a pattern that only lacks the flag u gets an equal one', async t => {
  for (const [pattern, unicode, matching] of changed) {
    t.equal(toUnicodePattern(pattern), unicode)
    t.match(matching, new RegExp(unicode, 'u'))
  }
})

t.test('every other pattern stays as it is', async t => {
  for (const pattern of ['^\\p{Lu}$', 'a|b', '^x\\Z\\:', '(?P<a>b)', '(', '(?i)(']) {
    t.equal(toUnicodePattern(pattern), pattern)
  }
})
