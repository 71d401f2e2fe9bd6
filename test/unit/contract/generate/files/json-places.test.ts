// Places in JSON texts are those that the linter's finder has.
import { getLineColLocation, Source } from '@redocly/openapi-core'
import t from 'tap'
import { pointerOf, visitValues } from '../../../../../src/contract/generate/description/description.ts'
import { placeInJson } from '../../../../../src/contract/generate/files/json-places.ts'

const value = {
  text: 'a "quoted" {brace}, [bracket]: \\',
  'with/slash and ~': [[], {}, [1, -2.5e+3, { 'deep "name"': null }], true, false],
  empty: '',
  'ü 😀': { '': 0, constructor: { a: [{ b: 'c' }] } }
}
const texts = [
  JSON.stringify(value, null, 2),
  JSON.stringify(value),
  JSON.stringify(value, null, '\t').replaceAll('\n', '\n\n').replaceAll(':', ' :')
]

t.test('every value and its name are where the linter finds them', async t => {
  for (const text of texts) {
    const source = new Source('a.json', text)
    visitValues(JSON.parse(text), (_value, path) => {
      if (path.includes('')) return
      for (const pointer of [pointerOf(path), `${pointerOf(path)}/missing`]) {
        for (const reportOnKey of [false, true]) {
          const expected = getLineColLocation({ source, pointer, reportOnKey }).start
          t.strictSame(placeInJson(source, pointer, reportOnKey), expected, pointer)
        }
      }
    })
  }
})

t.test('the first of members with the same name is found', async t => {
  const source = new Source('a.json', '{\n  "a": 1,\n  "a": 2\n}')
  t.strictSame(placeInJson(source, '#/a', false), { line: 2, col: 8 })
})

t.test('a text that is not JSON has no places', async t => {
  for (const text of ['a: 1', '{ a: 1 }', "{ 'a': 1 }", '{ "a": # 1\n 1 }', '{ "a": 1']) {
    const find = () => placeInJson(new Source('a.yaml', text), '#/a', false)
    t.throws(find, text)
  }
})
