// src/contract/GUIDE.md shows the code of the examples as it is.
import { readFileSync } from 'node:fs'
import t from 'tap'

const guide = readFileSync('src/contract/GUIDE.md', 'utf8')
const blocks = Array.from(guide.matchAll(/^```([^\n]*)\n(.*?)^```$/gms), ([, head = '', text = '']) => ({ head, text }))

/** Whether a file has these lines, all with the same indentation. */
function hasLines (source: string, text: string): boolean {
  const [first = ''] = text.split('\n')
  const starts = source.split('\n').filter(line => line.trimStart() === first)
  return starts.some(line => {
    const indentation = line.slice(0, line.length - first.length)
    return source.includes(text.replace(/^(?=.)/gm, indentation))
  })
}

t.test('each block of code of the guide names its file of the examples, and is a part of it', async t => {
  t.ok(blocks.length > 20)
  for (const { head, text } of blocks) {
    const [, path = ''] = /^(?:ts|yaml) ([a-z]+\/[a-z-]+\.(?:ts|yaml))$/.exec(head) ?? []
    t.not(path, '', head)
    const source = readFileSync(`src/contract/examples/${path}`, 'utf8')
    t.ok(hasLines(source, text), `${path}: ${text.split('\n', 1)[0]}`)
  }
})
