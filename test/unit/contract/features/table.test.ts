// src/contract/FEATURES.md and this folder agree: each row of its tables has a test of the same name
// here, and each test has a row.
import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { tableRows } from '../../../fixtures/contract.ts'

const folder = import.meta.dirname
const others = ['ignored', 'table', 'unsupported']

function titlesIn (file: string): string[] {
  const text = readFileSync(`${folder}/${file}`, 'utf8')
  return Array.from(text.matchAll(/^t\.test\('(.+)', async t => \{$/gm), ([, title]) => String(title))
}

function rowsOf (heading: string): string[] {
  return tableRows('src/contract/FEATURES.md', heading).map(([feature]) => String(feature)).sort()
}

t.test('each supported feature has a test, and each test a feature', async t => {
  const titles: string[] = []
  for (const file of globSync('*.test.ts', { cwd: folder })) {
    if (!others.includes(file.replace('.test.ts', ''))) titles.push(...titlesIn(file))
  }
  t.strictSame(titles.sort(), rowsOf('Supported'))
})

t.test('each ignored feature has a test, and each test a feature', async t => {
  t.strictSame(titlesIn('ignored.test.ts').sort(), rowsOf('Ignored'))
})
