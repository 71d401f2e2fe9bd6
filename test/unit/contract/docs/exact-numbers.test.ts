import t from 'tap'
import { pagePlugins } from '../../../../src/contract/docs/exact-numbers.ts'

const createElement = (type: unknown, props: object | null, ...children: unknown[]) => ({ type, props, children })
const system = { React: { createElement }, getComponent: (name: string) => name }

/** What the page shows for an answer: its own component, or a text. */
function show (content: unknown, contentType = 'application/json') {
  Object.assign(globalThis, { SwaggerUIBundle: { plugins: { DownloadUrl: 'DownloadUrl' } } })
  const [first, { wrapComponents }] = pagePlugins.map(plugin => plugin()) as [unknown, any]
  t.equal(first, 'DownloadUrl', 'the default that this list replaces')
  const { type, props, children } = wrapComponents.responseBody('own', system)({ content, contentType })
  if (type === 'own') return { own: props }
  t.equal(children[1].type, 'HighlightCode')
  return { text: children[1].children[0] }
}

t.test('an answer that the page would round is shown as it was sent', async t => {
  t.strictSame(show('{"id":9007199254740993,"n":[1.0,2]}'), {
    text: '{\n  "id": 9007199254740993,\n  "n": [\n    1.0,\n    2\n  ]\n}'
  })
  t.strictSame(show('[9007199254740993]', 'application/problem+json'), { text: '[\n  9007199254740993\n]' })
})

t.test('the page shows any other answer itself', async t => {
  for (const content of ['{"id":1,"name":"a"}', '{"id":', '']) {
    t.strictSame(show(content), { own: { content, contentType: 'application/json' } }, content)
  }
  const content = '9007199254740993'
  t.strictSame(show(content, 'text/plain'), { own: { content, contentType: 'text/plain' } })
})
